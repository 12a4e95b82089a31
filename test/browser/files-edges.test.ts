import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { asking } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { output, useBrowser } from './browser.ts'
import { useHomes } from './home.ts'

const { start, visit, allowError } = useBrowser()
const newHome = useHomes()

const listed = (page: Page) => page.getByRole('list', { name: 'Files and folders' })
const file = (page: Page) => page.getByRole('region', { name: 'File' })
const place = (page: Page) => decodeURIComponent(new URL(page.url()).search)
const focusedRow = (page: Page) =>
  page.evaluate<string | null>('document.activeElement.getAttribute("data-row")')

test('C10 C13 a file that somebody deleted is not shown as if it were there', async () => {
  allowError(/status of 404/)
  const app = await start()
  const agent = await asking(app, 'codex')
  await agent.call('create_file', { path: 'temp/a.md', content: 'soon gone' })
  const page = await visit(app, '/files?path=temp&open=temp/a.md')
  await file(page).getByText('soon gone').waitFor()
  await agent.call('delete_file', { path: 'temp/a.md' })
  await file(page).getByRole('alert').getByText('Not found.').waitFor()
  expect(await file(page).getByText('soon gone').count()).toBe(0)
  expect(await file(page).getByRole('button', { name: 'Move to trash' }).count()).toBe(0)
})

test('C10 GR4 what a revoked grant opened is closed on the screen too, and a way on is named', async () => {
  allowError(/status of 403/)
  const home = newHome({ 'Work/plan.txt': 'plan of ours' })
  const app = await home.during(() => start())
  const { id } = await output<{ id: string }>(app, 'add_grant', {
    path: home.at('Work'),
    permission: 'read',
  })
  const page = await visit(
    app,
    `/files?path=${encodeURIComponent(home.at('Work'))}&open=${encodeURIComponent(home.at('Work/plan.txt'))}`,
  )
  await file(page).getByText('plan of ours').waitFor()
  await listed(page).getByText('plan.txt').waitFor()
  await output(app, 'revoke_grant', { grant_id: id })
  await file(page).getByText('No grant covers this path.').waitFor()
  await page
    .getByRole('region', { name: 'Folder' })
    .getByText('No grant covers this path.')
    .waitFor()
  expect(await page.getByText('plan of ours').count()).toBe(0)
  expect(await listed(page).count()).toBe(0)
  await page.getByRole('region', { name: 'Folder' }).getByRole('link', { name: 'Grants' }).click()
  await page.getByText('No grants').waitFor()
})

test('PV8 names with a backslash or spaces in front are shown and opened as they are', async () => {
  const app = await start()
  writeFileSync(join(app.workspace, 'temp', 'a\\b.txt'), 'with a backslash')
  writeFileSync(join(app.workspace, 'temp', '  c.txt'), 'with spaces')
  const page = await visit(app, '/files?path=temp')
  await listed(page).getByRole('link', { name: 'a\\b.txt' }).click()
  await file(page).getByText('with a backslash').waitFor()
  await page.reload()
  await listed(page).getByText('c.txt').waitFor()
  const name = listed(page).getByRole('link', { name: 'c.txt' }).locator('bdi')
  expect(await name.evaluate((shown) => String(Reflect.get(shown, 'innerText')))).toBe('  c.txt')
})

test('C11 C14 the keys go on from the row that is open, and closing or going up keeps the place', async () => {
  const app = await start()
  for (const name of ['a', 'b', 'c', 'd'])
    await output(app, 'create_file', { path: `Documents/notes/${name}.md`, content: name })
  const page = await visit(app, '/files?path=Documents')
  await listed(page).getByRole('link', { name: 'notes' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => focusedRow(page)).toBe('Documents/notes/a.md')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await file(page).getByText('b', { exact: true }).waitFor()
  await page.keyboard.press('j')
  expect(await focusedRow(page)).toBe('Documents/notes/c.md')
  await page.keyboard.press('Enter')
  await file(page).getByText('c', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => focusedRow(page)).toBe('Documents/notes/c.md')
  await page.keyboard.press('u')
  await expect.poll(() => focusedRow(page)).toBe('Documents/notes')
})

test('C1 the find box and the address say the same', async () => {
  const app = await start()
  await output(app, 'create_file', { path: 'Documents/notes/plan.md', content: 'x' })
  const page = await visit(app, '/files')
  await listed(page).getByRole('link', { name: 'Documents' }).click()
  await listed(page).getByRole('link', { name: 'notes' }).waitFor()
  const box = page.getByRole('searchbox', { name: 'Find in files' })
  await box.pressSequentially('plan')
  await page.getByText('1 match in Documents').waitFor()
  await page.goBack()
  await listed(page).getByRole('link', { name: 'notes' }).waitFor()
  expect(place(page)).toBe('?path=Documents')
  expect(await box.inputValue()).toBe('')
  await box.pressSequentially('plan')
  await page.getByText('1 match in Documents').waitFor()
  await box.press('Escape')
  await listed(page).getByRole('link', { name: 'notes' }).waitFor()
  expect(place(page)).toBe('?path=Documents')
  expect(await box.inputValue()).toBe('')
})

test('GR10 a granted folder takes no dropped file, and does not say that it would', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan' })
  const app = await home.during(() => start())
  await output(app, 'add_grant', { path: home.at('Work'), permission: 'read-write' })
  const page = await visit(app, `/files?path=${encodeURIComponent(home.at('Work'))}`)
  await listed(page).getByText('plan.txt').waitFor()
  expect(await page.getByRole('button', { name: 'Add files' }).count()).toBe(0)
})

