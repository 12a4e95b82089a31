import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createFixture } from '../conformance/conformance.fixture.ts'
import {
  findInboxRow,
  asking,
  mailTool,
  opened,
  getStatus,
  getTrust,
  findPendingList,
} from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { isLive, readLedger, createSignInLink, linkTo, output, useBrowser } from './browser.ts'

const { start, restart, newContext, visit, allowError } = useBrowser()

const place = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.closest("[data-row]")?.dataset.row ?? ""')

test('C2 a row shows agent, request, trust and risk, and chips count the kinds', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  await sales.propose('deal_12345', { deal_stage: 'closed_won' })
  const page = await visit(app, '/')
  await page.waitForURL('**/inbox')
  const row = findInboxRow(page, 'deal_12345')
  for (const text of [
    'sales-agent · crm.deals',
    'suggest 0.72',
    'high-risk field',
    'confidence 92%',
  ])
    await row.getByText(text).waitFor()
  await page.getByRole('link', { name: 'All 1' }).waitFor()
  await page.getByRole('link', { name: 'Proposals 1' }).click()
  await expect.poll(() => place(page)).toBe('/inbox?kind=proposal')
  await page.getByRole('link', { name: /^Inbox 1 pending, 1 urgent/ }).waitFor()
})

test('C2 the inbox works by keyboard: navigate, open, approve and continue', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  const [one, two, three] = [
    await sales.propose('deal_1', { amount: 1 }),
    await sales.propose('deal_2', { stage: 2 }),
    await sales.propose('deal_3', { note: 3 }),
  ]
  const page = await visit(app, '/inbox')
  await findInboxRow(page, 'deal_3').waitFor()
  await page.keyboard.press('j')
  await expect.poll(() => focused(page)).toBe(`item ${three}`)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/inbox/${two}`)
  await (await opened(page)).getByText('Approving adds 0.02: 0.72 → 0.74').waitFor()
  await page.keyboard.press('a')
  await page.getByText('Approved. Trust 0.72 → 0.74.').waitFor()
  expect(await getStatus(app, two)).toBe('approved')
  await page.waitForURL(`**/inbox/${one}`)
  await findInboxRow(page, 'deal_2').waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.waitForURL('**/inbox')

  await page.keyboard.press('/')
  await page.keyboard.type('deal_3')
  await findInboxRow(page, 'deal_1').waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  expect(place(page)).toBe('/inbox?q=deal_3')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Edit and approve').waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${app.url}/inbox?view=decided`)
  const decided = page.getByRole('list', { name: 'Decided, newest first' })
  await decided.getByText('Approved', { exact: true }).waitFor()
  await decided.getByText('by you').waitFor()
})

test('C2 a key pressed before the session is loaded still decides', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 1 })
  const context = await newContext()
  const known = Promise.withResolvers<void>()
  await context.route('**/api/session', (route) => known.promise.then(() => route.continue()))
  const page = await visit(app, '/inbox', { context })
  await findInboxRow(page, 'deal_1').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('a')
  await expect.poll(() => getStatus(app, id)).toBe('approved')
  known.resolve()
})

test('C2 similar items are one group, which is expanded before a decision', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  const ids = []
  for (const deal of [1, 2, 3, 4]) ids.push(await sales.propose(`deal_${deal}`, { amount: 10 }))
  const page = await visit(app, '/inbox')
  const group = findPendingList(page).getByRole('button', { name: /4 similar/ })
  await group.getByText('…').waitFor()
  await group.focus()
  await page.keyboard.press('a')
  await page.getByText('4 selected').waitFor()
  await findInboxRow(page, 'deal_4').waitFor()
  expect(await getStatus(app, ids[0] ?? '')).toBe('pending')
  await page.keyboard.press('Escape')
  await page.getByText('4 selected').waitFor({ state: 'detached' })
})

