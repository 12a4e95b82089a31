import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { readLedger, output, findEntryRow, useBrowser } from './browser.ts'

const { start, visit } = useBrowser()

const focused = (page: Page) =>
  page.evaluate<string>(
    'document.activeElement.getAttribute("href") ?? document.activeElement.tagName',
  )

test('C11 the list is navigated, opened and closed by keyboard', async () => {
  const app = await start()
  for (const action of ['one', 'two', 'three'])
    await output(app, 'cowork_log', { domain: 'docs', action, target: 'README.md' })
  const [one, two, three] = (await readLedger(app, '&type=action.logged')).entries.map(
    ({ seq }) => `/audit/${seq}`,
  )
  const page = await visit(app, '/audit?type=action.logged')
  await findEntryRow(page, 'Executed one').waitFor()
  const at = async (path: string | undefined) => {
    await expect.poll(() => focused(page)).toBe(`${path}?type=action.logged`)
  }

  await page.keyboard.press('j')
  await at(three)
  await page.keyboard.press('j')
  await at(two)
  await page.keyboard.press('j')
  await at(one)
  await page.keyboard.press('j')
  await at(one)
  await page.keyboard.press('k')
  await at(two)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Executed two' }).waitFor()
  // The open entry follows, and the focus stays in the list.
  await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'Executed three' }).waitFor()
  await at(three)
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: /^Entry \d/ }).waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/audit')
})

test('C1 C11 shortcuts open search, help, screens, filters and verification', async () => {
  const app = await start()
  const page = await visit(app)
  await findEntryRow(page, 'Signed in').waitFor()
  const find = page.getByRole('searchbox', { name: 'Find in entries' })

  await page.keyboard.press('/')
  await page.keyboard.type('j?gs')
  await expect.poll(() => find.inputValue()).toBe('j?gs')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Go to Settings').waitFor()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })

  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForURL('**/settings/people')
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.waitForURL('**/audit')
  await page.keyboard.press('f')
  await page.getByLabel('Subject starts with').waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Subject starts with').waitFor({ state: 'detached' })
  await page.keyboard.press('v')
  await page.getByText('verified.').waitFor()
})

test('C1 the palette finds screens, entries and actions and restores the focus', async () => {
  const app = await start()
  const page = await visit(app, '/settings/people')
  const box = page.getByRole('combobox', { name: 'Search or jump to' })
  const pick = async (text: string, option: string | RegExp) => {
    await page.keyboard.press('Control+k')
    await box.fill(text)
    await page.getByRole('option', { name: option }).first().waitFor()
    await page.keyboard.press('Enter')
    await box.waitFor({ state: 'detached' })
  }
  await pick('1', 'Entry 1')
  await page.waitForURL('**/audit/1')
  await pick('passk', 'Passkeys')
  await page.waitForURL('**/settings/passkeys')
  await pick('verify', 'Verify ledger')
  await page.getByText('verified.').waitFor()
  expect(page.url()).toBe(`${app.url}/audit`)
  await pick('dark', 'Dark theme')
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  await page.keyboard.press('Control+k')
  await box.fill('halt')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Halt all agents?' }).waitFor()
  await page.keyboard.press('Escape')

  const verify = page.getByRole('button', { name: 'Verify ledger' })
  await verify.focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Escape')
  await expect
    .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
    .toBe('Verify ledger')
})

test('C11 single-key shortcuts can be turned off', async () => {
  const app = await start()
  const page = await visit(app, '/settings/shortcuts')
  await page.getByRole('radio', { name: 'Off' }).check({ force: true })
  await page.keyboard.press('?')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor()
  expect(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count()).toBe(0)
})
