import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { findAxeIssues } from './axe.ts'
import { asking } from './approvals.ts'
import { readLedger, output, useBrowser } from './browser.ts'
import { useHomes } from './home.ts'

const { start, newContext, visit, allowError } = useBrowser()
const newHome = useHomes()

const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const make = (app: TestApp, path: string, content: string | Buffer) =>
  output(app, 'create_file', {
    path,
    content: content.toString(typeof content === 'string' ? 'utf8' : 'base64'),
    encoding: typeof content === 'string' ? 'utf-8' : 'base64',
  })

const listed = (page: Page) => page.getByRole('list', { name: 'Files and folders' })
const place = (page: Page) => decodeURIComponent(new URL(page.url()).search)

test('C5 one goes through the workspace, reads text and pictures, and the address says where one is', async () => {
  const app = await start()
  await make(app, 'Documents/reports/q3.md', '# Q3\n\nAll <b>criteria</b> met.')
  await make(app, 'Documents/reports/chart.png', dot)
  const page = await visit(app, '/files')
  await listed(page).getByRole('link', { name: 'Documents' }).click()
  await listed(page).getByRole('link', { name: 'reports' }).click()
  await listed(page).getByRole('link', { name: 'q3.md' }).click()
  const file = page.getByRole('region', { name: 'File' })
  // As it is written: markup of agents is nothing but text here.
  await file.getByText('All <b>criteria</b> met.').waitFor()
  expect(place(page)).toBe('?path=Documents/reports&open=Documents/reports/q3.md')
  await page.reload()
  await file.getByText('All <b>criteria</b> met.').waitFor()
  await listed(page).getByRole('link', { name: 'chart.png' }).click()
  const picture = file.getByRole('img', { name: 'chart.png' })
  await picture.waitFor()
  expect(await picture.evaluate((image) => Number(Reflect.get(image, 'naturalWidth')))).toBe(1)
  await page.keyboard.press('Escape')
  await file.waitFor({ state: 'detached' })
  await page.keyboard.press('u')
  await page.getByRole('navigation', { name: 'Folders' }).getByText('Documents').waitFor()
  expect(place(page)).toBe('?path=Documents')
})

test('C5 keys walk the list and open what is under them', async () => {
  const app = await start()
  await make(app, 'Research/summaries/a.md', 'first')
  await make(app, 'Research/summaries/b.md', 'second')
  const page = await visit(app, '/files?path=Research/summaries')
  await listed(page).getByRole('link', { name: 'b.md' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'File' }).getByText('second').waitFor()
})

test('PV5 what looks sensitive is named, and its content is not shown', async () => {
  const app = await start()
  await make(app, 'Documents/notes/secrets.txt', 'hunter2')
  const page = await visit(app, '/files?open=Documents/notes/secrets.txt')
  await page.getByText('Preview hidden').waitFor()
  expect(await page.getByText('hunter2').count()).toBe(0)
})

test('C5 search finds names and contents, in the workspace and in granted paths', async () => {
  const home = newHome({ 'Work/offer-brandt.txt': 'Brandt wants 40 licences' })
  const app = await home.during(() => start())
  await make(app, 'Documents/drafts/offer.md', 'Dear Brandt')
  await output(app, 'add_grant', { path: home.at('Work'), permission: 'read' })
  const page = await visit(app, '/files')
  await listed(page).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('offer')
  const found = page.getByRole('list', { name: 'Search results' }).getByRole('link')
  await found.filter({ hasText: 'offer.md' }).waitFor()
  expect(await found.count()).toBe(1)
  await page.getByRole('navigation', { name: 'Search in' }).getByText('All').click()
  await found.filter({ hasText: 'offer-brandt.txt' }).waitFor()
  await page.goto(`${app.url}/files?q=licences&in=all&by=content`)
  await found.getByText('Brandt wants 40 licences').waitFor()
  await found.click()
  const file = page.getByRole('region', { name: 'File' })
  await file.getByText(home.at('Work/offer-brandt.txt')).waitFor()
  // It is the user's own: agents' trash is not for it.
  expect(await file.getByRole('button', { name: 'Move to trash' }).count()).toBe(0)
})