test('C2 B2 a bulk decision is deferred, undone and repeated', async () => {
  const app = await start({ 'approvals.undo_hold': '4s' })
  const sales = await asking(app)
  await sales.trust(0.6)
  const ids = [
    await sales.propose('deal_1', { amount: 1 }),
    await sales.propose('deal_2', { stage: 2 }),
    await sales.propose('deal_3', { note: 3 }),
  ]
  const page = await visit(app, '/inbox')
  await findInboxRow(page, 'deal_3').waitFor()
  const approveAll = async () => {
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('Shift+J')
    await page.keyboard.press('Shift+J')
    await page.getByText('3 selected').waitFor()
    await page.keyboard.press('a')
    await page.getByText('3 approved', { exact: true }).waitFor()
  }
  await approveAll()
  await findInboxRow(page, 'deal_1')
    .getByText(/Undo window: \d s/)
    .waitFor()
  await page.keyboard.press('z')
  await page.getByText('Undone.').waitFor()
  await findInboxRow(page, /Undo window/).waitFor({ state: 'detached' })
  expect(await Promise.all(ids.map((id) => getStatus(app, id)))).toEqual(Array(3).fill('pending'))

  await page.reload()
  await findInboxRow(page, 'deal_3').waitFor()
  await approveAll()
  await page.getByText('Inbox is empty').first().waitFor()
  expect(await Promise.all(ids.map((id) => getStatus(app, id)))).toEqual(Array(3).fill('approved'))
  expect(await getTrust(app)).toBe(0.66)
})

test('C2 a bulk decision names the items that others decided', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.6)
  const taken = await sales.propose('deal_1', { amount: 1 })
  await sales.propose('deal_2', { stage: 2 })
  const page = await visit(app, '/inbox', { isCaught: true })
  await findInboxRow(page, 'deal_2').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+J')
  await page.route('**/cowork_decide/**', async (route) => {
    await output(app, 'cowork_approve', { proposal_id: taken })
    await route.continue()
  })
  await page.keyboard.press('a')
  await page.getByText('1 approved, 1 failed').waitFor()
  await page
    .getByRole('region', { name: 'Results' })
    .getByText(/Approved by you \d+ s ago/)
    .waitFor()
})

