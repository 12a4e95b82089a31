import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { isLive, useBrowser } from './browser.ts'

const { start, restart, visit, newContext, allowError } = useBrowser()

const tabs = (page: Page) => page.getByRole('navigation', { name: 'Files' })
const loaded = (page: Page) =>
  page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))`,
  )
const hasAll = async (page: Page) => {
  const scripts = (await loaded(page)).join(' ')
  return ['TrashPage', 'SizePage', 'AuditPage', 'SettingsPage', 'Palette'].every((name) =>
    scripts.includes(name),
  )
}

test('C13 a screen that was not loaded yet says so in its place while the daemon is away, and comes with it', async () => {
  allowError(/ERR_/, /Cannot load this screen/)
  const app = await start()
  const page = await visit(app, '/files')
  await page.getByRole('list', { name: 'Files and folders' }).waitFor()
  await restart(app, async () => {
    await tabs(page).getByRole('link', { name: 'Size' }).click()
    const trouble = page.getByRole('alert')
    await trouble.getByText('Cannot load this screen.').waitFor()
    await trouble.getByText('cowork up -d').waitFor()
    expect(new URL(page.url()).pathname).toBe('/files/size')
    // The rest of the screen stays.
    await tabs(page).getByRole('link', { name: 'Trash' }).waitFor()
    await trouble.getByRole('button', { name: 'Try again' }).click()
    await trouble.getByText('Cannot load this screen.').waitFor()
    await page.keyboard.press('Control+k')
    const search = page.getByRole('dialog', { name: 'Search or jump to' })
    await search.getByText('Cannot load this screen.').waitFor()
    await page.keyboard.press('Escape')
    await search.waitFor({ state: 'detached' })
    await trouble.waitFor()
  })
  await page.getByRole('heading', { name: 'Disk usage' }).waitFor()
})

test('C13 “Try again” loads a screen whose code failed to load', async () => {
  allowError(/ERR_/, /Cannot load this screen/)
  const app = await start()
  const context = await newContext()
  await context.route('**/TrashPage*', (route) => route.abort())
  const page = await visit(app, '/files', { context })
  await tabs(page).getByRole('link', { name: 'Trash' }).click()
  const trouble = page.getByRole('alert')
  await trouble.getByText('Cannot load this screen.').waitFor()
  await context.unroute('**/TrashPage*')
  // Chromium 150 keeps the failure of an import, so the page reloads at its address.
  await trouble.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Trash is empty').waitFor()
})

test('C13 N16 once the page rests all screens are loaded, but for who saves data', async () => {
  allowError(/ERR_/)
  const app = await start()
  const saving = await newContext()
  await saving.addInitScript({
    content: `Object.defineProperty(navigator, 'connection', { value: { saveData: true } })`,
  })
  const frugal = await visit(app, '/files', { context: saving })
  const page = await visit(app, '/files')
  await expect.poll(() => hasAll(page), { timeout: 30_000 }).toBe(true)
  expect((await loaded(frugal)).filter((name) => name.includes('SettingsPage'))).toEqual([])
  await restart(app, async () => {
    for (const [tab, says] of [
      ['Size', 'Disk usage'],
      ['Workspace', 'Documents'],
    ] as const) {
      await tabs(page).getByRole('link', { name: tab }).click()
      await page.getByText(says, { exact: true }).first().waitFor()
    }
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('navigation', { name: 'Settings' }).waitFor()
  })
  await isLive(page)
})