test('GR10 a file dropped on the page is copied into the folder that is open, beside one of its name', async () => {
  allowError(/status of 409/)
  const app = await start()
  await make(app, 'Documents/notes/list.txt', 'one')
  const page = await visit(app, '/files?path=Documents/notes')
  await listed(page).getByText('list.txt').waitFor()
  const data = await page.evaluateHandle(`(() => {
    const data = new DataTransfer()
    data.items.add(new File(['two'], 'list.txt', { type: 'text/plain' }))
    return data
  })()`)
  await page.dispatchEvent('section[aria-label=Folder]', 'drop', { dataTransfer: data })
  await listed(page).getByText('list (2).txt').waitFor()
  const notes = join(app.workspace, 'Documents/notes')
  expect(readFileSync(join(notes, 'list.txt'), 'utf8')).toBe('one')
  expect(readFileSync(join(notes, 'list (2).txt'), 'utf8')).toBe('two')
  await page
    .getByLabel('Files to add')
    .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: dot })
  await listed(page).getByText('dot.png').waitFor()
  expect(readFileSync(join(notes, 'dot.png'))).toEqual(dot)
})

test('C5 C10 files that an agent creates or deletes appear without a reload, and the trash restores them', async () => {
  const app = await start()
  await make(app, 'Documents/notes/old.md', 'keep me')
  const agent = await asking(app, 'codex')
  const page = await visit(app, '/files?path=Documents/notes')
  await listed(page).getByText('old.md').waitFor()
  await agent.call('create_file', { path: 'Documents/notes/new.md', content: 'x' })
  await listed(page).getByText('new.md').waitFor()
  await page.getByRole('navigation', { name: 'Files' }).getByRole('link', { name: 'Trash' }).click()
  await page.getByText('Trash is empty').waitFor()
  await agent.call('delete_file', { path: 'Documents/notes/old.md' })
  const deleted = page.getByRole('list', { name: 'Deleted files' })
  await deleted.getByText('deleted by codex').waitFor()
  const old = join(app.workspace, 'Documents/notes/old.md')
  expect(existsSync(old)).toBe(false)
  await deleted.getByRole('button', { name: 'Restore old.md' }).click()
  await page.getByText('Trash is empty').waitFor()
  expect(readFileSync(old, 'utf8')).toBe('keep me')
})