test('C10 C2 a new request appears within 1 s without moving the list', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.propose('deal_1', { amount: 1 })
  const page = await visit(app, '/inbox')
  await findInboxRow(page, 'deal_1').waitFor()
  await page.evaluate(`new MutationObserver(() => {
    if (document.querySelector('ol')?.textContent.includes('deal_2')) window.shownAt ??= Date.now()
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
  await sales.propose('deal_2', { stage: 2 })
  await findInboxRow(page, 'deal_2').waitFor()
  const made = (await readLedger(app, '&type=proposal.created')).entries.at(-1)
  expect((await page.evaluate<number>('window.shownAt')) - (made?.at ?? 0)).toBeLessThan(1000)

  const top = async () => (await findInboxRow(page, 'deal_1').boundingBox())?.y
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const before = await top()
  await sales.propose('deal_3', { note: 3 })
  const pill = page.getByRole('button', { name: '1 new' })
  await pill.waitFor()
  expect(await top()).toBe(before)
  await pill.click()
  await findInboxRow(page, 'deal_3').waitFor()
  await pill.waitFor({ state: 'detached' })
})

test('C10 A5 the second of two people sees who decided an item and when', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 1 })
  const { link } = await output<{ link: string }>(app, 'cowork_invite_person', {
    name: 'Ben Ruiz',
    role: 'reviewer',
  })
  const ben = await (await newContext()).newPage()
  await ben.goto(linkTo(link, `/inbox/${id}`))
  await isLive(ben)
  const ana = await visit(app, `/inbox/${id}`, { isCaught: true })
  await opened(ana)
  await opened(ben)
  await ben.keyboard.press('a')
  await ana
    .getByText(/Approved by Ben Ruiz \d+ s ago/)
    .first()
    .waitFor()
  expect(await ana.getByRole('button', { name: /^Approve/ }).count()).toBe(0)

  // Both decide at the same time: one decision is recorded, and the second person is informed.
  const second = await sales.propose('deal_2', { stage: 2 })
  for (const page of [ana, ben]) {
    await page.goto(`${app.url}/inbox/${second}`)
    await opened(page)
  }
  await ana.route('**/cowork_decide/**', async (route) => {
    await ben.keyboard.press('a')
    await ben.getByText(/^Approved\. Trust/).waitFor()
    await route.continue()
  })
  await ana.keyboard.press('a')
  await ana.getByText(/Approved by Ben Ruiz \d+ s ago\./).waitFor()
  const decided = (await readLedger(app, '&type=approval.approved')).entries
  expect(decided).toHaveLength(2)
})

test('C2 snoozed items are hidden in this browser only and return', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 1 })
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.keyboard.press('s')
  await page.getByRole('button', { name: /1 hour/ }).press('Enter')
  await page.getByText('Inbox is empty').first().waitFor()
  await page.getByRole('link', { name: 'Snoozed 1' }).click()
  await page.getByRole('list', { name: 'Snoozed, newest first' }).getByRole('link').click()
  await opened(page)
  await page.keyboard.press('s')
  await page.getByRole('button', { name: 'End snooze' }).click()
  await page.goto(`${app.url}/inbox`)
  await findInboxRow(page, 'deal_1').waitFor()
  expect(await getStatus(app, id)).toBe('pending')
})

test('C12 ten thousand items render few rows and scroll to the end', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_first', { amount: 1 })
  const db = new DatabaseSync(join(app.state, 'cowork.db'))
  const names = db
    .prepare(`SELECT name FROM pragma_table_info('approval')`)
    .all()
    .map(({ name }) => String(name))
  const other: Record<string, string> = {
    id: `'0000' || printf('%05d', n) || substr(id, 10)`,
    similar: `'group ' || n`,
    target: `'deal_' || n`,
    summary: `'Update deal_' || n || '.'`,
    created_at: 'created_at - 1000000 + n',
  }
  const values = names.map((name) => other[name] ?? name)
  db.exec(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9999)
    INSERT INTO approval (${names.join(', ')}) SELECT ${values.join(', ')} FROM approval, numbers WHERE id = '${id}'`)
  db.close()

  const page = await visit(app, '/inbox')
  await page.getByRole('link', { name: 'All 10,000' }).waitFor()
  await findInboxRow(page, 'deal_first').waitFor()
  const rows = findPendingList(page).getByRole('listitem')
  await expect.poll(() => rows.first().getAttribute('aria-setsize')).toBe('10000')
  const scrolled = await page.evaluate<number>(`new Promise((resolve) => {
    const list = document.querySelector('ol[aria-label^="Pending"]').parentElement
    const most = { rows: 0 }
    const step = () => {
      list.scrollTop += 40_000
      most.rows = Math.max(most.rows, list.querySelectorAll('li').length)
      if (list.scrollTop + list.clientHeight < list.scrollHeight - 1) requestAnimationFrame(step)
      else requestAnimationFrame(() => resolve(most.rows))
    }
    step()
  })`)
  expect(scrolled).toBeLessThan(60)
  await findInboxRow(page, 'deal_1.').waitFor()

  await page.keyboard.press('/')
  await page.keyboard.type('deal_7777.')
  await expect.poll(() => rows.count()).toBe(1)
  await findInboxRow(page, 'deal_7777.').waitFor()
})

