import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { asking } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { readLedger, createSignInLink, linkTo, output, useBrowser } from './browser.ts'
import { playWork } from './scene-work.ts'

const { start, newContext, visit, allowError } = useBrowser()

type Found = { readonly story: Record<string, unknown> }

const column = (page: Page, name: string): Locator =>
  page.getByRole('region', { name, exact: true })
const cardIn = (page: Page, name: string, id: string): Locator =>
  column(page, name).locator(`[data-row="${id}"]`)
const detailOf = (page: Page) => page.getByRole('region', { name: 'Story', exact: true })
const place = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.closest("[data-row]")?.dataset.row ?? ""')
const storyOf = async (app: TestApp, id: string) =>
  (await output<Found>(app, 'worksync_get', { project: 'shop', story_id: id })).story
const fileOf = (app: TestApp) => join(app.state, 'worksync', 'projects', 'shop', 'work-index.yaml')

/** Starts a project with an active sprint of three stories and a planned sprint. */
async function startShop(): Promise<TestApp> {
  const app = await start()
  const act = (tool: string, args: Record<string, unknown>) =>
    output(app, tool, { project: 'shop', ...args })
  await act('worksync_register_project', {})
  await act('worksync_create_sprint', { sprint_id: 'one', title: 'One', status: 'active' })
  await act('worksync_create_sprint', { sprint_id: 'two', title: 'Two' })
  await act('worksync_add_story', { sprint_id: 'one', title: 'First' })
  await act('worksync_add_story', { sprint_id: 'one', title: 'Second', depends_on: ['STORY-1'] })
  await act('worksync_add_story', { sprint_id: 'one', title: 'Third', priority: 'urgent' })
  return app
}

async function dragTo(page: Page, card: Locator, target: Locator, letsGo = true) {
  const [from, to] = [await card.boundingBox(), await target.boundingBox()]
  if (!from || !to) throw new Error('nothing to drag')
  await page.mouse.move(from.x + 20, from.y + 10)
  await page.mouse.down()
  await page.mouse.move(from.x + 60, from.y + 30, { steps: 4 })
  await page.mouse.move(to.x + to.width / 2, to.y + 60, { steps: 8 })
  if (letsGo) await page.mouse.up()
}

test('C6 dragging a story to another column changes the file and the ledger', async () => {
  const app = await startShop()
  const page = await visit(app, '/work')
  await dragTo(page, cardIn(page, 'Planned', 'STORY-1'), column(page, 'In progress'))
  await cardIn(page, 'In progress', 'STORY-1').waitFor()
  await expect.poll(() => storyOf(app, 'STORY-1')).toMatchObject({ status: 'in_progress' })
  // A drop is not a click, so nothing was opened.
  expect(place(page)).toBe('/work')

  await dragTo(page, cardIn(page, 'In progress', 'STORY-1'), column(page, 'Done'))
  await cardIn(page, 'Done', 'STORY-1').waitFor()
  await expect.poll(() => storyOf(app, 'STORY-1')).toMatchObject({ status: 'done' })
  // Finishing a story also adds a history entry.
  await expect.poll(() => readFileSync(fileOf(app), 'utf8')).toContain('Completed STORY-1: First')
  await page.getByText('1 of 3 done').waitFor()
  const { entries } = await readLedger(app, '&type=work.changed&subject=shop/STORY-1')
  expect(entries).toHaveLength(2)
})

test('C6 a drag canceled by Escape or dropped outside the columns moves nothing', async () => {
  const app = await startShop()
  const page = await visit(app, '/work')
  const card = cardIn(page, 'Planned', 'STORY-1')
  await dragTo(page, card, column(page, 'Done'), false)
  await column(page, 'Done').getByText('Move here').waitFor()
  await page.keyboard.press('Escape')
  await column(page, 'Done').getByText('Move here').waitFor({ state: 'detached' })
  await page.mouse.up()
  await dragTo(page, card, column(page, 'Done'), false)
  await page.mouse.move(600, 20, { steps: 5 })
  await page.mouse.up()
  await card.waitFor()
  expect(await storyOf(app, 'STORY-1')).toMatchObject({ status: 'planned', rev: 1 })
})

