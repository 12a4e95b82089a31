import { symlinkSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { findInboxRow, asking, opened, getStatus, findPendingList } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { output, useBrowser } from './browser.ts'
import { useHomes } from './home.ts'

const { start, visit } = useBrowser()
const newHome = useHomes()

type Agent = Awaited<ReturnType<typeof asking>>
type Asked = { readonly status: string; readonly request_id: string; readonly grant_id?: string }

async function request(agent: Agent, path: string, permission = 'read'): Promise<Asked> {
  const reason = 'To analyse the simulation results'
  const { output: answer, error } = await agent.call<Asked>('request_grant', {
    path,
    permission,
    reason,
  })
  expect(error).toBeUndefined()
  return answer
}

type Grant = {
  readonly path: string
  readonly kind: string
  readonly permission: string
  readonly scope: string
  readonly expires_at: string | null
}
const grantsOf = async (app: TestApp) =>
  (await output<{ grants: Grant[] }>(app, 'list_grants')).grants

const home = () =>
  newHome({
    'Work/laser/results.csv': 'a,b',
    'Work/laser/notes.txt': 'x',
    'Work/laser/credentials.json': '{}',
  })

async function scene() {
  const place = home()
  const app = await place.during(() => start())
  return { place, app, agent: await asking(app, 'codex') }
}

/** Whether the end of the element with this title is visible. */
const seenToTheEnd = (page: Page, title: string) =>
  page.evaluate<boolean>(`(() => {
    const element = document.querySelector('[title=${JSON.stringify(title)}]')
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    let last
    while (texts.nextNode()) last = texts.currentNode
    const range = document.createRange()
    range.setStart(last, last.length - 3)
    range.setEnd(last, last.length)
    const [end, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()]
    return end.left >= box.left && end.right <= box.right + 1
  })()`)

const labels = (page: Page) =>
  page
    .getByRole('list', { name: 'Access options' })
    .getByRole('button')
    .evaluateAll((buttons) => buttons.map((button) => button.firstElementChild?.textContent))

test('C2 GR3 an access request shows the reason, the contents and every choice', async () => {
  const { place, app, agent } = await scene()
  const path = place.at('Work/laser/results.csv')
  await request(agent, path)
  const page = await visit(app, '/inbox')
  await findInboxRow(page, 'Read ~/Work/laser/results.csv').click()
  const item = await opened(page)
  await item.getByRole('heading', { name: `AI wants to read files in: ${path}` }).waitFor()
  await item.getByText('the agent says').waitFor()
  await item.getByText('Reason: "To analyse the simulation results"').waitFor()
  expect(await labels(page)).toEqual([
    'Allow Once',
    'Allow This File',
    'Allow folder this session',
    'Allow until…',
    'Allow Folder',
    'Allow Folder (Read-Write)',
  ])
  for (const name of [/^Deny( D)?$/, 'Deny and don’t ask again'])
    await item.getByRole('button', { name }).waitFor()
  // No key or Enter triggers a wider choice.
  const focused = await page.evaluate<string>('document.activeElement.textContent')
  expect(focused).toContain('AI wants to read files in:')
  expect(await findAxeIssues(page, 'a request for access', [1280, 375])).toEqual([])
})

test('C2 a folder request shows the contents and sensitive names', async () => {
  const { place, app, agent } = await scene()
  const { request_id: id } = await request(agent, place.at('Work/laser'))
  const page = await visit(app, `/inbox/${id}`)
  const item = await opened(page)
  await item.getByText('3 files').waitFor()
  await item.getByRole('list', { name: 'Sample' }).getByText('results.csv').waitFor()
  const sensitive = item.getByRole('region', { name: 'Sensitive' })
  await sensitive.getByText('credentials.json').waitFor()
  expect(await labels(page)).not.toContain('Allow This File')
})

test('C2 a symbolic link shows its target', async () => {
  const { place, app, agent } = await scene()
  symlinkSync(place.at('Work/laser'), place.at('short'))
  const { request_id: id } = await request(agent, place.at('short'))
  const page = await visit(app, `/inbox/${id}`)
  const item = await opened(page)
  await item.getByText('Symbolic link to').waitFor()
  await item.getByText(place.at('Work/laser')).first().waitFor()
})

test('GR3 the approve key grants the narrowest access', async () => {
  const { place, app, agent } = await scene()
  const path = place.at('Work/laser/results.csv')
  const { request_id: id } = await request(agent, path)
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.getByRole('button', { name: /^Allow Once A$/ }).waitFor()
  await page.keyboard.press('a')
  await expect.poll(() => getStatus(app, id)).toBe('approved')
  expect(await grantsOf(app)).toMatchObject([
    { path, kind: 'file', permission: 'read', scope: 'session' },
  ])
  expect(await request(agent, path)).toMatchObject({ status: 'granted' })
  const other = await agent.call('read_file', { path: place.at('Work/laser/notes.txt') })
  expect(other.error).toMatchObject({ code: 'no_grant' })
})

test('GR3 each choice creates its grant', async () => {
  const { place, app, agent } = await scene()
  const page = await visit(app, '/inbox')
  const [file, folder] = [place.at('Work/laser/results.csv'), place.at('Work/laser')]
  const choices = {
    'Allow This File': { path: file, permission: 'read', scope: 'permanent' },
    'Allow folder this session': { path: folder, permission: 'read', scope: 'session' },
    'Allow Folder': { path: folder, permission: 'read', scope: 'permanent' },
    'Allow Folder (Read-Write)': { path: folder, permission: 'read-write', scope: 'permanent' },
  }
  for (const [label, made] of Object.entries(choices)) {
    const { request_id: id } = await request(agent, file)
    await page.goto(`${app.url}/inbox/${id}`)
    await opened(page)
    await page
      .getByRole('list', { name: 'Access options' })
      .getByText(label, { exact: true })
      .click()
    await expect.poll(() => getStatus(app, id)).toBe('approved')
    const grants = await grantsOf(app)
    expect(grants, label).toMatchObject([made])
    await output(app, 'revoke_grant', { grant_id: (grants[0] as unknown as { id: string }).id })
  }
})

test('C2 GR3 a choice reports the other requests that it answers', async () => {
  const { place, app, agent } = await scene()
  const names = ['results.csv', 'notes.txt', 'credentials.json']
  for (const name of names) await request(agent, place.at(`Work/laser/${name}`), 'read-write')
  await request(agent, place.at('Work/other.txt'))
  const { request_id: id } = await request(agent, place.at('Work/laser'), 'read-write')
  const page = await visit(app, '/inbox')
  const waiting = findPendingList(page)
  await waiting.getByRole('button', { name: /4 similar: Read and write in .*\/laser/ }).waitFor()
  await findInboxRow(page, '~/Work/other.txt').waitFor()
  await page.goto(`${app.url}/inbox/${id}`)
  const item = await opened(page)
  await item.getByText('Allow Folder (Read-Write)', { exact: true }).click()
  await page.getByText('Approved. Also applies to 3 more requests of this agent.').waitFor()
  // Answered requests are skipped.
  await page
    .getByRole('heading', { name: `AI wants to read files in: ${place.at('Work/other.txt')}` })
    .waitFor()
})

test('GR3 access until a time expires at that time', async () => {
  const { place, app, agent } = await scene()
  const { request_id: id } = await request(agent, place.at('Work/laser'), 'read-write')
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.getByRole('button', { name: /^Allow until…/ }).click()
  const until = page.getByRole('dialog').getByLabel('Until')
  await until.fill('2020-01-01T10:00')
  await page.getByText('Choose a time in the future.').waitFor()
  expect(await page.getByRole('dialog').getByRole('button', { name: 'Allow' }).isDisabled()).toBe(
    true,
  )
  await until.fill('2099-01-31T18:00')
  await page.getByRole('dialog').getByRole('button', { name: 'Allow' }).click()
  await expect.poll(() => getStatus(app, id)).toBe('approved')
  const [grant] = await grantsOf(app)
  expect(grant).toMatchObject({ permission: 'read-write' })
  expect(grant?.expires_at).toBe(new Date('2099-01-31T18:00').toISOString())
})

test.each([375, 1000])(
  'C2 C11 at %d px the full path of a request is visible beside the buttons',
  async (width) => {
    const name = `Work/laser/${'results-of-the-second-simulation-'.repeat(3)}.csv`
    const place = newHome({ [name]: 'a,b' })
    const app = await place.during(() => start())
    const { request_id: id } = await request(await asking(app, 'codex'), place.at(name))
    const page = await visit(app, `/inbox/${id}`)
    await page.setViewportSize({ width, height: 800 })
    const item = await opened(page)
    const hangsOut = await item.evaluate(
      (shown) =>
        Number(Reflect.get(shown, 'scrollWidth')) - Number(Reflect.get(shown, 'clientWidth')),
    )
    expect(hangsOut).toBe(0)
  },
)

test.each([375, 1440])(
  'C2 GR3 at %d px access request rows show the end of the path and the contents',
  async (width) => {
    const deep = 'Documents/Work/Projects of the year/laser-coating/simulations'
    const place = newHome({
      [`${deep}/first/a.csv`]: 'a',
      [`${deep}/first/b.csv`]: 'b',
      [`${deep}/first/credentials.json`]: '{}',
      [`${deep}/second/a.csv`]: 'a',
      [`${deep}/third/results.csv`]: 'a',
      [`${deep}/${'long-name-'.repeat(12)}end.csv`]: 'a',
    })
    const app = await place.during(() => start())
    // Requests of one agent would be grouped.
    const ends = ['first', 'second', 'third/results.csv', `${'long-name-'.repeat(12)}end.csv`]
    for (const [at, end] of ends.entries())
      await request(await asking(app, `agent-${at}`), place.at(`${deep}/${end}`), 'read-write')
    const page = await visit(app, '/inbox')
    await page.setViewportSize({ width, height: 800 })
    const row = (end: string) => findInboxRow(page, end)
    await row('/first').getByText('3 files', { exact: true }).waitFor()
    await row('/first').getByText('1 sensitive name').waitFor()
    await row('/second').getByText('1 file', { exact: true }).waitFor()
    for (const end of ends) {
      const path = place.at(`${deep}/${end}`)
      expect(await row(end).getByTitle(path).innerText()).toContain('Read and write')
      expect(await seenToTheEnd(page, path), end).toBe(true)
    }
    expect(await findAxeIssues(page, 'requests for access', [width])).toEqual([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
  },
)

test('C2 GR3 a folder choice states that it covers all files, now and later', async () => {
  const { place, app, agent } = await scene()
  const { request_id: id } = await request(agent, place.at('Work/laser/results.csv'))
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  const choice = (label: string) =>
    page
      .getByRole('list', { name: 'Access options' })
      .getByRole('button')
      .filter({ has: page.getByText(label, { exact: true }) })
  const all = `everything in ${place.at('Work/laser')}, now and later,`
  await choice('Allow Folder').getByText(`Reads ${all} until you revoke it`).waitFor()
  await choice('Allow Folder (Read-Write)').getByText(`Reads and changes ${all}`).waitFor()
  await choice('Allow This File')
    .getByText(`Reads ${place.at('Work/laser/results.csv')}`)
    .waitFor()
  // The folder also contains credentials.json and notes.txt, which were not inspected.
  await page.getByText('Other files in the folder were not inspected.').waitFor()
})

test('C11 on a phone the pending count covers no other icon', async () => {
  const { place, app, agent } = await scene()
  for (let at = 0; at < 12; at++) await request(agent, place.at(`Work/laser/${at}`))
  const page = await visit(app, '/inbox')
  await page.setViewportSize({ width: 375, height: 800 })
  const inbox = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Inbox/ })
  const count = inbox.getByText('12', { exact: true }).filter({ visible: true })
  const [badge, cell] = [await count.boundingBox(), await inbox.boundingBox()]
  if (!badge || !cell) throw new Error('nothing is drawn')
  expect(badge.x).toBeGreaterThan(cell.x + cell.width / 2)
  expect(badge.x + badge.width).toBeLessThanOrEqual(cell.x + cell.width)
})

test('GR3 a permanent denial refuses requests until it is revoked under Grants', async () => {
  const { place, app, agent } = await scene()
  const path = place.at('Work/laser')
  const { request_id: id } = await request(agent, path)
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.getByRole('button', { name: 'Deny and don’t ask again' }).click()
  await expect.poll(() => getStatus(app, id)).toBe('rejected')
  expect(await request(agent, path)).toMatchObject({ status: 'denied' })
  await page.goto(`${app.url}/files/grants`)
  const grants = page.getByRole('list', { name: 'Grants' })
  await grants.getByText('Blocked', { exact: true }).waitFor()
  await grants.getByRole('button', { name: `Revoke ${path}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Allow requests' }).click()
  await page.getByText('No grants').waitFor()
})

test('GR3 a denial with a reason reaches the agent and changes no trust', async () => {
  const { place, app, agent } = await scene()
  const { request_id: id } = await request(agent, place.at('Work'))
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.getByRole('button', { name: /^Deny( D)?$/ }).waitFor()
  await page.keyboard.press('d')
  await page.getByRole('dialog').getByLabel('Reason').fill('Not that folder')
  await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
  await expect.poll(() => getStatus(app, id)).toBe('rejected')
  expect(await request(agent, place.at('Work'))).toMatchObject({ status: 'denied' })
  expect(await grantsOf(app)).toEqual([])
})
