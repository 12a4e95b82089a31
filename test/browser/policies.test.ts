import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { asking } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { addAuthenticator, isLive, readLedger, linkTo, output, useBrowser } from './browser.ts'

const { start, newContext, visit, allowError } = useBrowser()

const policies = [
  {
    id: 'crm-write',
    description: 'Changes to deals',
    rules: [
      { field: 'deal_stage', constraint: 'high_risk' },
      { field: 'amount', constraint: 'value_range', min: 0, max: 500_000 },
      { field: 'commission', constraint: 'readonly', reason: 'Finance only.' },
      { field: 'region', constraint: 'enum', values: ['emea', 'apac'], severity: 'warn' },
      { field: 'discount', constraint: 'high_risk', approvers: 2 },
    ],
  },
  { id: 'free', mode: 'shadow', rules: [] },
]
const mappings = [{ agent_id: 'sales-*', domain: 'crm.*', policy_id: 'crm-write' }]

const place = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search
const editorOf = (page: Page) => page.getByLabel('Policies and mappings as YAML')
const resultOf = (page: Page) => page.getByRole('region', { name: 'Draft preview' })
const simulate = (page: Page) => page.getByRole('button', { name: /^Simulate/ })

async function rewrite(page: Page, from: string | RegExp, to: string) {
  const text = await editorOf(page).inputValue()
  await editorOf(page).fill(text.replace(from, to))
}

async function save(page: Page, note: string) {
  await page.getByRole('button', { name: 'Save…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save policies' })
  await dialog.getByLabel('Note').fill(note)
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  return dialog
}

type Listed = { version: string; body: { policies: { id: string; rules: { field: string }[] }[] } }
const listed = (app: Parameters<typeof output>[0]) => output<Listed>(app, 'cowork_list_policies')

test('C4 rules are sentences with their effect, and the matrix shows the mappings', async () => {
  const app = await start({ policies, mappings })
  const sales = await asking(app)
  await sales.propose('deal_1', { note: 1 })
  const codex = await asking(app, 'codex', 'code')
  await codex.trust(0.5)
  const page = await visit(app, '/audit')
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.waitForURL('**/policies')
  const set = page.getByRole('region', { name: 'crm-write' })
  const rules = set.getByRole('listitem')
  await rules.first().waitFor()
  expect((await rules.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    'Requires review deal_stage is high risk: every change requires review.',
    'Blocks amount must be a number from 0 to 500,000.',
    'Blocks commission is read-only. Finance only.',
    'Logs only region must be emea or apac.',
    'Requires review discount is high risk: every change requires review, and requires 2 different approvers.',
  ])
  await set.getByText('Applies to sales-* in crm.*.').waitFor()
  await page
    .getByRole('region', { name: 'free' })
    .getByText(/^Shadow/)
    .waitFor()
  await page.getByRole('region', { name: 'free' }).getByText('Not mapped to any agent.').waitFor()

  const table = page.getByRole('table')
  const cells = async (agent: string) => {
    const row = table.getByRole('row').filter({ has: page.getByRole('rowheader', { name: agent }) })
    return row.getByRole('cell').allInnerTexts()
  }
  expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
    'Agent',
    'code',
    'crm.deals',
    'crm.*',
  ])
  expect(await cells('codex')).toEqual(['Blocked', 'Blocked', 'Blocked'])
  expect(await cells('sales-agent')).toEqual(['Blocked', 'crm-write', 'crm-write'])
  expect(await cells('sales-*')).toEqual(['Blocked', 'crm-write', 'crm-write'])
})

