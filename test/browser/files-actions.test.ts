import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { asking } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { output, useBrowser } from './browser.ts'
import { useHomes } from './home.ts'

const { start, visit } = useBrowser()
const newHome = useHomes()

const listed = (page: Page) => page.getByRole('list', { name: 'Files and folders' })
const file = (page: Page) => page.getByRole('region', { name: 'File' })
const focused = (page: Page) =>
  page.evaluate<string | null>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName`,
  )

test('C11 C14 the trash is worked off by keyboard: the focus goes on to what comes next', async () => {
  const app = await start()
  for (const name of ['a', 'b', 'c', 'd']) {
    await output(app, 'create_file', { path: `temp/${name}.md`, content: name })
    await output(app, 'delete_file', { path: `temp/${name}.md` })
  }
  const page = await visit(app, '/files/trash')
  await page.getByRole('button', { name: 'Restore c.md' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Restore b.md')
  await page.getByRole('button', { name: 'More actions for a.md' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Delete permanently' }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).press('Enter')
  await expect.poll(() => focused(page)).toBe('Restore b.md')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Restore d.md')
  await page.keyboard.press('Enter')
  await page.getByText('Trash is empty').waitFor()
  await expect.poll(() => focused(page)).toBe('Trash')
})

test('C11 a dialog that was opened from a menu gives the focus back to the button of the menu', async () => {
  const app = await start()
  await output(app, 'create_file', { path: 'temp/a.md', content: 'a' })
  await output(app, 'delete_file', { path: 'temp/a.md' })
  const page = await visit(app, '/files/trash')
  for (const item of ['Delete permanently', 'Restore as…'])
    for (const key of ['Escape', 'Enter']) {
      await page.getByRole('button', { name: 'More actions for a.md' }).press('Enter')
      await page.getByRole('menuitem', { name: item }).press('Enter')
      const cancel = page.getByRole('dialog').getByRole('button', { name: 'Cancel' })
      await cancel.press(key)
      await cancel.waitFor({ state: 'detached' })
      await expect.poll(() => focused(page), { message: item }).toBe('More actions for a.md')
    }
})

test('C11 a revoked grant leaves the focus with the next one', async () => {
  const home = newHome({ 'One/a.txt': 'a', 'Two/b.txt': 'b' })
  const app = await home.during(() => start())
  for (const name of ['One', 'Two'])
    await output(app, 'add_grant', { path: home.at(name), permission: 'read' })
  const page = await visit(app, '/files/grants')
  const path = page.getByRole('link', { name: home.at('One') })
  expect((await path.boundingBox())?.height).toBeGreaterThanOrEqual(24)
  await page.getByRole('button', { name: `Revoke ${home.at('One')}` }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
  await page.getByText('Revoked the grant.').waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(home.at('Two'))
})

test('TR1 C14 what was moved to the trash can be taken back at once, and the focus stays in the list', async () => {
  const app = await start()
  for (const name of ['a', 'b'])
    await output(app, 'create_file', { path: `temp/${name}.md`, content: name })
  const page = await visit(app, '/files?path=temp&open=temp/a.md')
  await page.getByRole('button', { name: 'Move to trash' }).click()
  await listed(page).getByText('a.md').waitFor({ state: 'detached' })
  const row = () => page.evaluate('document.activeElement.getAttribute("data-row")')
  await expect.poll(row).toBe('temp/b.md')
  expect(existsSync(join(app.workspace, 'temp/a.md'))).toBe(false)
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).press('Enter')
  await listed(page).getByText('a.md').waitFor()
  await expect.poll(row).toBe('temp/b.md')
  expect(readFileSync(join(app.workspace, 'temp/a.md'), 'utf8')).toBe('a')
})

test('C11 C13 the focus stays in place, and nothing is amiss, where the stream tells of it before the answer', async () => {
  const app = await start()
  for (const name of ['a', 'b', 'c'])
    await output(app, 'create_file', { path: `temp/${name}.md`, content: name })
  const page = await visit(app, '/files?path=temp&open=temp/b.md', { isCaught: true })
  await page.route('**/delete_file/call', async (route) => {
    const response = await route.fetch()
    await listed(page).getByText('b.md').waitFor({ state: 'detached' })
    await page.waitForTimeout(300)
    await route.fulfill({ response })
  })
  await file(page).getByRole('button', { name: 'Move to trash' }).click()
  await page.getByText('b.md to the trash.').waitFor()
  const row = () => page.evaluate('document.activeElement.getAttribute("data-row")')
  await expect.poll(row).toBe('temp/c.md')
})

test('TR3 C5 the versions of a file are listed, compared and restored, after a question', async () => {
  const app = await start()
  const agent = await asking(app, 'codex')
  const path = 'Documents/notes/plan.md'
  await agent.call('create_file', { path, content: 'one\ntwo\n' })
  const page = await visit(app, `/files?open=${path}`)
  await file(page).getByRole('button', { name: 'Versions' }).click()
  await file(page).getByText('No versions').waitFor()
  await agent.call('update_file', { path, content: 'one\nthree\n' })
  const versions = file(page).getByRole('list', { name: 'Versions, newest first' })
  await versions.getByText('8 B, replaced by codex').waitFor()
  await versions.getByRole('button', { name: /^Compare/ }).click()
  const diff = versions.getByRole('group', { name: 'Changes since' })
  await diff.getByText('three').waitFor()
  await diff.getByText('two').waitFor()
  expect(await findAxeIssues(page, 'versions', [1280, 375])).toEqual([])
  await page.setViewportSize({ width: 1280, height: 800 })
  await versions.getByRole('button', { name: /^Restore/ }).click()
  const stored = join(app.workspace, path)
  expect(readFileSync(stored, 'utf8')).toBe('one\nthree\n')
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Restored plan.md.').waitFor()
  expect(readFileSync(stored, 'utf8')).toBe('one\ntwo\n')
  await expect.poll(() => versions.getByRole('listitem').count()).toBe(2)
  expect(await namesOf(versions.getByRole('button', { name: /^Compare/ }))).toHaveLength(2)
})

test('TR3 C11 versions of the same minute, and of the same second, are told apart by what one reads', async () => {
  const app = await start()
  const path = 'Documents/notes/plan.md'
  await output(app, 'create_file', { path, content: 'one' })
  for (const content of ['two', 'three', 'four'])
    await output(app, 'update_file', { path, content })
  const page = await visit(app, `/files?open=${path}`)
  await file(page).getByRole('button', { name: 'Versions' }).click()
  const versions = file(page).getByRole('list', { name: 'Versions, newest first' })
  await expect.poll(() => versions.getByRole('time').count()).toBe(3)
  expect(new Set(await versions.getByRole('time').allTextContents()).size).toBe(3)
})

test('C11 the focus returns when a toast closes automatically', async () => {
  const app = await start()
  for (const name of ['a', 'b'])
    await output(app, 'create_file', { path: `temp/${name}.md`, content: name })
  const page = await visit(app, '/files?path=temp&open=temp/a.md')
  await page.getByRole('button', { name: 'Move to trash' }).click()
  const toast = page.getByRole('status').getByText('a.md to the trash.')
  await toast.waitFor()
  await page.getByRole('status').getByRole('button', { name: 'Dismiss' }).focus()
  await toast.waitFor({ state: 'detached', timeout: 20_000 })
  const row = () => page.evaluate('document.activeElement.getAttribute("data-row")')
  await expect.poll(row).toBe('temp/b.md')
})

test('C5 what has no preview can be downloaded, byte for byte', async () => {
  const app = await start()
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256))
  writeFileSync(join(app.workspace, 'temp/data.bin'), bytes)
  const page = await visit(app, '/files?path=temp&open=temp/data.bin')
  const button = file(page).getByRole('button', { name: 'Download' })
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
  expect(download.suggestedFilename()).toBe('data.bin')
  expect(readFileSync(await download.path())).toEqual(bytes)
})

test('C11 the way to a deep folder takes one line on a phone, and its middle is in a menu', async () => {
  const app = await start()
  const path = `Documents/${'a-rather-long-name/'.repeat(6)}end`
  mkdirSync(join(app.workspace, path), { recursive: true })
  const page = await visit(app, `/files?path=${path}`)
  await page.setViewportSize({ width: 375, height: 700 })
  for (const screen of ['/files', '/files/size']) {
    await page.goto(`${app.url}${screen}?path=${path}`)
    const crumbs = page.getByRole('navigation', { name: 'Folders' })
    await crumbs.getByRole('link', { name: 'end' }).waitFor()
    expect(await heightOf(crumbs)).toBeLessThanOrEqual(44)
    expect(await crumbs.getByRole('link').count()).toBe(3)
    const hidden = crumbs.getByRole('button', { name: '6 more folders' })
    await hidden.click()
    await page.getByRole('menuitem', { name: 'Documents' }).click()
    await page.waitForURL(`**${screen}?path=Documents`)
  }
})

test('C5 a link is shown as one, not as an empty file', async () => {
  const app = await start()
  writeFileSync(join(app.workspace, 'temp/real.md'), 'real')
  symlinkSync('real.md', join(app.workspace, 'temp/short'))
  const page = await visit(app, '/files?path=temp')
  const row = listed(page).getByRole('link', { name: /^short/ })
  await row.getByText('link', { exact: true }).waitFor()
  expect(await row.textContent()).not.toContain('0 B')
})

test('C13 GR10 a grant cannot end before it begins, and that is said in words', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan' })
  const app = await home.during(() => start())
  const page = await visit(app, '/files/grants')
  await page.getByRole('button', { name: 'Grant access' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Work' }).click()
  await dialog.getByRole('button', { name: 'Choose this folder' }).click()
  await dialog.getByLabel('Until').fill('2020-01-01T10:00')
  await dialog.getByText('Choose a time in the future.').waitFor()
  const grant = dialog.getByRole('button', { name: 'Grant access' })
  expect(await grant.isDisabled()).toBe(true)
  await dialog.getByLabel('Until').fill('2099-01-31T18:00')
  await grant.click()
  await page
    .getByRole('list', { name: 'Grants' })
    .getByText(/^expires in/)
    .waitFor()
})

test('C14 the content of every tab of Files begins at the same place', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan' })
  const app = await home.during(() => start())
  await output(app, 'add_grant', { path: home.at('Work'), permission: 'read' })
  const page = await visit(app, '/files')
  const icon = listed(page).getByRole('link').first().locator('svg')
  const left = (await boxOf(icon)).x
  await page.goto(`${app.url}/files/grants`)
  expect((await boxOf(page.getByRole('link', { name: home.at('Work') }))).x).toBe(left)
  await page.goto(`${app.url}/files/size`)
  expect((await boxOf(page.getByRole('heading', { name: 'Disk usage' }))).x).toBe(left)
})

test('C11 buttons of files that are called alike differ by name', async () => {
  const app = await start()
  for (const path of ['temp/a.md', 'temp/b/a.md', 'temp/a.md', 'temp/c.md']) {
    await output(app, 'create_file', { path, content: 'a' })
    await output(app, 'delete_file', { path })
  }
  const page = await visit(app, '/files/trash')
  await page.getByRole('button', { name: 'Restore c.md', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Restore temp/b/a.md', exact: true }).waitFor()
  expect(await namesOf(page.getByRole('button', { name: /^Restore/ }))).toHaveLength(4)
})

const namesOf = async (buttons: Locator) => [
  ...new Set(await buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))),
]

async function boxOf(shown: Locator) {
  await shown.waitFor()
  return (await shown.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 }
}

const heightOf = async (shown: Locator) => (await boxOf(shown)).height
