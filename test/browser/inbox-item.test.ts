import { expect, test } from 'vitest'
import { createFixture } from '../conformance/conformance.fixture.ts'
import {
  getApproval,
  findInboxRow,
  asking,
  mailTool,
  opened,
  getStatus,
  getTrust,
} from './approvals.ts'
import { addAuthenticator, isLive, readLedger, linkTo, output, useBrowser } from './browser.ts'

const { allowError, start, newContext, visit } = useBrowser()

const policies = [
  {
    id: 'crm-write-policy',
    description: 'Writes to the CRM',
    rules: [
      { id: 'stage', field: 'deal_stage', constraint: 'high_risk', reason: 'It books revenue' },
      { id: 'two', field: 'discount', constraint: 'high_risk', approvers: 2 },
    ],
  },
]
const mappings = [{ agent_id: 'sales-agent', domain: 'crm.deals', policy_id: 'crm-write-policy' }]

test('A8 C2 an item shows why approval is required: rule, policy, trust against threshold', async () => {
  const app = await start({ policies, mappings })
  const sales = await asking(app)
  await sales.trust(0.72)
  const before = await sales.propose('deal_1', { deal_stage: 'negotiation', amount: 48_000 })
  await output(app, 'cowork_approve', { proposal_id: before })
  const id = await sales.propose('deal_1', { deal_stage: 'closed_won', amount: 48_000 })
  const page = await visit(app, `/inbox/${id}`)
  const item = await opened(page)
  const why = item.getByRole('region', { name: 'Why approval is required' })
  expect(await why.textContent()).toMatch(
    /^You are asked because deal_stage .*crm-write-policy.*0\.74; supervised from 0\.50, autonomous from 0\.80.*It books revenue/s,
  )
  const change = item.getByRole('group', { name: 'Change' })
  expect((await change.allInnerTexts()).join().replaceAll(/\s+/g, ' ')).toMatch(
    /− was deal_stage: "negotiation" \+ becomes deal_stage: "closed_won" amount: 48000/,
  )
  await item.getByText('You approved:').waitFor()
  await item.getByText('Show as table').click()
  await item.getByRole('columnheader', { name: 'Cause' }).waitFor()
  await item.getByRole('link', { name: 'All entries' }).click()
  await page.waitForURL(`**/audit?proposal=${id}`)
})

test('A13 text of an agent has no links, no Markdown and no hidden characters', async () => {
  const app = await start()
  const sales = await asking(app)
  const trick = '<b>paid</b> [pay](https://evil.example) **now** \u202Egnp.exe'
  const id = await sales.propose(`deal ${trick}`, { note: trick }, { reasoning: trick })
  const page = await visit(app, `/inbox/${id}`)
  const item = await opened(page)
  const says = item.locator('blockquote')
  expect(await says.textContent()).toBe(
    'The agent says<b>paid</b> [pay](https://evil.example) **now** U+202Egnp.exe',
  )
  expect(await page.locator('a[href*=evil], a[href^=javascript]').count()).toBe(0)
  const shown = await page.locator('body').evaluate((body) => body.innerText)
  expect(shown).not.toMatch(/\u202E/)
  expect(await page.title()).not.toMatch(/\u202E/)
})

test('B3 C2 an edited change is approved and reported to the agent', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 48_000, note: 'signed' })
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.keyboard.press('e')
  const dialog = page.getByRole('dialog', { name: 'Edit and approve' })
  const approve = dialog.getByRole('button', { name: 'Approve change' })
  expect(await approve.isDisabled()).toBe(true)
  await dialog.getByLabel('amount').fill('many')
  await dialog.getByText('amount must be a number.').waitFor()
  await dialog.getByLabel('amount').fill('45000')
  await dialog.getByText('amount: 45000').waitFor()
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(async () => (await getApproval(app, id)).status).toBe('approved')
  expect((await getApproval(app, id)).approved_change).toEqual({ amount: 45_000, note: 'signed' })
  const result = await sales.call<{ approved_change: unknown }>('cowork_check_approval', {
    proposal_id: id,
  })
  expect(result.output.approved_change).toEqual({ amount: 45_000, note: 'signed' })
  await page.goto(`${app.url}/inbox/${id}`)
  await page.getByText('Approved change', { exact: true }).waitFor()
})

