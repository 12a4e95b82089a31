import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { getApproval, findInboxRow, asking, opened, getStatus, getTrust } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { readLedger, output, useBrowser } from './browser.ts'

const { start, visit, allowError } = useBrowser()

type Agent = Awaited<ReturnType<typeof asking>>
type Given = { readonly handoff_id: string }

async function handOver(agent: Agent, more: Record<string, unknown> = {}): Promise<string> {
  const { output: made } = await agent.call<Given>('cowork_handoff', {
    domain: 'crm.deals',
    reason: 'Contract wording differs between two versions',
    confidence: 0.4,
    attempted_actions: ['Compared both versions', { step: 'asked', whom: 'account team' }],
    context: { deal: 'deal_20817', clause: '7.2' },
    ...more,
  })
  expect(made.handoff_id).toBeTypeOf('string')
  return made.handoff_id
}

type Back = { readonly pending_handoffs: readonly { handoff_id: string; instructions: string }[] }
const handedBack = async (agent: Agent, ack: string[] = []) =>
  (await agent.call<Back>('cowork_check_handoff', { ack })).output.pending_handoffs

const resolved = async (app: TestApp) =>
  (await readLedger(app, '&type=handoff.resolved')).entries.length

const dialogOf = (page: Page) => page.getByRole('dialog')

test('C2 H1 H5 a handoff shows attempts, context and recent activity', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  await sales.call('cowork_log', {
    domain: 'crm.deals',
    action: 'summarise_call',
    target: 'deal_20817',
  })
  await handOver(sales)
  const page = await visit(app, '/inbox')
  await page.getByRole('link', { name: 'Handoffs 1' }).waitFor()
  const row = findInboxRow(page, 'Contract wording')
  for (const text of ['escalate 0.72', 'Blocked', 'confidence 40%'])
    await row.getByText(text).waitFor()
  await row.click()
  const item = await opened(page)
  await item.getByText('the agent cannot or may not continue').waitFor()
  const tried = item.getByRole('listitem')
  await tried.filter({ hasText: 'Compared both versions' }).waitFor()
  await item.getByRole('group', { name: 'Attempt 2' }).getByText('whom: "account team"').waitFor()
  await item.getByRole('group', { name: 'Context' }).getByText('clause: "7.2"').waitFor()
  await item.getByRole('link', { name: /summarise_call deal_20817/ }).click()
  await page.getByRole('heading', { name: 'Executed summarise_call' }).waitFor()
})