test('C6 a board wider than its container scrolls while a card is dragged at its edge', async () => {
  const app = await startShop()
  const page = await visit(app, '/work')
  await page.setViewportSize({ width: 900, height: 700 })
  const card = cardIn(page, 'Planned', 'STORY-1')
  const from = await card.boundingBox()
  await page.mouse.move((from?.x ?? 0) + 20, (from?.y ?? 0) + 10)
  await page.mouse.down()
  await page.mouse.move(876, 300, { steps: 5 })
  await expect.poll(async () => (await column(page, 'Dropped').boundingBox())?.x).toBeLessThan(870)
  await page.mouse.up()
  await cardIn(page, 'Dropped', 'STORY-1').waitFor()
  await expect.poll(() => storyOf(app, 'STORY-1')).toMatchObject({ status: 'dropped' })
})

test('C6 C11 keys alone navigate, lift, move, drop and open a story', async () => {
  const app = await startShop()
  const page = await visit(app, '/inbox')
  await page.keyboard.press('g')
  await page.keyboard.press('w')
  await page.waitForURL('**/work')
  await cardIn(page, 'Planned', 'STORY-3').waitFor()
  await page.keyboard.press('j')
  await expect.poll(() => focused(page)).toBe('STORY-3')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focused(page)).toBe('STORY-1')

  await page.keyboard.press('Space')
  const announcement = page.locator('[aria-live="assertive"]')
  await announcement.filter({ hasText: 'Picked up STORY-1. Planned, column 1 of 6.' }).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await announcement.filter({ hasText: 'Blocked, column 3 of 6' }).waitFor()
  await page.keyboard.press('Escape')
  await announcement.filter({ hasText: 'Canceled.' }).waitFor()
  await cardIn(page, 'Planned', 'STORY-1').waitFor()

  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Space')
  await cardIn(page, 'In progress', 'STORY-1').waitFor()
  await expect.poll(() => focused(page)).toBe('STORY-1')
  await expect.poll(() => storyOf(app, 'STORY-1')).toMatchObject({ status: 'in_progress' })

  await page.keyboard.press('h')
  await expect.poll(() => focused(page)).toBe('STORY-3')
  await page.keyboard.press('Enter')
  await detailOf(page).getByRole('heading', { name: 'Third' }).waitFor()
  expect(place(page)).toBe('/work?story=STORY-3')
  // The detail pane follows, and the focus stays on the board.
  await cardIn(page, 'Planned', 'STORY-3').focus()
  await page.keyboard.press('j')
  await detailOf(page).getByRole('heading', { name: 'Second' }).waitFor()
  await expect.poll(() => focused(page)).toBe('STORY-2')
  await page.keyboard.press('Escape')
  await detailOf(page).waitFor({ state: 'detached' })
})

test('C6 the menu moves a story to a status or a sprint, and the picker shows that sprint', async () => {
  const app = await startShop()
  const page = await visit(app, '/work')
  await page.getByRole('button', { name: 'Move STORY-2' }).click()
  await page.getByRole('menuitem', { name: 'In review' }).click()
  await cardIn(page, 'In review', 'STORY-2').waitFor()
  await page.getByRole('button', { name: 'Move STORY-2' }).click()
  await page.getByRole('menuitem', { name: 'Move to sprint Two' }).click()
  await cardIn(page, 'In review', 'STORY-2').waitFor({ state: 'detached' })
  await page.getByLabel('Sprint', { exact: true }).selectOption({ label: 'Two' })
  await cardIn(page, 'In review', 'STORY-2').waitFor()
  expect(place(page)).toBe('/work?sprint=two')
  expect(await storyOf(app, 'STORY-2')).toMatchObject({ status: 'in_review', sprint_id: 'two' })
})

test('C6 W22 a concurrent change is not overwritten, and the card moves back', async () => {
  allowError(/status of 409/)
  const app = await startShop()
  const page = await visit(app, '/work', { isCaught: true })
  await cardIn(page, 'Planned', 'STORY-1').waitFor()
  // The change arrives before the page gets the event.
  await page.route('**/worksync_update_story/**', async (route) => {
    await output(app, 'worksync_update_story', {
      project: 'shop',
      story_id: 'STORY-1',
      status: 'blocked',
    })
    await route.continue()
  })
  await page.getByRole('button', { name: 'Move STORY-1' }).click()
  await page.getByRole('menuitem', { name: 'In review' }).click()
  await page.getByText('STORY-1 is at revision 2, not 1.').waitFor()
  await cardIn(page, 'Blocked', 'STORY-1').waitFor()
  expect(await storyOf(app, 'STORY-1')).toMatchObject({ status: 'blocked' })
})

