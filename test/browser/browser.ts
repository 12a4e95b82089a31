import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterEach, beforeEach, expect, inject } from 'vitest'
import { chromiumFlags } from '../../scripts/chromium.ts'
import { startTestApp } from '../app.ts'
import type { TestApp } from '../app.ts'

const executablePath = inject('chromium')

const pictures = join(import.meta.dirname, '../../coverage/failed')

const tellViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP: ' + event.violatedDirective + ' refused ' + event.blockedURI))`

const nothing = () => false

type Start = Parameters<typeof startTestApp>
type Visit = {
  /** Shares the session and storage of another page. */
  readonly context?: BrowserContext
  /** The test intercepts requests later: Chromium misses the first request if interception starts late. */
  readonly isCaught?: boolean
}

export type Link = { readonly link: string; readonly expires_at: string }

// One browser per set of arguments and worker; Playwright closes it with the process.
const browsers = new Map<string, Promise<Browser>>()

/**
 * Provides a real Chromium and a real system with the current console. Everything that a test opens is closed after it,
 * and unexpected page errors fail it.
 */
export function useBrowser(args: readonly string[] = []) {
  const apps = new Set<TestApp>()
  const contexts = new Set<BrowserContext>()
  const states = new Set<string>()
  let faults: string[] = []
  let allowed: RegExp[] = []

  function browser(): Promise<Browser> {
    const launched =
      browsers.get(args.join()) ??
      chromium.launch({ executablePath, chromiumSandbox: false, args: [...chromiumFlags, ...args] })
    browsers.set(args.join(), launched)
    return launched
  }

  // Without Chromium every browser test is reported as skipped (SV1).
  beforeEach(({ skip }) => skip(executablePath === ''))
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await keepPictures(task.name)
    for (const context of contexts) await context.close()
    for (const app of apps) await app.close()
    for (const state of states) rmSync(state, { recursive: true, force: true })
    const stray = faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault)))
    contexts.clear()
    apps.clear()
    states.clear()
    faults = []
    allowed = []
    expect(stray, 'errors that the pages told of').toEqual([])
  })
  /** Saves screenshots of the pages of a failed test. */
  async function keepPictures(name: string) {
    const folder = join(pictures, name.replaceAll(/[^\w]+/g, '-').slice(0, 80))
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const pages = [...contexts].flatMap((context) => context.pages())
    for (const [at, page] of pages.entries())
      await page.screenshot({ path: join(folder, `${at}.png`) }).catch(() => undefined)
    console.log(`Pictures of “${name}”: ${folder}`)
  }

  async function start(settings?: Start[0], options?: Start[1]): Promise<TestApp> {
    const app = await startTestApp(settings, { webFolder: inject('webFolder'), ...options })
    apps.add(app)
    states.add(app.state)
    return app
  }

  async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const chrome = await browser()
    const viewport = { width: 1280, height: 800 }
    const context = await chrome.newContext({ locale: 'en-GB', viewport, ...options })
    contexts.add(context)
    context.setDefaultTimeout(10_000)
    context.on('console', (message) => {
      if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`)
    })
    context.on('weberror', (error) => faults.push(String(error.error())))
    await context.addInitScript({ content: tellViolations })
    return context
  }

  /** Opens a live page with a sign-in link, as `cowork open` does. */
  async function visit(app: TestApp, path = '/audit', { context, isCaught }: Visit = {}) {
    const page = await (context ?? (await newContext())).newPage()
    if (isCaught) await page.route(nothing, () => {})
    await page.goto(path.includes('#') ? path : linkTo(await createSignInLink(app), path))
    await isLive(page)
    return page
  }

  return {
    start,
    newContext,
    visit,
    /** Restarts the system with the same state and port. */
    async restart(app: TestApp, between: () => unknown = () => {}): Promise<TestApp> {
      await app.close()
      apps.delete(app)
      await between()
      return start({ 'server.port': app.port }, { state: app.state })
    },
    /** Allows errors that the test provokes. */
    allowError: (...patterns: RegExp[]) => void allowed.push(...patterns),
  }
}

export async function createSignInLink(app: TestApp): Promise<string> {
  return (await output<Link>(app, 'cowork_open_link')).link
}

export const linkTo = (link: string, path: string): string =>
  Object.assign(new URL(path, link), { hash: new URL(link).hash }).href

/** Calls a tool as the owner and returns its output. */
export async function output<T>(
  app: TestApp,
  tool: string,
  args: Record<string, unknown> = {},
): Promise<T> {
  const reply = await app.call(tool, args)
  const body = (await reply.json()) as { output: T }
  expect(reply.status, JSON.stringify(body)).toBe(200)
  return body.output
}

export type Row = {
  readonly seq: number
  readonly at: number
  readonly type: string
  readonly subject?: string
  readonly data?: Readonly<Record<string, unknown>>
}

export async function readLedger(
  app: TestApp,
  query = '',
): Promise<{ size: number; entries: Row[] }> {
  const reply = await fetch(`${app.url}/api/ledger?limit=1000${query}`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  return (await reply.json()) as { size: number; entries: Row[] }
}

export async function readMetrics(app: TestApp): Promise<Map<string, number>> {
  const reply = await fetch(`${app.url}/metrics`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  const found = (await reply.text()).matchAll(/^(\w.*) (\S+)$/gm)
  return new Map([...found].map(([, name = '', value]) => [name, Number(value)]))
}

export const isLive = (page: Page): Promise<void> =>
  page.getByText('Live', { exact: true }).waitFor()

const rowsOf = (page: Page): Locator =>
  page.getByRole('list', { name: 'Entries, newest first' }).getByRole('link')

/** Returns the numbers of the listed entries, from the top. */
export const listSeqs = (page: Page): Promise<number[]> =>
  rowsOf(page).evaluateAll((rows) =>
    rows.map((row) => Number(/\d+(?=\?|$)/.exec(row.getAttribute('href') ?? '')?.[0])),
  )

/** Returns the entry row with this text. */
export const findEntryRow = (page: Page, text: string | RegExp): Locator =>
  rowsOf(page).filter({ hasText: text })

/** Adds a virtual authenticator that confirms every challenge. */
export async function addAuthenticator(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