test('TR1 a deleted file goes to the trash, and only an owner deletes it permanently, after a confirmation', async () => {
  const app = await start()
  await make(app, 'temp/draft.md', 'x')
  const page = await visit(app, '/files?path=temp&open=temp/draft.md')
  await page.getByRole('button', { name: 'Move to trash' }).click()
  await page.getByText('draft.md to the trash.').waitFor()
  await page.getByText('This folder is empty').waitFor()
  await page.goto(`${app.url}/files/trash`)
  await page.getByRole('button', { name: 'More actions for draft.md' }).click()
  await page.getByRole('menuitem', { name: 'Delete permanently' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
  await page.getByText('Trash is empty').waitFor()
})

test('C5 GR4 grants are listed with their last use, and revoking one closes it for the agent', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan' })
  const app = await home.during(() => start())
  const agent = await asking(app, 'codex')
  const page = await visit(app, '/files/grants')
  await page.getByText('No grants').waitFor()
  // Made elsewhere, seen here.
  await output(app, 'add_grant', { path: home.at('Work'), permission: 'read', agent: 'codex' })
  const grants = page.getByRole('list', { name: 'Grants' })
  await grants.getByText('never used').waitFor()
  await grants.getByText('codex').waitFor()
  const read = () => agent.call('read_file', { path: home.at('Work/plan.txt') })
  expect((await read()).error).toBeUndefined()
  // Nobody went away and came back: it is told while one looks.
  await grants.getByText('used just now, 1 time', { exact: true }).waitFor()
  for (let use = 0; use < 20; use++) await read()
  await grants.getByText('used just now, 21 times').waitFor()
  // A busy agent does not make the screen ask for every use of it.
  const asked = (await readLedger(app, '&type=call.done')).entries.filter(
    ({ data }) => data?.['tool'] === 'list_grants',
  )
  expect(asked.length).toBeLessThan(8)
  await grants.getByRole('button', { name: `Revoke ${home.at('Work')}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No grants').waitFor()
  expect((await read()).error).toMatchObject({ code: 'no_grant' })
})

test('GR10 an owner grants a folder or hands over a file by picking it; what is protected cannot be picked', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan', '.ssh/id_rsa': 'key' })
  const app = await home.during(() => start())
  const page = await visit(app, '/files/grants')
  const pick = async (...names: string[]) => {
    await page.getByRole('button', { name: 'Grant access' }).click()
    for (const name of names)
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  }
  await pick('Work', 'Choose this folder')
  await page.getByText(home.at('Work'), { exact: true }).waitFor()
  await page.getByRole('group', { name: 'Permission' }).getByText('Read and write').click()
  await page.getByText('Every agent can read and change this folder and all subfolders.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Grant access' }).click()
  const grants = page.getByRole('list', { name: 'Grants' })
  await grants.getByText('Read and write').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await pick('Work', 'plan.txt')
  await page.getByText('The folder is not included.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Grant access' }).click()
  await grants.getByText('shared').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.getByRole('dialog').getByText('protected').waitFor()
  expect(await page.getByRole('button', { name: '.ssh protected' }).isDisabled()).toBe(true)
  type Listed = { grants: { path: string; permission: string; granted_by: string }[] }
  const { grants: made } = await output<Listed>(app, 'list_grants')
  expect(
    made.map(({ path, permission, granted_by: by }) => [path, permission, by]).toSorted(byPath),
  ).toEqual([
    [home.at('Work'), 'read-write', 'user_explicit'],
    [home.at('Work/plan.txt'), 'read', 'user_implicit'],
  ])
})

test('C11 axe finds nothing serious on the Files screens, and none is wider than a phone', async () => {
  const home = newHome({ 'Work/plan.txt': 'plan' })
  const app = await home.during(() => start())
  await make(app, 'Documents/reports/q3.md', '# Q3')
  await make(app, 'temp/draft.md', 'x')
  await output(app, 'delete_file', { path: 'temp/draft.md' })
  await output(app, 'add_grant', { path: home.at('Work'), permission: 'read' })
  const page = await visit(app, '/files')
  const places: Record<string, string> = {
    '/files': 'Documents',
    '/files?path=Documents/reports&open=Documents/reports/q3.md': '# Q3',
    '/files?q=q3': '1 match',
    '/files/grants': 'never used',
    '/files/trash': 'draft.md',
    '/files/size': 'Share',
  }
  const faults: string[] = []
  for (const [path, there] of Object.entries(places)) {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(app.url + path)
    await page.getByText(there).first().waitFor()
    faults.push(...(await findAxeIssues(page, path, [1280, 375])))
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${path} is ${width} px wide on a phone`)
  }
  await page.goto(`${app.url}/files/grants`)
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Work' }).waitFor()
  faults.push(...(await findAxeIssues(page, 'picking a folder', [1280, 375])))
  expect(faults).toEqual([])
})

test('C11 on a phone one reads a file and goes back to its folder', async () => {
  const app = await start()
  await make(app, 'Documents/notes/a.md', 'hello')
  const context = await newContext({ viewport: { width: 375, height: 700 }, hasTouch: true })
  const page = await visit(app, '/files?path=Documents/notes', { context })
  await listed(page).getByRole('link', { name: 'a.md' }).tap()
  await page.getByRole('region', { name: 'File' }).getByText('hello').waitFor()
  expect(await listed(page).isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Close' }).tap()
  await listed(page).getByRole('link', { name: 'a.md' }).waitFor()
})

const byPath = ([a = '']: string[], [b = '']: string[]) => (a < b ? -1 : 1)
