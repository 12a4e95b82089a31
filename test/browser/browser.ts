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
  /** The same browser as another page: its session, its storage. */
  readonly context?: BrowserContext
  /** The test catches requests of the page once it is there: Chromium lets the first pass if it learns of that late. */
  readonly isCaught?: boolean
}

export type Link = { readonly link: string; readonly expires_at: string }

// One for each set of arguments in a worker: it serves all files there, and Playwright ends it with the process.
const browsers = new Map<string, Promise<Browser>>()

/**
 * A real Chromium for the tests of one file, and the real system with the console as it is now. What a test
 * opened is closed after it, and any error that a page told of and the test did not expect fails it.
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

  // Without a Chromium every browser test is listed as not run (SV1).
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
  /** What the pages looked like when a test failed, where the end of the run leaves them. */
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

  /** A page that was opened by a one-time link, as `cowork open` does, and is live. */
  async function visit(app: TestApp, path = '/audit', { context, isCaught }: Visit = {}) {
    const page = await (context ?? (await newContext())).newPage()
    if (isCaught) await page.route(nothing, () => {})
    await page.goto(path.includes('#') ? path : linkTo(await linkOf(app), path))
    await isLive(page)
    return page
  }

  return {
    start,
    newContext,
    visit,
    /** The same system again: state and port stay. */
    async restart(app: TestApp, between: () => unknown = () => {}): Promise<TestApp> {
      await app.close()
      apps.delete(app)
      await between()
      return start({ 'server.port': app.port }, { state: app.state })
    },
    /** Errors that this test provokes. */
    allowFault: (...patterns: RegExp[]) => void allowed.push(...patterns),
  }
}

export async function linkOf(app: TestApp): Promise<string> {
  return (await output<Link>(app, 'cowork_open_link')).link
}

export const linkTo = (link: string, path: string): string =>
  Object.assign(new URL(path, link), { hash: new URL(link).hash }).href

/** Calls a tool as the owner and gives what it answered. */
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

export async function ledgerOf(
  app: TestApp,
  query = '',
): Promise<{ size: number; entries: Row[] }> {
  const reply = await fetch(`${app.url}/api/ledger?limit=1000${query}`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  return (await reply.json()) as { size: number; entries: Row[] }
}

export async function metricsOf(app: TestApp): Promise<Map<string, number>> {
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

/** Numbers of the entries that are in the list, from the top. */
export const seqsOf = (page: Page): Promise<number[]> =>
  rowsOf(page).evaluateAll((rows) =>
    rows.map((row) => Number(/\d+(?=\?|$)/.exec(row.getAttribute('href') ?? '')?.[0])),
  )

/** The row that says this. */
export const rowOf = (page: Page, text: string | RegExp): Locator =>
  rowsOf(page).filter({ hasText: text })

/** A key on this device that answers every question at once, as a finger would. */
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