test('C2 T4 B4 an override shows its trust change first and causes exactly that change', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  const id = await sales.propose('deal_1', { amount: 1 })
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.keyboard.press('d')
  const dialog = page.getByRole('dialog', { name: 'Reject' })
  const send = dialog.getByRole('button', { name: 'Reject' })
  expect(await send.isDisabled()).toBe(true)
  await page.keyboard.press('1')
  await dialog.getByText('0.72 → 0.64').waitFor()
  await dialog.getByText('High', { exact: true }).click()
  await dialog.getByText('0.72 → 0.60').waitFor()
  await dialog.getByText('(−0.12)').waitFor()
  await dialog.getByLabel('Correct action').fill('Ask the customer first')
  await send.click()
  await page.getByText('Rejected. Trust 0.72 → 0.60.').waitFor()
  expect(await getTrust(app)).toBe(0.6)
  expect(await getApproval(app, id)).toMatchObject({
    status: 'rejected',
    reason: 'Ask the customer first',
  })
})

test('C2 handing back sends the instructions to the agent', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 1 })
  const page = await visit(app, `/inbox/${id}`)
  await opened(page)
  await page.keyboard.press('r')
  const dialog = page.getByRole('dialog', { name: 'Hand back' })
  await dialog.getByText('missing context').waitFor()
  await dialog.getByText('0.30 → 0.27').waitFor()
  await dialog.getByLabel('Instructions for sales-agent').fill('Use the list price')
  await dialog.getByRole('button', { name: 'Hand back' }).click()
  await dialog.waitFor({ state: 'detached' })
  const result = await sales.call<object>('cowork_check_approval', { proposal_id: id })
  expect(result.output).toMatchObject({ status: 'rejected', feedback: 'Use the list price' })
})

test('Y8 C2 a call is approved once by default and allowed permanently by choice', async () => {
  const app = await start({}, { fixture: { ...createFixture(), tools: [mailTool] } })
  const codex = await asking(app, 'codex', 'mail')
  const send = (to: string) => codex.call<{ sent: boolean }>('mail_send', { to, body: 'All done' })
  await send('ops@example.com')
  const page = await visit(app, '/inbox')
  await findInboxRow(page, 'ops@example.com').click()
  const item = await opened(page)
  expect(await item.getByRole('group', { name: 'Arguments' }).innerText()).toContain(
    'body: "All done"',
  )
  await item.getByRole('button', { name: 'Allow…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Allow matching calls' })
  expect(await page.evaluate('document.activeElement.parentElement.textContent')).toBe('Once')
  await dialog.getByRole('button', { name: 'Approve once' }).waitFor()
  await dialog.getByLabel('Number of uses').check()
  await dialog.getByLabel('Uses', { exact: true }).fill('5')
  await dialog.getByLabel('to', { exact: true }).fill('*@example.com')
  await dialog.getByText('Also matches other calls.').waitFor()
  await dialog.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByText('Inbox is empty').waitFor()
  expect((await send('boss@example.com')).output).toEqual({ sent: true })
  expect((await send('boss@elsewhere.com')).output).toBeUndefined()

  await findInboxRow(page, 'boss@elsewhere.com').click()
  await opened(page)
  await page.keyboard.press('d')
  await page.getByRole('dialog', { name: 'Reject' }).getByLabel('Reason').fill('Not there')
  await page.getByRole('button', { name: 'Reject', exact: true }).last().click()
  await page.getByText('Inbox is empty').waitFor()
  const [granted] = (await output<{ permissions: object[] }>(app, 'cowork_list_permissions'))
    .permissions
  expect(granted).toMatchObject({ arguments: { to: '*@example.com' }, exact: ['body'] })
})

test('Y4 C2 a new domain is allowed under the policy that a person chooses', async () => {
  const app = await start({ policies, mappings })
  const sales = await asking(app)
  await sales.call('cowork_propose', {
    domain: 'crm.contacts',
    action: 'update',
    target: 'c_1',
    proposed_change: { phone: '1' },
    confidence: 0.9,
    reasoning: 'New number.',
  })
  const page = await visit(app, '/inbox')
  await findInboxRow(page, 'crm.contacts').click()
  const item = await opened(page)
  const allow = item.getByRole('button', { name: /^Allow in this domain/ })
  expect(await allow.isDisabled()).toBe(true)
  await item.getByLabel('Policy', { exact: true }).selectOption('crm-write-policy')
  await allow.click()
  await page.getByText('Inbox is empty').waitFor()
  expect(await sales.propose('c_1', { phone: '1' }, { domain: 'crm.contacts' })).toBeTypeOf(
    'string',
  )
})