test('C2 H2 the A key resolves a handoff and opens the next item', async () => {
  const app = await start()
  const sales = await asking(app)
  const next = await sales.propose('deal_1', { note: 1 })
  const id = await handOver(sales, { handoff_mode: 'takeover' })
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.getByText('Takeover requested').first().waitFor()
  await page.keyboard.press('d')
  await dialogOf(page).getByRole('heading', { name: 'Resolve' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('a')
  await dialogOf(page).getByLabel('Resolution').fill('Signed the second version')
  await dialogOf(page).getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('Resolved.', { exact: true }).waitFor()
  await page.waitForURL(`**/inbox/${next}`)
  expect(await getStatus(app, id)).toBe('approved')
  expect(await resolved(app)).toBe(1)
  expect(await handedBack(sales)).toEqual([])

  await page.goto(`${app.url}/inbox/${id}`)
  await page.getByText(/^Resolved by you/).waitFor()
  const thread = page.getByRole('region', { name: 'Item' })
  await thread.getByText('Resolved', { exact: true }).waitFor()
  expect(await thread.getByText('Signed the second version').count()).toBeGreaterThan(0)
  await page.goto(`${app.url}/inbox?view=decided&kind=handoff`)
  await page
    .getByRole('list', { name: 'Decided, newest first' })
    .getByText('Resolved', { exact: true })
    .waitFor()
})

test('C2 H2 H3 the R key hands back with instructions, which the agent acknowledges', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await handOver(sales, { handoff_mode: 'review' })
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.keyboard.press('r')
  const dialog = dialogOf(page)
  await dialog.getByRole('heading', { name: 'Resolve and hand back' }).waitFor()
  const send = dialog.getByRole('button', { name: 'Resolve and hand back' })
  await dialog.getByLabel('Resolution').fill('Legal says the second')
  expect(await send.isDisabled()).toBe(true)
  await dialog.getByLabel('Instructions for sales-agent').fill('Use final_b and go on')
  await send.click()
  await page.getByText('Resolved and handed back.').waitFor()
  expect(await handedBack(sales)).toMatchObject([
    { handoff_id: id, instructions: 'Use final_b and go on' },
  ])
  await page.goto(`${app.url}/inbox/${id}`)
  await page.getByText('Instructions: Use final_b and go on').waitFor()
  expect(await handedBack(sales, [id])).toEqual([])
  await page.getByText(', acknowledged by the agent').waitFor()
})

test('C2 H6 earlier handoffs and resolutions form one thread', async () => {
  const app = await start()
  const sales = await asking(app)
  const first = await handOver(sales)
  await output(app, 'cowork_resolve_handoff', {
    handoff_id: first,
    resolution: 'Take the second',
    instructions: 'Ask again if it is unsigned',
  })
  const second = await handOver(sales, { reason: 'It is unsigned', parent_handoff_id: first })
  const page = await visit(app, `/inbox/${second}`)
  const item = await opened(page)
  for (const text of ['Contract wording differs', 'Take the second', 'Ask again if it is unsigned'])
    await item.getByText(text).first().waitFor()
  await item.getByRole('link', { name: 'Open', exact: true }).click()
  await page.waitForURL(`**/inbox/${first}`)
  await page.getByText(/^Resolved by you/).waitFor()
})

test('C2 H6 the proposal of a handoff is decided in the same call', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.6)
  const good = await sales.propose('deal_1', { amount: 1 })
  const bad = await sales.propose('deal_2', { amount: 2 })
  const [one, two] = [
    await handOver(sales, { proposal_id: good, reason: 'Is one right?' }),
    await handOver(sales, { proposal_id: bad, reason: 'Is two right?' }),
  ]
  const page = await visit(app, `/inbox/${one}`)
  const item = await opened(page)
  await item.getByRole('link', { name: /^update on deal_1/ }).waitFor()
  await page.keyboard.press('a')
  const dialog = dialogOf(page)
  await dialog.getByLabel('Resolution').fill('Yes')
  await dialog.getByText('Approve', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('Resolved. Proposal: Approved. Trust 0.60 → 0.62.').waitFor()
  expect(await getStatus(app, good)).toBe('approved')

  await page.goto(`${app.url}/inbox/${two}`)
  await opened(page)
  await page.keyboard.press('a')
  await dialog.getByLabel('Resolution').fill('No, it is 20')
  await dialog.getByText('Reject', { exact: true }).click()
  expect(await dialog.getByRole('button', { name: 'Resolve' }).isDisabled()).toBe(true)
  await dialog.getByRole('radio', { name: /^The agent is wrong/ }).check()
  await dialog.getByText('0.62 → 0.54').waitFor()
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText(/Proposal: Rejected/).waitFor()
  expect((await getApproval(app, bad)).status).toBe('rejected')
  expect(await getTrust(app)).toBe(0.54)
  expect(await resolved(app)).toBe(2)
})