test('C4 Y4 a domain allowed in the inbox appears in the matrix immediately', async () => {
  const app = await start({ policies, mappings })
  const codex = await asking(app, 'codex', 'code')
  const { output: blocked } = await codex.call<{ approval_id?: string }>('cowork_propose', {
    domain: 'code',
    action: 'update',
    target: 'a.ts',
    proposed_change: { line: 1 },
    confidence: 1,
    reasoning: 'x',
  })
  expect(blocked?.approval_id).toBeUndefined()
  const page = await visit(app, '/policies')
  await page.getByRole('region', { name: 'crm-write' }).waitFor()
  const waiting = await fetch(`${app.url}/api/approvals?kind=permission`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  const [item] = ((await waiting.json()) as { items: { id: string }[] }).items
  await output(app, 'cowork_decide', {
    approval_ids: [item?.id],
    decision: 'approve',
    policy_id: 'free',
  })
  await page.getByText('from the inbox').first().waitFor()
})

test('C4 the example policy can be simulated and saved', async () => {
  const app = await start()
  const page = await visit(app, '/policies')
  await page.getByText('No policies').waitFor()
  await page.getByRole('link', { name: 'Write a policy' }).click()
  await page.getByRole('button', { name: 'Insert example' }).click()
  expect(await page.getByRole('button', { name: 'Save…' }).isDisabled()).toBe(true)
  await editorOf(page).focus()
  await page.keyboard.press('Control+Enter')
  await resultOf(page).getByText('no records in this period').waitFor()
  const dialog = await save(page, 'To begin with')
  await page.getByText(/^Saved version [\da-f]{8}\.$/).waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect((await listed(app)).body.policies.map(({ id }) => id)).toEqual(['crm-write'])
  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByRole('region', { name: 'crm-write' }).waitFor()
  await page.getByText('“To begin with”').waitFor()
})

test('C4 syntax and policy errors show their line and move the caret there', async () => {
  allowError(/status of 4(00|09)/)
  const app = await start({ policies, mappings })
  const page = await visit(app, '/policies/edit')
  await editorOf(page).waitFor()
  await rewrite(page, 'id: free', 'id: "free')
  const problems = page.getByRole('region', { name: 'Problems' })
  await problems
    .getByText(/^line \d+:\d+$/)
    .first()
    .waitFor()
  expect(await simulate(page).isDisabled()).toBe(true)

  await rewrite(page, 'id: "free', 'id: free')
  await problems.waitFor({ state: 'detached' })
  await rewrite(page, 'constraint: value_range', 'constraint: value_rang')
  await simulate(page).click()
  const problem = problems.getByRole('button')
  await problem
    .getByText(/value_rang/)
    .first()
    .waitFor()
  const line = Number(/line (\d+)/.exec(await problem.first().innerText())?.[1])
  const lines = (await editorOf(page).inputValue()).split('\n')
  expect(lines[line - 1]).toContain('value_rang')
  await problem.first().click()
  const caret = await editorOf(page).evaluate(
    (area) => (area as unknown as { selectionStart: number }).selectionStart,
  )
  const before = (await editorOf(page).inputValue()).slice(0, caret).split('\n')
  expect(before).toHaveLength(line)
  expect(await page.getByRole('button', { name: 'Save…' }).isDisabled()).toBe(true)
  // The draft is stored in this tab.
  await page.reload()
  await expect.poll(() => editorOf(page).inputValue()).toContain('value_rang')
  await page.getByRole('button', { name: 'Discard' }).click()
  expect(await editorOf(page).inputValue()).not.toContain('value_rang\n')
})

test('C4 Y6 Simulate lists changed outcomes before a version is saved with a note', async () => {
  const app = await start({ policies, mappings })
  const sales = await asking(app)
  await sales.trust(0.9)
  for (const deal of [1, 2, 3]) await sales.propose(`deal_${deal}`, { note: deal })
  await sales.propose('deal_4', { deal_stage: 'won' })
  const page = await visit(app, '/policies/edit')
  await editorOf(page).waitFor()
  await rewrite(
    page,
    /( +)- field: amount/,
    '$1- field: note\n$1  constraint: high_risk\n$1- field: amount',
  )
  await rewrite(
    page,
    'field: deal_stage\n        constraint: high_risk',
    'field: deal_stage\n        constraint: readonly',
  )
  await simulate(page).click()
  await resultOf(page).getByText('3 act→suggest, 1 suggest→blocked').waitFor()
  await resultOf(page).getByText('0 of 4 unchanged').waitFor()
  const rows = resultOf(page).getByRole('table').getByRole('row')
  await rows.filter({ hasText: 'blocked' }).getByRole('link').waitFor()
  await resultOf(page).getByText('Changes: 2 added, 0 removed').waitFor()
  expect((await listed(app)).body.policies[0]?.rules).toHaveLength(5)

  await save(page, 'Notes are looked at')
  await page
    .getByText(/^Saved version/)
    .first()
    .waitFor()
  expect((await listed(app)).body.policies[0]?.rules).toHaveLength(6)
  const saved = (await readLedger(app, '&type=policy.saved')).entries
  expect(saved).toHaveLength(1)
  const { output: next } = await sales.call<{ mode: string }>('cowork_propose', {
    domain: 'crm.deals',
    action: 'update',
    target: 'deal_5',
    proposed_change: { note: 5 },
    confidence: 1,
    reasoning: 'x',
  })
  expect(next.mode).toBe('suggest')

  await page.getByRole('link', { name: 'Versions' }).click()
  const versions = page.getByRole('list', { name: 'Versions, newest first' })
  await versions.getByText('Notes are looked at').waitFor()
  await versions.getByText('Active').waitFor()
  await page.getByText('2 added, 0 removed').waitFor()
  const diff = page.getByRole('group', { name: 'Changes' })
  await diff.getByText('- field: note').waitFor()
  await versions.getByText('Version 0').click()
  await page.getByText('First version').waitFor()
  expect(place(page)).toMatch(/^\/policies\/versions\?to=[\da-f]+$/)
  await page.getByRole('button', { name: 'Restore version…' }).click()
  await page.waitForURL('**/policies/edit')
  expect(await editorOf(page).inputValue()).not.toContain('field: note')
})

test('C4 Y6 one proposal is simulated: written or chosen from recent ones', async () => {
  const app = await start({ policies, mappings })
  const sales = await asking(app)
  await sales.trust(0.9)
  await sales.propose('deal_1', { deal_stage: 'won' })
  const page = await visit(app, '/policies/edit')
  const result = resultOf(page)
  await result.getByLabel('Agent').fill('sales-agent')
  await result.getByLabel('Domain').fill('crm.deals')
  await result.getByLabel('Change (JSON)').fill('{"amount": 600000')
  expect(await result.getByRole('button', { name: 'Run simulation' }).isDisabled()).toBe(true)
  await result.getByLabel('Change (JSON)').fill('{"amount": 600000}')
  await rewrite(page, 'max: 500000', 'max: 700000')
  await result.getByRole('button', { name: 'Run simulation' }).click()
  await result.getByText('Must be a number from 0 to 500000.').waitFor()
  const sides = result.getByRole('status')
  await sides.getByText('blocked').waitFor()
  await sides.getByText('act', { exact: true }).waitFor()

  await result.getByLabel('Template').selectOption({ index: 1 })
  await expect
    .poll(() => result.getByLabel('Change (JSON)').inputValue())
    .toContain('"deal_stage": "won"')
  await result.getByRole('button', { name: 'Run simulation' }).click()
  await sides.getByText('high risk: deal_stage').first().waitFor()
})

test('C4 Y6 agents that new rules would block are listed and need a confirmation', async () => {
  allowError(/status of 4(00|09)/)
  const app = await start({ policies, mappings })
  const sales = await asking(app)
  await sales.propose('deal_1', { note: 1 })
  const page = await visit(app, '/policies/edit')
  await editorOf(page).waitFor()
  await rewrite(page, 'agent_id: sales-*', 'agent_id: support-*')
  await simulate(page).click()
  await resultOf(page).getByText('escalate→blocked').first().waitFor()
  const dialog = await save(page, 'Support only')
  await dialog.getByText('This blocks active agents.').waitFor()
  await dialog.getByText('sales-agent').waitFor()
  await dialog.getByText('in crm.deals').waitFor()
  const sure = dialog.getByRole('button', { name: 'Save anyway' })
  expect(await sure.isDisabled()).toBe(true)
  expect((await readLedger(app, '&type=policy.saved')).entries).toHaveLength(0)
  await dialog.getByLabel('I understand').check()
  await sure.click()
  await page
    .getByText(/^Saved version/)
    .first()
    .waitFor()
  expect((await readLedger(app, '&type=policy.saved')).entries).toHaveLength(1)
})

test('C4 a version saved by another person is not overwritten', async () => {
  allowError(/status of 409/)
  const app = await start({ policies, mappings })
  const page = await visit(app, '/policies/edit')
  await editorOf(page).waitFor()
  await rewrite(page, 'max: 500000', 'max: 400000')
  await output(app, 'cowork_save_policies', {
    body: { policies: policies.slice(0, 1), mappings },
    note: 'Another',
  })
  await simulate(page).click()
  await resultOf(page)
    .getByText(/^Changes: /)
    .waitFor()
  const dialog = await save(page, 'Mine')
  await dialog.getByText(/saved version [\da-f]+\./).waitFor()
  await dialog.getByRole('link', { name: 'Compare versions' }).click()
  await page.getByRole('list', { name: 'Versions, newest first' }).getByText('Another').waitFor()
  expect((await readLedger(app, '&type=policy.saved')).entries).toHaveLength(1)
})

test('C4 I6 saving requires the passkey and then continues', async () => {
  allowError(/status of 403/)
  const app = await start({ policies, mappings })
  const page = await visit(app, '/settings/passkeys')
  await addAuthenticator(page)
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Added the passkey.').waitFor()
  await page.goto(`${app.url}/policies/edit`)
  await editorOf(page).waitFor()
  await rewrite(page, 'max: 500000', 'max: 400000')
  await simulate(page).click()
  await resultOf(page)
    .getByText(/^Changes: /)
    .waitFor()
  await save(page, 'Less')
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await page
    .getByText(/^Saved version/)
    .first()
    .waitFor()
  expect((await readLedger(app, '&type=passkey.asserted')).entries).toHaveLength(1)
  expect((await readLedger(app, '&type=policy.saved')).entries).toHaveLength(1)
})

test('C4 people who cannot save can read and simulate', async () => {
  const app = await start({ policies, mappings })
  const { link } = await output<{ link: string }>(app, 'cowork_invite_person', {
    name: 'Ben Ruiz',
    role: 'viewer',
  })
  const page = await (await newContext()).newPage()
  await page.goto(linkTo(link, '/policies/edit'))
  await isLive(page)
  await rewrite(page, 'max: 500000', 'max: 400000')
  await simulate(page).click()
  await page.getByText('Simulated. Only owners can save.').waitFor()
  expect(await page.getByRole('button', { name: 'Save…' }).count()).toBe(0)
})

test('C10 C4 a version saved elsewhere appears without a reload', async () => {
  const app = await start({ policies, mappings })
  const page = await visit(app, '/policies')
  await page.getByRole('region', { name: 'free' }).waitFor()
  await output(app, 'cowork_save_policies', {
    body: { policies: policies.slice(0, 1), mappings },
    note: 'One is enough',
  })
  await page.getByRole('region', { name: 'free' }).waitFor({ state: 'detached' })
  await page.getByText('“One is enough”').waitFor()
})

test('C11 the policies screen passes axe in light and dark and fits a phone', async () => {
  allowError(/status of 4(00|09)/)
  const app = await start({ policies, mappings })
  const sales = await asking(app)
  await sales.trust(0.9)
  await sales.propose('deal_1', { note: 1 })
  const page = await visit(app, '/policies')
  const faults: string[] = []
  const check = async (name: string) => {
    faults.push(...(await findAxeIssues(page, name, [1440, 375])))
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${name} is ${width} px wide on a phone`)
    await page.setViewportSize({ width: 1440, height: 800 })
  }
  await page.getByRole('rowheader', { name: 'sales-agent' }).waitFor()
  await check('the rules')
  await page.goto(`${app.url}/policies/edit`)
  await rewrite(page, 'agent_id: sales-*', 'agent_id: [support]')
  await simulate(page).click()
  await page.getByRole('region', { name: 'Problems' }).waitFor()
  await check('an editor with problems')
  await rewrite(page, 'agent_id: [support]', 'agent_id: support')
  await simulate(page).click()
  await resultOf(page).getByText('act→blocked').first().waitFor()
  await resultOf(page).getByLabel('Agent').fill('sales-agent')
  await resultOf(page).getByLabel('Domain').fill('crm.deals')
  await resultOf(page).getByRole('button', { name: 'Run simulation' }).click()
  await resultOf(page).getByText('Draft', { exact: true }).waitFor()
  await check('a simulation')
  const dialog = await save(page, 'Support only')
  await dialog.getByText('This blocks active agents.').waitFor()
  await check('a lock-out')
  await dialog.getByLabel('I understand').check()
  await dialog.getByRole('button', { name: 'Save anyway' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${app.url}/policies/versions`)
  await page.getByRole('group', { name: 'Changes' }).waitFor()
  await check('the versions')
  expect(faults).toEqual([])
})
