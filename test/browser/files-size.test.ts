import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { findAxeIssues } from './axe.ts'
import { useBrowser } from './browser.ts'

const { start, visit } = useBrowser()

const areasOf = (page: Page) => page.getByRole('group', { name: 'Treemap of folders and files' })
const tableOf = (page: Page) => page.getByRole('table', { name: 'Folders and files by size' })
const put = (app: TestApp, path: string, bytes: number) =>
  writeFileSync(join(app.workspace, path), 'x'.repeat(bytes))
const place = (page: Page) => decodeURIComponent(new URL(page.url()).search)

async function boxOf(area: Locator) {
  const box = await area.boundingBox()
  expect(box).not.toBeNull()
  return box ?? { x: 0, y: 0, width: 0, height: 0 }
}

test('C5 C11 sizes are areas one can look into, and a table of the same numbers', async () => {
  const app = await start()
  put(app, 'Documents/reports/long.md', 6000)
  put(app, 'Documents/notes/short.md', 2000)
  const page = await visit(app, '/files/size')
  const row = (name: string) => tableOf(page).getByRole('row', { name })
  await row('Documents').getByText('8 kB').waitFor()
  await areasOf(page)
    .getByRole('link', { name: /^Documents 8 kB/ })
    // Click the name, because the items of the folder cover the rest of its box.
    .click({ position: { x: 20, y: 10 } })
  await row('reports').getByText('75%').waitFor()
  const [large, small] = await Promise.all(
    [/^reports 6 kB/, /^notes 2 kB/].map(async (name) => {
      const { width, height } = await boxOf(areasOf(page).getByRole('link', { name }))
      return width * height
    }),
  )
  expect((large ?? 0) / (small ?? 1)).toBeCloseTo(3, 0)
  await row('reports').getByRole('link').click()
  await row('long.md').waitFor()
  await page.getByRole('link', { name: 'Open in Workspace' }).click()
  await page.getByRole('list', { name: 'Files and folders' }).getByText('long.md').waitFor()
})

test('C5 the map shows what is in a folder, and the largest files by name; a press opens them', async () => {
  const app = await start()
  put(app, 'Documents/reports/quarter.csv', 900_000)
  put(app, 'Documents/plan.md', 400_000)
  put(app, 'large.bin', 700_000)
  for (let at = 0; at < 37; at++) put(app, `small-${at}.txt`, 10)
  const page = await visit(app, '/files/size')
  const area = (name: RegExp) => areasOf(page).getByRole('link', { name })
  const [outer, inner] = await Promise.all(
    [/^Documents 1.3 MB/, /^reports 900 kB/].map((name) => boxOf(area(name))),
  )
  expect(inner?.x).toBeGreaterThan(outer?.x ?? Infinity)
  expect((inner?.y ?? 0) + (inner?.height ?? 0)).toBeLessThan(
    (outer?.y ?? 0) + (outer?.height ?? 0),
  )
  await area(/^large.bin 700 kB/).waitFor()
  const row = (name: string) => tableOf(page).getByRole('row', { name })
  await row('and 37 other files').getByText('< 1%').waitFor()
  await area(/^plan.md 400 kB/).click()
  await page.getByRole('region', { name: 'File' }).getByText('400 kB').waitFor()
  expect(place(page)).toBe('?path=Documents&open=Documents/plan.md')
})

test('C11 C14 a press in the map leaves the keyboard at the folder it led to', async () => {
  const app = await start()
  put(app, 'Documents/reports/long.md', 6000)
  const page = await visit(app, '/files/size')
  await areasOf(page)
    .getByRole('link', { name: /^Documents/ })
    .focus()
  await page.keyboard.press('Enter')
  await tableOf(page).getByRole('row', { name: 'reports' }).waitFor()
  await expect
    .poll(() => page.evaluate<string>('document.activeElement.textContent'))
    .toBe('Disk usage')
})

test('C11 everything in the map and its table is large enough to be pressed, and axe finds nothing', async () => {
  const app = await start()
  for (let at = 1; at <= 60; at++)
    put(app, `Documents/reports/${'report-'.repeat(6)}${at}.md`, at * 999)
  for (let at = 1; at <= 9; at++) put(app, `Code/python/${at}.py`, 2 ** at * 1000)
  const page = await visit(app, '/files/size')
  for (const width of [1440, 375]) {
    await page.setViewportSize({ width, height: 860 })
    await areasOf(page)
      .getByRole('link', { name: /^Documents/ })
      .waitFor()
    const links = await tableOf(page).getByRole('link').all()
    expect(links.length).toBeGreaterThan(1)
    for (const link of links) expect((await boxOf(link)).height).toBeGreaterThanOrEqual(24)
  }
  expect(await findAxeIssues(page, 'sizes', [1440, 375])).toEqual([])
})