test('C11 the inbox, its items and dialogs pass axe in light, dark and on a phone', async () => {
  const policies = [{ id: 'writes', description: 'All writes', rules: [] }]
  const mappings = [{ agent_id: '*', domain: 'crm.deals', policy_id: 'writes' }]
  const fixture = { ...createFixture(), tools: [mailTool] }
  const app = await start({ policies, mappings }, { fixture })
  const sales = await asking(app)
  await sales.trust(0.72)
  for (const deal of [1, 2, 3]) await sales.propose(`deal_${deal}`, { amount: deal })
  const id = await sales.propose('deal_12345', { deal_stage: 'closed_won', amount: 48_000 })
  await sales.call('mail_send', { to: 'ops@example.com', body: 'All\ndone' })
  await sales.call('cowork_propose', {
    domain: 'crm.contacts',
    action: 'update',
    target: 'c_1',
    proposed_change: { phone: '1' },
    confidence: 0.9,
    reasoning: 'New number.',
  })
  const page = await visit(app, '/inbox')
  const faults: string[] = []
  const check = async (name: string) => {
    faults.push(...(await findAxeIssues(page, name, [375, 1440])))
    await page.setViewportSize({ width: 375, height: 800 })
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${name} is ${width} px wide on a phone`)
    await page.setViewportSize({ width: 1440, height: 800 })
  }
  await findInboxRow(page, 'deal_12345').waitFor()
  await check('the list')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('1 selected').waitFor()
  await check('a selection')
  await page.goto(`${app.url}/inbox/${id}`)
  await opened(page)
  await check('a proposal')
  for (const [key, name] of [
    ['d', 'Reject'],
    ['e', 'Edit and approve'],
    ['r', 'Hand back'],
    ['s', 'Snooze'],
  ] as const) {
    await page.keyboard.press(key)
    await page.getByRole('dialog', { name }).waitFor()
    await check(name)
    await page.keyboard.press('Escape')
  }
  await findInboxRow(page, 'crm.contacts').click()
  await page.getByLabel('Policy', { exact: true }).waitFor()
  await check('a permission')
  await findInboxRow(page, 'ops@example.com').click()
  await page.getByRole('button', { name: 'Allow…' }).click()
  await page.getByRole('dialog').getByLabel('Until…').check()
  await check('Allow')
  await page.keyboard.press('Escape')
  await page.goto(`${app.url}/inbox/${id}`)
  await opened(page)
  await page.keyboard.press('a')
  await page.getByRole('button', { name: /^Undo/ }).first().waitFor()
  await check('a decision that is held')
  expect(faults).toEqual([])
})

test('C10 A7 an open inbox misses nothing during a daemon restart', async () => {
  allowError(/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/)
  let app = await start()
  const sales = await asking(app)
  await sales.propose('deal_1', { amount: 1 })
  const page = await visit(app, '/inbox')
  await findInboxRow(page, 'deal_1').waitFor()
  await page.evaluate('window.isStill = true')
  app = await restart(app, () => page.getByText(/^(Reconnecting|Offline)$/).waitFor())
  const again = await asking(app, 'support-agent', 'support')
  await again.propose('ticket_1', { priority: 'high' })
  await findInboxRow(page, 'ticket_1').waitFor()
  await findInboxRow(page, 'deal_1').waitFor()
  expect(await page.evaluate('window.isStill'), 'nothing was loaded again').toBe(true)
})

test('C11 on a phone an item is a separate page, and a decision returns to the list', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 1 })
  await sales.propose('deal_2', { stage: 2 })
  const context = await newContext({ viewport: { width: 375, height: 700 }, hasTouch: true })
  const page = await visit(app, '/inbox', { context })
  await findInboxRow(page, 'deal_1').tap()
  await opened(page)
  expect(await findPendingList(page).isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Back to the list' }).tap()
  await findInboxRow(page, 'deal_1').tap()
  await page.getByRole('button', { name: 'Approve', exact: true }).tap()
  await findInboxRow(page, 'deal_2').waitFor()
  expect(place(page)).toBe('/inbox')
  expect(await getStatus(app, id)).toBe('approved')
})

test('C1 a link to an item opens it after signing in', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 1 })
  const page = await (await newContext()).newPage()
  await page.goto(`${app.url}/inbox/${id}`)
  await page.getByText('After sign-in:').waitFor()
  await page.goto(linkTo(await createSignInLink(app), `/inbox/${id}`))
  await opened(page)
})