test('C6 in a story criteria are checked, fields edited, comments added and dependencies opened', async () => {
  const app = await startShop()
  await output(app, 'worksync_update_story', {
    project: 'shop',
    story_id: 'STORY-2',
    notes: 'Mind the <b>tax</b>.',
    acceptance: [{ text: 'rounded' }, { text: 'told' }],
  })
  const page = await visit(app, '/work?story=STORY-2')
  const detail = detailOf(page)
  // Markup is shown as text.
  await detail.getByText('Mind the <b>tax</b>.').waitFor()
  await detail.getByRole('checkbox', { name: 'told' }).click()
  await detail.getByText('1 of 2').waitFor()
  await detail.getByLabel('Add a comment').fill('Looks good')
  await detail.getByRole('button', { name: 'Comment', exact: true }).click()
  await detail.getByRole('list', { name: 'Comments' }).getByText('Looks good').waitFor()

  await detail.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit STORY-2' })
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Title').fill('Second, better')
  await dialog.getByLabel('Priority').selectOption('high')
  await dialog.getByLabel('Acceptance criteria').fill('told\nseen')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await detail.getByRole('heading', { name: 'Second, better' }).waitFor()
  expect(await storyOf(app, 'STORY-2')).toMatchObject({
    title: 'Second, better',
    priority: 'high',
    depends_on: ['STORY-1'],
    notes: 'Mind the <b>tax</b>.',
    acceptance: [{ text: 'told', done: true }, { text: 'seen' }],
  })

  await detail.getByRole('list', { name: 'Depends on' }).getByText('Planned').waitFor()
  await detail.getByRole('link', { name: 'STORY-1' }).click()
  await detail.getByRole('heading', { name: 'First' }).waitFor()
  await detail.getByText('Blocks').waitFor()
  await detail.getByRole('button', { name: 'Done' }).click()
  await cardIn(page, 'Done', 'STORY-1').waitFor()
})

test('C6 stories and sprints are created, and completing a sprint carries its open stories', async () => {
  const app = await startShop()
  const page = await visit(app, '/work')
  await cardIn(page, 'Planned', 'STORY-1').waitFor()
  await page.keyboard.press('n')
  const add = page.getByRole('dialog', { name: 'New story' })
  await add.getByLabel('Title').fill('Fourth')
  await add.getByLabel('Depends on').fill('STORY-9')
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  allowError(/status of 404/)
  await add.getByText('Dependency not found: story "STORY-9" in shop.').waitFor()
  await add.getByLabel('Depends on').fill('')
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  await cardIn(page, 'Planned', 'STORY-4').waitFor()

  await page.getByRole('button', { name: 'Sprint actions' }).click()
  await page.getByRole('menuitem', { name: 'Complete this sprint' }).click()
  await page.getByLabel('Move 4 open stories to').selectOption({ label: 'Two' })
  await page.getByRole('dialog').getByRole('button', { name: 'Complete' }).click()
  await page.getByText('Completed One.').waitFor()
  await cardIn(page, 'Planned', 'STORY-4').waitFor()
  await expect.poll(() => page.getByLabel('Sprint', { exact: true }).inputValue()).toBe('two')

  await page.getByRole('button', { name: 'Sprint actions' }).click()
  await page.getByRole('menuitem', { name: 'New sprint' }).click()
  await page.getByLabel('Title').fill('Sprint 3')
  await page.getByText('Id: sprint-3').waitFor()
  await page.getByRole('button', { name: 'Create' }).click()
  await expect.poll(() => place(page)).toBe('/work?project=shop&sprint=sprint-3')
})