test('TR1 where the name is taken, a file comes back under another', async () => {
  allowError(/status of 409/)
  const app = await start()
  await output(app, 'create_file', { path: 'temp/a.md', content: 'old' })
  await output(app, 'delete_file', { path: 'temp/a.md' })
  await output(app, 'create_file', { path: 'temp/a.md', content: 'new' })
  const page = await visit(app, '/files/trash')
  await page.getByRole('button', { name: 'Restore a.md' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore a.md as' })
  expect(await dialog.getByLabel('Path').inputValue()).toBe('temp/a (2).md')
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Trash is empty').waitFor()
  expect(readFileSync(join(app.workspace, 'temp/a (2).md'), 'utf8')).toBe('old')
  expect(readFileSync(join(app.workspace, 'temp/a.md'), 'utf8')).toBe('new')
})

test('F4 C13 a file too large to be shown can still be thrown away', async () => {
  allowError(/status of/)
  const app = await start()
  const large = join(app.workspace, 'temp', 'large.bin')
  writeFileSync(large, Buffer.alloc(11 * 1024 * 1024))
  const page = await visit(app, '/files?path=temp&open=temp/large.bin')
  await file(page).getByText('The file is too large to preview.').waitFor()
  await file(page).getByRole('button', { name: 'Move to trash' }).click()
  await page.getByText('This folder is empty').waitFor()
  expect(existsSync(large)).toBe(false)
})

test('C5 a list that is not all there says so, and what follows comes below what is shown', async () => {
  const app = await start()
  for (let at = 1; at <= 1300; at++) writeFileSync(join(app.workspace, 'temp', `page-${at}.md`), '')
  const page = await visit(app, '/files?path=temp')
  const partial = page.getByText('First 1,000 entries, unsorted')
  const names = () =>
    listed(page)
      .getByRole('link')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')))
  await partial.waitFor()
  expect(await names()).toEqual((await names()).toSorted(byBytes))
  await page.getByRole('button', { name: 'Show more' }).click()
  await partial.waitFor({ state: 'detached' })
  expect(await names()).toEqual(Array.from({ length: 1300 }, (_, at) => `temp/page-${at + 1}.md`))
})

test('C2 GR10 the picker begins with nothing chosen', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan' })
  const app = await home.during(() => start())
  const page = await visit(app, '/files/grants')
  await page.getByRole('button', { name: 'Grant access' }).click()
  const choose = page.getByRole('dialog').getByRole('button', { name: 'Choose this folder' })
  await page.getByRole('dialog').getByRole('button', { name: 'Work' }).waitFor()
  expect(await choose.isDisabled()).toBe(true)
  await page.getByRole('dialog').getByRole('button', { name: 'Work' }).click()
  await page.getByText(home.at('Work'), { exact: true }).waitFor()
  expect(await choose.isDisabled()).toBe(false)
})

test('C5 the picker names what is hidden after what is not', async () => {
  const home = newHome({ '.fonts/a': '', 'Work/b': '', 'Archive/c': '', '.cache/d': '' })
  const app = await home.during(() => start())
  const page = await visit(app, '/files/grants')
  await page.getByRole('button', { name: 'Grant access' }).click()
  const names = page.getByRole('list', { name: 'Folder contents' }).getByRole('button')
  await names.first().waitFor()
  expect(await names.allTextContents()).toEqual(['Archive', 'Work', '.cache', '.fonts'])
})

test('C13 a workspace with nothing of anybody in it says that it is empty', async () => {
  const app = await start()
  for (const name of readdirSync(app.workspace))
    if (name !== '.cowork') rmSync(join(app.workspace, name), { recursive: true })
  const page = await visit(app, '/files')
  await page.getByText('This folder is empty').waitFor()
  await page.getByText('Agents save files here.').waitFor()
})

test('C11 a folder with a long name, of one word or of many, makes no screen wider than the window', async () => {
  const app = await start()
  const names = ['x'.repeat(200), 'Minutes of the meetings about the new laser, from May until now']
  for (const name of names) mkdirSync(join(app.workspace, name))
  const page = await visit(app, '/files')
  await listed(page).getByText('Minutes').waitFor()
  for (const width of [375, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
  }
  expect(await findAxeIssues(page, 'long names', [375])).toEqual([])
})

test('C5 PV9 a granted folder that is gone is not called replaced', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan' })
  const app = await home.during(() => start())
  await output(app, 'add_grant', { path: home.at('Work'), permission: 'read' })
  rmSync(home.at('Work'), { recursive: true })
  const page = await visit(app, '/files/grants')
  const grants = page.getByRole('list', { name: 'Grants' })
  await grants.getByText('Missing or replaced', { exact: true }).waitFor()
})

const byBytes = (a: string | null, b: string | null) => ((a ?? '') < (b ?? '') ? -1 : 1)