test('A4 C2 with two required approvals, the first approver sees that one more is required', async () => {
  const app = await start({ policies, mappings, 'approvals.undo_hold': '1s' })
  const sales = await asking(app)
  await sales.trust(0.72)
  const id = await sales.propose('deal_1', { discount: 20 })
  const page = await visit(app, `/inbox/${id}`)
  const item = await opened(page)
  await item.getByText('0 of 2').waitFor()
  // An edit would change the content that the other person approves.
  expect(await page.getByRole('button', { name: /^Edit/ }).count()).toBe(0)
  const row = findInboxRow(page, 'deal_1')
  await row.getByText('0 of 2 approvals').waitFor()
  await page.keyboard.press('a')
  await row.getByText('1 of 2 approvals').waitFor()
  await page.goto(`${app.url}/inbox/${id}`)
  await page.getByText('You approved. 1 more approval required.').waitFor()
  expect(await getStatus(app, id)).toBe('pending')
})

test('I6 C2 approving high risk requires the passkey, other decisions do not', async () => {
  allowError(/status of 403/)
  const app = await start({ 'approvals.undo_hold': '1s' })
  const sales = await asking(app)
  const [risky, plain, another] = [
    await sales.propose('deal_1', { deal_stage: 'closed_won' }),
    await sales.propose('deal_2', { note: 'call back' }),
    await sales.propose('deal_3', { deal_stage: 'closed_won' }),
  ]
  const page = await visit(app, '/settings/passkeys')
  await addAuthenticator(page)
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Added the passkey.').waitFor()
  await page.goto(`${app.url}/inbox/${plain}`)
  await opened(page)
  await page.keyboard.press('a')
  await expect.poll(() => getStatus(app, plain)).toBe('approved')
  await page.goto(`${app.url}/inbox/${risky}`)
  await opened(page)
  await page.keyboard.press('a')
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await expect.poll(() => getStatus(app, risky)).toBe('approved')
  // The passkey confirmed only that decision.
  await page.goto(`${app.url}/inbox/${another}`)
  await opened(page)
  await page.keyboard.press('a')
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await expect.poll(() => getStatus(app, another)).toBe('approved')
  expect((await readLedger(app, '&type=passkey.asserted')).entries).toHaveLength(2)
})

test('I6 C2 a viewer can read and not decide', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 1 })
  const { link } = await output<{ link: string }>(app, 'cowork_invite_person', {
    name: 'Vera',
    role: 'viewer',
  })
  const page = await (await newContext()).newPage()
  await page.goto(linkTo(link, `/inbox/${id}`))
  await isLive(page)
  const item = await opened(page)
  await item.getByText('View only.').waitFor()
  await page.keyboard.press('a')
  await page.keyboard.press('d')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await getStatus(app, id)).toBe('pending')
})

const recordNotices = `
  window.notices = []
  window.Notification = class extends EventTarget {
    static permission = 'default'
    static requestPermission = async () => (window.Notification.permission = 'granted')
    constructor(title, options) { super(); Object.assign(this, options); window.notices.push({ title, ...options, notice: this }) }
    close() {}
  }
  Object.defineProperty(document, 'hidden', { get: () => window.isAway === true })`

test('A5 A13 a hidden page shows desktop notifications of urgent items once allowed', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  const context = await newContext()
  await context.addInitScript({ content: recordNotices })
  const page = await visit(app, '/settings/notifications', { context })
  const readNotifications = () =>
    page.evaluate<{ title: string }[]>('window.notices.map(({ title }) => ({ title }))')
  const away = (isAway: boolean) => page.evaluate(`window.isAway = ${isAway}`)
  await away(true)
  await sales.propose('deal_0', { deal_stage: 'won' })
  await page.getByRole('link', { name: /^Inbox 1/ }).waitFor()
  expect(await readNotifications(), 'off until it is switched on').toEqual([])
  await page.getByRole('radio', { name: 'On', exact: true }).check({ force: true })

  const id = await sales.propose('deal_1\u202E', { deal_stage: 'won' })
  await expect.poll(readNotifications).toHaveLength(1)
  expect((await readNotifications())[0]?.title).toMatch(/^sales-agent: .*deal_1U\+202E/)
  await sales.propose('deal_2', { amount: 1 })
  await page.getByRole('link', { name: /^Inbox 3/ }).waitFor()
  await away(false)
  await sales.propose('deal_3', { deal_stage: 'won' })
  await page.getByRole('link', { name: /^Inbox 4/ }).waitFor()
  expect(
    await readNotifications(),
    'nothing that can wait, nothing to somebody who looks',
  ).toHaveLength(1)
  await page.evaluate(`window.notices[0].notice.dispatchEvent(new Event('click'))`)
  await page.waitForURL(`**/inbox/${id}`)
})
