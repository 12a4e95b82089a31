import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { findAxeIssues } from './axe.ts'
import { isLive, readLedger, output, findEntryRow, useBrowser } from './browser.ts'
import { playScene, sceneClock } from './scene.ts'

const { start, newContext, visit } = useBrowser()

async function startScene(): Promise<TestApp> {
  const clock = sceneClock()
  const app = await start({}, { now: clock.now })
  await playScene(app, clock)
  return app
}

type Places = Record<string, (page: Page, app: TestApp) => Promise<unknown>>

/** Opens each screen and waits for its content. */
const screens: Places = {
  audit: (page) => findEntryRow(page, 'Executed publish').waitFor(),
  'an entry': async (page, app) => {
    const [entry] = (await readLedger(app, '&proposal=offer-20817')).entries
    await page.goto(`${app.url}/audit/${entry?.seq}`)
    await page.getByText('Verified in this browser.').waitFor()
  },
  'a verified ledger': async (page, app) => {
    await page.goto(`${app.url}/audit?outcome=refused`)
    await page.getByRole('button', { name: 'Verify ledger' }).click()
    await page.getByText('verified.').waitFor()
  },
  people: (page, app) => section(page, app, 'people', 'Jonas Weber'),
  sessions: (page, app) => section(page, app, 'sessions', 'This device'),
  passkeys: (page, app) => section(page, app, 'passkeys', 'No passkeys'),
  agents: (page, app) => section(page, app, 'agents', 'sales-agent'),
  notifications: (page, app) => section(page, app, 'notifications', 'Desktop notifications'),
  appearance: (page, app) => section(page, app, 'appearance', 'Density'),
  shortcuts: (page, app) => section(page, app, 'shortcuts', 'Go to newest'),
}

/** Dialogs, banners and error pages. */
const layers: Places = {
  'a new agent': async (page, app) => {
    await section(page, app, 'agents', 'sales-agent')
    await page.getByRole('button', { name: 'Add agent' }).click()
    await page.getByLabel('Id', { exact: true }).fill('gemini')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText(/^sk-cowork-/).waitFor()
  },
  'the palette': async (page, app) => {
    await page.goto(`${app.url}/audit`)
    await isLive(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'sales-agent trust' }).waitFor()
  },
  'the halt dialog and a halt': async (page, app) => {
    await output(app, 'cowork_halt', { scope: 'domain:crm.deals', reason: 'Quarter end' })
    await page.goto(`${app.url}/audit`)
    await page.getByText('Domain crm.deals halted').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Halt all agents' }).click()
    await page.getByLabel('Reason').waitFor()
  },
  'no such page': async (page, app) => {
    await page.goto(`${app.url}/welcome/nowhere`)
    await page.getByText('Page not found').waitFor()
  },
  'no session': async (page, app) => {
    await page.evaluate('localStorage.clear()')
    await page.goto(`${app.url}/audit`)
    await page.getByText('cowork open', { exact: true }).waitFor()
  },
}

async function section(page: Page, app: TestApp, name: string, there: string) {
  await page.goto(`${app.url}/settings/${name}`)
  await page.getByText(there, { exact: true }).first().waitFor()
}

test('C11 every screen passes axe in light and dark and fits a phone', async () => {
  const app = await startScene()
  const page = await visit(app)
  const faults: string[] = []
  for (const [name, go] of Object.entries({ ...screens, ...layers })) {
    await page.setViewportSize({ width: 1600, height: 800 })
    await go(page, app)
    faults.push(
      ...(await findAxeIssues(page, name, name in screens ? [1600, 1024, 375] : [1600, 375])),
    )
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${name} is ${width} px wide on a phone`)
  }
  expect(faults).toEqual([])
  // Thirty states in two themes and three widths.
}, 240_000)

test('C11 on a phone reading, going back, navigation and halt work', async () => {
  const app = await startScene()
  const context = await newContext({ viewport: { width: 375, height: 700 }, hasTouch: true })
  const page = await visit(app, '/audit', { context })
  await findEntryRow(page, 'Executed open_pull_request').tap()
  await page.getByText('Verified in this browser.').waitFor()
  expect(await page.getByRole('list', { name: 'Entries, newest first' }).isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Back to the list' }).tap()
  await findEntryRow(page, 'Executed open_pull_request').waitFor()
  await page.getByRole('link', { name: 'Settings' }).tap()
  const sections = page.getByRole('navigation', { name: 'Settings' })
  await sections.getByRole('link', { name: 'Agents' }).tap()
  await page.getByRole('link', { name: 'sales-agent' }).waitFor()
  await page.getByRole('button', { name: 'Halt all agents' }).tap()
  await page.getByRole('dialog').getByRole('button', { name: 'Halt all agents' }).tap()
  await page.getByRole('region', { name: 'Halted' }).waitFor()
  await page.getByRole('button', { name: 'Search or jump to' }).tap()
  await page.getByRole('option', { name: 'Resume all agents' }).tap()
  await page.getByRole('region', { name: 'Halted' }).waitFor({ state: 'detached' })
})

test.each(['/audit', '/inbox', '/agents', '/policies', '/files', '/work', '/welcome'])(
  'C12 N16 the first load of %s has at most 200 kB of script',
  async (path) => {
    const app = await startScene()
    const context = await newContext()
    const scripts = new Map<string, Promise<number>>()
    context.on('requestfinished', (request) => {
      if (request.url().endsWith('.js'))
        scripts.set(
          request.url(),
          request.sizes().then(({ responseBodySize }) => responseBodySize),
        )
    })
    const page = await visit(app, path, { context })
    await page
      .getByText(
        /^(publish|Inbox is empty|claude-code|No policies|Spreadsheets|No projects|Step 1 of 5)$/,
      )
      .first()
      .waitFor()
    const sizes = await Promise.all(scripts.values())
    const sum = sizes.reduce((total, size) => total + size, 0)
    expect(sum).toBeLessThanOrEqual(200_000)
    expect(sum, 'that the sizes are real').toBeGreaterThan(50_000)
    expect([...scripts.keys()].filter((url) => /Palette|Settings/.test(url))).toEqual([])

    // Hashed files are cached on a second visit.
    const again = await context.newPage()
    await again.goto(app.url + path)
    await isLive(again)
    const cached = await again.evaluate<number>(
      `performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { transferSize }) => sum + transferSize, 0)`,
    )
    expect(cached).toBe(0)
  },
)