test('C6 backlog items are added, edited, moved to a sprint and removed', async () => {
  const app = await startShop()
  const page = await visit(app, '/work/backlog')
  await page.getByRole('button', { name: 'Add to the backlog' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Summary').fill('Other currencies')
  await dialog.getByLabel('Theme').fill('billing')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  const list = page.getByRole('list', { name: 'Backlog by priority' })
  await list.getByText('other-currencies').waitFor()
  await output(app, 'worksync_add_backlog', {
    project: 'shop',
    summary: 'Faster',
    priority: 'urgent',
  })
  await expect.poll(() => list.getByRole('listitem').first().innerText()).toContain('Faster')

  await page.getByRole('button', { name: 'Actions for faster' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByLabel('Status').selectOption('in_progress')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await list.getByText('In progress').waitFor()
  await page.getByRole('button', { name: 'Actions for faster' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  const faster = list.getByRole('button', { name: 'Faster', exact: true })
  await faster.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Move to a sprint: other-currencies' }).click()
  await page.getByRole('menuitem', { name: 'Two' }).click()
  await list.getByRole('link', { name: 'now STORY-4' }).click()
  await detailOf(page).getByRole('heading', { name: 'Other currencies' }).waitFor()
  expect(await storyOf(app, 'STORY-4')).toMatchObject({ sprint_id: 'two' })
})

test('W25 C6 the text of a backlog item is read, edited without overwriting changes, and kept in a sprint', async () => {
  allowError(/status of 409/)
  const app = await startShop()
  const file = join(dirname(fileOf(app)), 'BACKLOG', 'other-currencies.md')
  await output(app, 'worksync_add_backlog', {
    project: 'shop',
    summary: 'Other currencies',
    priority: 'high',
    theme: 'billing',
    text: '# Why\n\nNot <b>bold</b>.\n',
  })
  const page = await visit(app, '/work/backlog')
  const open = () => page.getByRole('button', { name: 'Other currencies', exact: true }).click()
  await open()
  const shown = page.getByRole('dialog', { name: 'other-currencies', exact: true })
  await shown.getByText('Not <b>bold</b>.').waitFor()
  await shown.getByRole('button', { name: 'Edit' }).click()

  const form = page.getByRole('dialog', { name: 'Edit other-currencies' })
  await expect.poll(() => form.getByLabel('Text').inputValue()).toContain('# Why')
  expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await form.getByLabel('Text').fill('By a person\n')
  await form.getByLabel('Priority').selectOption({ label: 'None' })
  await form.getByLabel('Theme').fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  await expect.poll(() => readFileSync(file, 'utf8')).toBe('By a person\n')
  const { item } = await output<{ item: object }>(app, 'worksync_get', {
    project: 'shop',
    item_id: 'other-currencies',
  })
  expect(item).not.toHaveProperty('priority')
  expect(item).not.toHaveProperty('theme')

  await open()
  await shown.getByText('By a person').waitFor()
  await shown.getByRole('button', { name: 'Edit' }).click()
  await form.getByLabel('Text').fill('Too late\n')
  writeFileSync(file, 'In an editor\n')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('The text of other-currencies has changed.').waitFor()
  expect(readFileSync(file, 'utf8')).toBe('In an editor\n')
  await form.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Move to a sprint: other-currencies' }).click()
  await page.getByRole('menuitem', { name: 'Two' }).click()
  await page.getByRole('link', { name: 'now STORY-4' }).click()
  await detailOf(page).getByText('In an editor').waitFor()
  await detailOf(page).getByText('from other-currencies').waitFor()
})

test('C6 search finds stories by notes, backlog items and sprints, in this project or in all', async () => {
  const app = await startShop()
  await output(app, 'worksync_update_story', {
    project: 'shop',
    story_id: 'STORY-1',
    notes: 'pool of identities',
  })
  await output(app, 'worksync_register_project', { project: 'blog' })
  await output(app, 'worksync_add_backlog', { project: 'blog', summary: 'A swimming pool' })
  const page = await visit(app, '/work?project=shop')
  await cardIn(page, 'Planned', 'STORY-1').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('pool')
  const found = page.getByRole('list', { name: 'Search results' })
  await found.getByRole('link').first().click()
  await detailOf(page).getByText('pool of identities').waitFor()
  expect(await found.getByRole('link').count()).toBe(1)
  await page.goto(`${app.url}/work?q=pool`)
  await found.getByText('A swimming pool').waitFor()
  expect(await found.getByRole('link').count()).toBe(2)
  await found.getByText('A swimming pool').click()
  await expect.poll(() => place(page)).toBe('/work/backlog?project=blog')
  await page.goto(`${app.url}/work?q=nonsense`)
  await page.getByRole('link', { name: 'Show all' }).click()
  await cardIn(page, 'Planned', 'STORY-1').waitFor()
})

test('C6 C10 a claim of an agent shows within a second, with the time left', async () => {
  const app = await startShop()
  const codex = await asking(app, 'codex')
  const page = await visit(app, '/work?story=STORY-1')
  await detailOf(page).getByRole('heading', { name: 'First' }).waitFor()
  await page.evaluate(`new MutationObserver(() => {
    const column = document.querySelector('[data-column="in_progress"]')
    if (column.textContent.includes('codex')) window.shownAt ??= Date.now()
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
  await codex.call('worksync_claim', { project: 'shop', story_id: 'STORY-1' })
  const card = cardIn(page, 'In progress', 'STORY-1')
  await card.getByText(/^1\d:\d\d left$/).waitFor()
  const [made] = (await readLedger(app, '&type=work.claimed')).entries
  expect((await page.evaluate<number>('window.shownAt')) - (made?.at ?? 0)).toBeLessThan(1000)
  await detailOf(page).getByText('claimed this story').waitFor()
  const history = detailOf(page).getByRole('list', { name: 'History, newest first' })
  await history.getByText('Claimed shop/STORY-1').waitFor()
  await history.getByText('codex').waitFor()

  await detailOf(page).getByRole('button', { name: 'Release' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
  await detailOf(page).getByText('claimed this story').waitFor({ state: 'detached' })
  await cardIn(page, 'Planned', 'STORY-1').waitFor()
  await history.getByText('Released shop/STORY-1').waitFor()
  expect(await storyOf(app, 'STORY-1')).not.toHaveProperty('lease')
})

/** Creates a conflict: a person edits the title in the file while a tool changes it. */
async function quarrel(app: TestApp) {
  const path = fileOf(app)
  await expect.poll(() => readFileSync(path, 'utf8')).toContain('title: Third')
  const mine = readFileSync(path, 'utf8').replace('title: First', 'title: From the file')
  await output(app, 'worksync_update_story', {
    project: 'shop',
    story_id: 'STORY-1',
    title: 'From the tool',
  })
  await expect.poll(() => readFileSync(path, 'utf8')).toContain('From the tool')
  writeFileSync(path, mine)
  await expect
    .poll(async () => {
      const [project] = (
        await output<{ projects: { conflicts: unknown[] }[] }>(app, 'worksync_status', {
          project: 'shop',
        })
      ).projects
      return project?.conflicts.length
    })
    .toBe(1)
}

test('C6 W5 a conflict between the file and a tool is shown with both sides and resolved', async () => {
  const app = await startShop()
  const page = await visit(app, '/work')
  await cardIn(page, 'Planned', 'STORY-1').waitFor()
  await quarrel(app)
  await page.getByRole('link', { name: 'Conflicts 1' }).click()
  const conflict = page.getByRole('list', { name: 'Conflicts' })
  await conflict.getByText('title changed by both sides').waitFor()
  await conflict.getByText('From the tool').waitFor()
  await conflict.getByRole('link', { name: 'STORY-1' }).click()
  const note = detailOf(page).getByRole('region', { name: 'Conflict' })
  await note.getByText('From the file').waitFor()
  await note.getByRole('button', { name: 'Use file version' }).click()
  await detailOf(page).getByRole('heading', { name: 'From the file' }).waitFor()
  await page.getByText('No conflicts').waitFor()
  expect(await storyOf(app, 'STORY-1')).toMatchObject({ title: 'From the file', conflicts: [] })
})

test('C6 W6 an invalid file is shown with its line, the last valid version is shown, and changes are refused', async () => {
  allowError(/status of 4\d\d/)
  const app = await startShop()
  const path = fileOf(app)
  await expect.poll(() => readFileSync(path, 'utf8')).toContain('title: Third')
  const page = await visit(app, '/audit')
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n  - [broken`)
  await page.goto(`${app.url}/work`)
  await page.getByText('The file of this project is invalid.').waitFor()
  await page.getByText(/work-index\.yaml, line \d+, column \d+/).waitFor()
  await page.getByRole('button', { name: 'Move STORY-1' }).click()
  await page.getByRole('menuitem', { name: 'Done' }).click()
  await page.getByText('Until then, reads return the last valid version').waitFor()
  await cardIn(page, 'Planned', 'STORY-1').waitFor()
  expect(readFileSync(path, 'utf8')).toContain('[broken')
})

test('C6 a viewer can read but not change anything', async () => {
  const app = await startShop()
  const { link } = await output<{ link: string }>(app, 'cowork_invite_person', {
    name: 'Ben',
    role: 'viewer',
  })
  const page = await visit(app, linkTo(link, '/work?story=STORY-1'))
  await detailOf(page).getByRole('heading', { name: 'First' }).waitFor()
  for (const name of [/^Move/, 'Edit', 'New story', 'Done', 'Comment'])
    expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0)
  await dragTo(page, cardIn(page, 'Planned', 'STORY-1'), column(page, 'In progress'))
  await cardIn(page, 'Planned', 'STORY-3').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focused(page)).toBe('STORY-1')
  expect(await storyOf(app, 'STORY-1')).toMatchObject({ status: 'planned', rev: 1 })
})

test('C6 C13 without a project the screen explains projects and creates one', async () => {
  const app = await start()
  const page = await visit(app, '/work')
  await page.getByText('No projects').waitFor()
  await page.getByRole('button', { name: 'New project' }).click()
  await page.getByLabel('Name').fill('web-shop')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('No sprints').waitFor()
  expect(place(page)).toBe('/work?project=web-shop')
  await page.getByRole('button', { name: 'New sprint' }).click()
  await page.getByLabel('Title').fill('Beginnings')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'New story' }).waitFor()
  await page.goto(`${app.url}/work?project=elsewhere`)
  await page.getByText('Project not found').waitFor()
})

test('C6 C11 on a phone the columns are stacked, and a story is opened, moved and closed', async () => {
  const app = await startShop()
  const context = await newContext({ viewport: { width: 375, height: 700 }, hasTouch: true })
  const page = await visit(app, linkTo(await createSignInLink(app), '/work'), { context })
  await cardIn(page, 'Planned', 'STORY-1').tap()
  await detailOf(page).getByRole('heading', { name: 'First' }).waitFor()
  expect(await column(page, 'Planned').isVisible()).toBe(false)
  await detailOf(page).getByRole('button', { name: 'Move' }).tap()
  await page.getByRole('menuitem', { name: 'Blocked' }).tap()
  await detailOf(page).getByText('Blocked', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Back to the board' }).tap()
  await cardIn(page, 'Blocked', 'STORY-1').waitFor()
})

test('C12 a board with an open story loads at most 200 kB of script', async () => {
  const app = await startShop()
  const context = await newContext()
  const sizes: Promise<number>[] = []
  context.on('requestfinished', (request) => {
    if (request.url().endsWith('.js'))
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  const page = await visit(app, '/work?story=STORY-1', { context })
  await detailOf(page).getByText('Added shop/STORY-1').waitFor()
  const sum = (await Promise.all(sizes)).reduce((total, size) => total + size, 0)
  expect(sum).toBeLessThanOrEqual(200_000)
  expect(sum, 'the measured sizes are plausible').toBeGreaterThan(50_000)
})

test('C11 the Work screens have no serious accessibility issue and fit a phone', async () => {
  const app = await start()
  const { token } = await output<{ token: string }>(app, 'cowork_add_agent', { id: 'codex' })
  await playWork(app, token)
  const page = await visit(app, '/work')
  const faults: string[] = []
  const check = async (name: string, path: string, there: string) => {
    await page.setViewportSize({ width: 1600, height: 800 })
    await page.goto(app.url + path)
    await page.getByText(there, { exact: true }).first().waitFor()
    faults.push(...(await findAxeIssues(page, name, [1600, 1024, 375])))
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${name} is ${width} px wide on a phone`)
  }
  await check('the board', '/work', 'Rank exact matches first')
  await check('a story', '/work?story=STORY-1', 'Good. Show me two of them.')
  await check('the backlog', '/work/backlog', 'Search in notes')
  await page.getByRole('button', { name: 'Search in notes' }).click()
  await page.getByText('No text').waitFor()
  faults.push(...(await findAxeIssues(page, 'an item of the backlog', [1600, 375])))
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Text').waitFor()
  faults.push(...(await findAxeIssues(page, 'the form of an item', [1600, 375])))
  await check('the conflicts', '/work/conflicts', 'No conflicts')
  await check('the search results', '/work?q=invoices', 'Round invoices to the cent')
  expect(faults).toEqual([])
})
