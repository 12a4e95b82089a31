import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { buildPdf } from '../documents.ts'
import { output, useBrowser } from './browser.ts'
import { useHomes } from './home.ts'

const { start, visit, allowError } = useBrowser()
const newHome = useHomes()

const found = (page: Page) => page.getByRole('list', { name: 'Search results' }).getByRole('link')
const statusText = (page: Page) => page.getByRole('status')
const where = (page: Page) => page.getByRole('navigation', { name: 'Search in' })
const find = (page: Page, text: string) =>
  page.getByRole('searchbox', { name: 'Find in files' }).pressSequentially(text)

test('C5 FT6 one finds in the folder one is in, granted or not, and a step further everywhere', async () => {
  const home = newHome({ 'Work/photos/IMG_2003.jpg': 'x', 'Work/IMG_2003.txt': 'x' })
  const app = await home.during(() => start())
  await output(app, 'add_grant', { path: home.at('Work'), permission: 'read' })
  await output(app, 'create_file', { path: 'Documents/notes/IMG_2003.md', content: 'x' })
  const photos = home.at('Work/photos')
  const page = await visit(app, `/files?path=${encodeURIComponent(photos)}`)
  await page.getByText('IMG_2003.jpg').waitFor()
  await find(page, 'IMG_2003')
  await statusText(page).getByText(`1 match in ${photos}`).waitFor()
  await found(page).getByText('IMG_2003.jpg').waitFor()
  const chosen = where(page).locator('[aria-current=page]')
  expect(await chosen.allTextContents()).toEqual(['This folder'])
  await page.setViewportSize({ width: 375, height: 700 })
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(375)
  await where(page).getByText('Workspace').click()
  await statusText(page).getByText('1 match in the workspace').waitFor()
  await where(page).getByText('All').click()
  await statusText(page).getByText('3 matches in the workspace and granted paths').waitFor()
  await page.reload()
  await statusText(page).getByText('3 matches').waitFor()
})

test('C13 FT6 where nothing is found it says where, and leads further', async () => {
  const app = await start()
  await output(app, 'create_file', { path: 'Documents/notes/plan.md', content: 'x' })
  const page = await visit(app, '/files?path=Documents/reports')
  await page.getByText('This folder is empty').waitFor()
  await find(page, 'plan')
  await page.getByText('No name in Documents/reports contains “plan”.').waitFor()
  await page.getByRole('link', { name: 'Search everywhere' }).click()
  await found(page).getByText('plan.md').waitFor()
  expect(await page.getByRole('link', { name: 'Search everywhere' }).count()).toBe(0)
})

test('FT6 what was not looked into is said, and why a query cannot be asked', async () => {
  allowError(/status of 4/)
  const app = await start()
  writeFileSync(join(app.workspace, 'Documents', 'offer.pdf'), buildPdf('licences'))
  const page = await visit(app, '/files?q=licences&by=content')
  const offer = join(app.workspace, 'Documents', 'offer.pdf')
  const left = `1 document was not searched (use read_file): ${offer}`
  await page.getByText('No matches').waitFor()
  await page.getByText(left).waitFor()
  await output(app, 'create_file', { path: 'Documents/a.md', content: 'licences' })
  await statusText(page).getByText('1 match in the workspace').waitFor()
  await statusText(page).getByText('Some files were not searched: see below.').waitFor()
  // Results come before the list of skipped paths, however long that list is.
  const top = async (shown: Locator) => (await shown.boundingBox())?.y ?? 0
  expect(await top(page.getByText(left))).toBeGreaterThan(await top(found(page).first()))
  await page.goto(`${app.url}/files?q=${encodeURIComponent('/etc/*.conf')}`)
  await page.getByRole('alert').getByText('The query is an absolute path.').waitFor()
})