test('C2 H6 if the proposal was decided elsewhere, the handoff stays pending with an error', async () => {
  allowError(/status of 409/)
  const app = await start()
  const sales = await asking(app)
  const proposal = await sales.propose('deal_1', { amount: 1 })
  const id = await handOver(sales, { proposal_id: proposal })
  const page = await visit(app, `/inbox/${id}`, { isCaught: true })
  await opened(page)
  await page.keyboard.press('a')
  const dialog = dialogOf(page)
  await dialog.getByLabel('Resolution').fill('Yes')
  await dialog.getByText('Approve', { exact: true }).click()
  await page.route('**/cowork_resolve_handoff/**', async (route) => {
    await output(app, 'cowork_approve', { proposal_id: proposal })
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await dialog.getByText(/already decided/).waitFor()
  await page.unroute('**/cowork_resolve_handoff/**')
  expect(await getStatus(app, id)).toBe('pending')
  // The proposal is no longer offered, and the handoff can be resolved without it.
  await dialog.getByText('Pending proposal').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('Resolved.', { exact: true }).waitFor()
  expect(await getStatus(app, id)).toBe('approved')
})

test('C2 a failed hand back and a handoff resolved by others are reported', async () => {
  allowError(/status of 409/)
  const app = await start()
  const sales = await asking(app)
  const [one, two] = [await handOver(sales), await handOver(sales, { reason: 'Another' })]
  const page = await visit(app, `/inbox/${two}`, { isCaught: true })
  await opened(page)
  await page.route('**/cowork_resolve_handoff/**', async (route) => {
    await output(app, 'cowork_resolve_handoff', { handoff_id: two, resolution: 'Done' })
    await route.continue()
  })
  await page.keyboard.press('a')
  await dialogOf(page).getByLabel('Resolution').fill('Mine')
  await dialogOf(page).getByRole('button', { name: 'Resolve' }).click()
  await page.getByText(/^Resolved by .* s ago\.$/).waitFor()
  await page.unroute('**/cowork_resolve_handoff/**')
  await dialogOf(page).waitFor({ state: 'detached' })

  await output(app, 'cowork_revoke_agent', { id: 'sales-agent' })
  await page.goto(`${app.url}/inbox/${one}`)
  await opened(page)
  await page.keyboard.press('r')
  await dialogOf(page).getByLabel('Resolution').fill('Gone')
  await dialogOf(page).getByLabel('Instructions for sales-agent').fill('Go on')
  await dialogOf(page).getByRole('button', { name: 'Resolve and hand back' }).click()
  await page.getByText(/sales-agent is revoked and cannot read instructions/).waitFor()
})

test('C10 C2 a new handoff appears within 1 s', async () => {
  const app = await start()
  const sales = await asking(app)
  const page = await visit(app, '/inbox')
  await page.getByText('Inbox is empty').waitFor()
  await page.evaluate(`new MutationObserver(() => {
    if (document.body.textContent.includes('Contract wording')) window.shownAt ??= Date.now()
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
  await handOver(sales)
  await findInboxRow(page, 'Contract wording').waitFor()
  const made = (await readLedger(app, '&type=handoff.created')).entries.at(-1)
  expect((await page.evaluate<number>('window.shownAt')) - (made?.at ?? 0)).toBeLessThan(1000)
})

test('C11 a handoff and its dialog pass axe in light, dark and on a phone', async () => {
  const app = await start()
  const sales = await asking(app)
  const first = await handOver(sales)
  await output(app, 'cowork_resolve_handoff', {
    handoff_id: first,
    resolution: 'Take the second',
    instructions: 'Ask again',
  })
  const proposal = await sales.propose('deal_1', { amount: 1 })
  const id = await handOver(sales, { parent_handoff_id: first, proposal_id: proposal })
  const page = await visit(app, `/inbox/${id}`)
  const faults: string[] = []
  const check = async (name: string) => {
    faults.push(...(await findAxeIssues(page, name, [1440, 375])))
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${name} is ${width} px wide on a phone`)
    await page.setViewportSize({ width: 1440, height: 800 })
  }
  await opened(page)
  await page.getByText('Related proposal').waitFor()
  await check('a handoff')
  await page.keyboard.press('r')
  await dialogOf(page).getByText('Reject', { exact: true }).click()
  await dialogOf(page)
    .getByRole('radio', { name: /^Edge case/ })
    .check()
  await check('its answer')
  expect(faults).toEqual([])
})
