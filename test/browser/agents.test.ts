import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { createFixture } from '../conformance/conformance.fixture.ts'
import { asking, mailTool, getTrust } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { readLedger, output, useBrowser } from './browser.ts'
import { playWeeks, sceneDraw, sceneSettings, weeksBefore } from './scene-weeks.ts'
import { sceneClock } from './scene.ts'

const { start, visit } = useBrowser()

const place = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search
const detailOf = (page: Page) => page.getByRole('region', { name: 'Agent', exact: true })
const rowsOf = (page: Page) => page.getByRole('table').first().locator('tbody tr')
const rowOf = (page: Page, text: string) => rowsOf(page).filter({ hasText: text })
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.closest("[data-row]")?.dataset.row ?? ""')

async function startWeeks(): Promise<TestApp> {
  const clock = sceneClock(weeksBefore)
  const app = await start(sceneSettings, { now: clock.now, draw: sceneDraw })
  await playWeeks(app, clock)
  clock.forward(58 * 60)
  return app
}

test('C3 the table shows trust and its basis for each agent and domain', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  await output(app, 'cowork_approve', { proposal_id: await sales.propose('deal_1', { note: 1 }) })
  const wrong = { agent_id: 'sales-agent', domain: 'crm.deals', description: 'no' }
  await output(app, 'cowork_override', {
    ...wrong,
    action_description: 'update',
    override_type: 'agent_wrong',
  })
  await output(app, 'cowork_add_agent', {
    id: 'newcomer',
    tools: ['files', 'work'],
    exclude: ['delete_file'],
    read_only: true,
  })
  const page = await visit(app, '/agents')
  await page.setViewportSize({ width: 1600, height: 800 })
  const row = rowOf(page, 'crm.deals')
  for (const text of ['sales-agent', '0.66', 'Supervised', '1 · 1', '1 override'])
    await row.getByText(text, { exact: true }).waitFor()
  await row.getByText('trust is 0.66 · 0.80 to act alone', { exact: true }).waitFor()
  for (const title of [
    'Low risk: Supervised, 0 of 25',
    'Normal risk: Supervised, debt 49, 74 to go',
  ])
    await row.getByTitle(title).waitFor()
  await rowOf(page, 'newcomer').getByText('no activity').last().waitFor()

  await page.getByRole('link', { name: 'Map' }).click()
  await page.getByRole('link', { name: 'sales-agent in crm.deals: Supervised 0.66' }).click()
  await expect.poll(() => place(page)).toBe('/agents/sales-agent?view=map&domain=crm.deals')
  await detailOf(page).getByRole('heading', { name: 'sales-agent in crm.deals' }).waitFor()

  const chosen = detailOf(page).getByText('Tools: files, work; without delete_file; read only')
  await page.goto(`${app.url}/agents/newcomer`)
  await chosen.waitFor()
  await output(app, 'cowork_set_tools', { id: 'newcomer', exclude: [], read_only: false })
  await detailOf(page).getByText('Tools: files, work', { exact: true }).waitFor()
  await page.goto(`${app.url}/settings/agents`)
  await page.getByText('Tools: files, work', { exact: true }).waitFor()
})

test('C3 C11 the table is sorted, searched and navigated by keyboard', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  await sales.trust(0.4, 'crm.contacts')
  const codex = await asking(app, 'codex', 'code')
  await codex.trust(0.9)
  const page = await visit(app, '/audit')
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await page.waitForURL('**/agents')
  await rowOf(page, 'codex').waitFor()
  const agents = () => rowsOf(page).locator('a').allInnerTexts()
  expect((await agents()).map((text) => text.split('\n')[0])).toEqual([
    'codex',
    'sales-agent',
    'sales-agent',
  ])
  await page.getByRole('columnheader', { name: 'Trust' }).getByRole('link').click()
  await expect.poll(() => place(page)).toBe('/agents?sort=trust')
  await expect.poll(() => rowsOf(page).first().innerText()).toContain('0.40')

  await page.keyboard.press('j')
  await expect.poll(() => focused(page)).toBe('["sales-agent","crm.contacts"]')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'sales-agent in crm.contacts' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'sales-agent in crm.deals' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => place(page)).toBe('/agents?sort=trust')
  await page.keyboard.press('/')
  await page.keyboard.type('code')
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  await page.keyboard.press('Enter')
  await page.goto(`${app.url}/agents?q=nobody`)
  await page.getByRole('link', { name: 'Show all' }).click()
  await expect.poll(() => rowsOf(page).count()).toBe(3)
})

test('C3 C11 the trust chart has steps, marks and projected decay, readable by pointer, arrow keys and table', async () => {
  const app = await startWeeks()
  const page = await visit(app, '/agents/sales-agent?domain=crm.deals')
  const detail = detailOf(page)
  const chart = detail.locator('figure').filter({ hasText: 'Decay while idle' })
  const legend = chart.getByRole('list', { name: 'Legend' })
  for (const kind of ['Approved', 'The agent is wrong', 'Missing context', 'Edge case', 'Promoted'])
    await legend.getByText(kind, { exact: true }).waitFor()
  // Each kind has its own shape, not only a color.
  const shapes = await legend
    .locator('svg path')
    .evaluateAll((paths) => paths.map((path) => path.getAttribute('d')))
  expect(new Set(shapes).size).toBe(shapes.length)

  const says = chart.locator('figcaption')
  await says.getByText('now', { exact: true }).waitFor()
  const slider = detail.getByRole('slider', { name: 'Trust over time, point by point' })
  await slider.focus()
  await page.keyboard.press('Home')
  expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Before, .*: 0\.30, Probation$/)
  await page.keyboard.press('ArrowRight')
  await says.getByText(/^Approved, /).waitFor()
  await page.keyboard.press('End')
  await says.getByText('If idle, in 10 days').waitFor()
  await slider.blur()
  const box = await chart.locator('svg').first().boundingBox()
  await page.mouse.move((box?.x ?? 0) + 2, (box?.y ?? 0) + 40)
  await says.getByText(/^Before, /).waitFor()
  await page.mouse.move(5, 5)

  await detail.locator('summary').first().click()
  const table = page.getByRole('group', { name: 'Trust over time as a table' })
  await table.getByText('Approved, promoted').waitFor()
  await table.getByText('Overridden: the agent is wrong').first().waitFor()
  await table.getByText('if idle').first().waitFor()
  expect(await table.getByText('Before this period').count()).toBe(1)

  await detail.getByRole('link', { name: '90 days' }).click()
  await expect.poll(() => place(page)).toBe('/agents/sales-agent?domain=crm.deals&days=90')
  await detail.getByText('Trust, last 90 days').waitFor()
})

test('C3 reviews show approval rate, decision time and override types', async () => {
  const app = await startWeeks()
  const page = await visit(app, '/agents/sales-agent?domain=crm.deals')
  const detail = detailOf(page)
  await detail.getByText('likely').waitFor()
  await detail.getByText('Decided within').waitFor()
  const bars = detail.locator('figure').filter({ hasText: 'Critical' })
  await bars.getByText('1 medium, 1 high').waitFor()
  await bars.locator('summary').click()
  const table = bars.getByRole('table')
  const row = table.getByRole('row', { name: /^The agent is wrong/ })
  expect(await row.getByRole('cell').allInnerTexts()).toEqual([
    'The agent is wrong',
    '0',
    '1',
    '1',
    '0',
    '2',
  ])
  expect(await detail.getByText('Possible rubber-stamping.').count()).toBe(0)
  await detail.getByRole('link', { name: /crm\.contacts/ }).click()
  await detail.getByRole('heading', { name: 'sales-agent in crm.contacts' }).waitFor()
})

test('C3 G3 fifty approvals within seconds show a rubber-stamping warning', async () => {
  const app = await start({
    'authority.volume_cap': 0,
    'authority.agent_volume_cap': 0,
    'trust.auto_promote_after': 1000,
  })
  const sales = await asking(app)
  for (let deal = 0; deal < 52; deal++) {
    const id = await sales.propose(`deal_${deal}`, { note: deal })
    await output(app, 'cowork_approve', { proposal_id: id })
    await sales.trust(0.4)
  }
  const page = await visit(app, '/agents/sales-agent?domain=crm.deals')
  await page.getByText('Possible rubber-stamping.').waitFor()
  await page.getByText('100% of 52 were approved').waitFor()
})

test('C3 T16 setting trust needs a reason and shows the consequence first', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.propose('deal_1', { note: 1 })
  const page = await visit(app, '/agents/sales-agent')
  await page.getByRole('button', { name: 'Set trust' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set trust' })
  await dialog.getByLabel('Trust, from 0 to 1').fill('0.85')
  await dialog.getByText('0.30 → 0.85').waitFor()
  await dialog.getByText('then autonomous').waitFor()
  await dialog.getByText(/^Autonomous at low and normal risk until its first error/).waitFor()
  await dialog.getByLabel('Trust, from 0 to 1').fill('0.79')
  await dialog.getByText(/^No autonomy/).waitFor()
  await dialog.getByLabel('Trust, from 0 to 1').fill('0.85')
  const button = dialog.getByRole('button', { name: 'Set trust' })
  expect(await button.isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('Worked with it for a year')
  await button.click()
  await page.getByText('Set trust of sales-agent in crm.deals to 0.85.').waitFor()
  await page.getByRole('list', { name: 'Legend' }).getByText('Set manually').waitFor()
  await rowOf(page, 'crm.deals').getByText('0.85', { exact: true }).waitFor()
  await detailOf(page).getByText('a person vouched for it; one in two is checked').first().waitFor()
  expect(await getTrust(app)).toBe(0.85)
  expect((await readLedger(app, '&type=trust.set')).entries).toHaveLength(1)

  await page.getByRole('button', { name: 'Set trust' }).click()
  await dialog.getByLabel('Trust, from 0 to 1').fill('7')
  await dialog.getByLabel('Reason').fill('x')
  expect(await button.isDisabled()).toBe(true)
})

test('C3 T16 forgiving needs a reason and clears the debt', async () => {
  const app = await start({}, { draw: () => 1 })
  const sales = await asking(app)
  await sales.trust(0.9)
  const id = await sales.propose('deal_1', { note: 1 })
  await output(app, 'cowork_override', {
    agent_id: 'sales-agent',
    domain: 'crm.deals',
    action_description: 'update',
    description: 'no',
    override_type: 'agent_wrong',
    proposal_id: id,
  })
  const page = await visit(app, '/agents/sales-agent')
  const detail = detailOf(page)
  const normal = detail.getByRole('listitem', { name: 'Normal risk' })
  await normal.getByText('debt 50, 75 to go').waitFor()
  await normal.getByText('1 strike, forgiven after 15 clean checks').waitFor()
  // The other classes have nothing to forgive.
  expect(await detail.getByRole('button', { name: 'Forgive…' }).count()).toBe(1)
  await normal.getByRole('button', { name: 'Forgive…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Forgive' })
  await dialog
    .getByText(/^Clears 1 strike and a debt of 50\. Correct actions still needed: 25/)
    .waitFor()
  const button = dialog.getByRole('button', { name: 'Forgive' })
  expect(await button.isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('It was told the wrong price')
  await button.click()
  await page.getByText('Forgave sales-agent in crm.deals.').waitFor()
  await normal.getByText('0 of 25').waitFor()
  await page.getByRole('list', { name: 'Legend' }).getByText('Forgiven', { exact: true }).waitFor()
  expect((await readLedger(app, '&type=trust.forgiven')).entries).toHaveLength(1)
})

test('C3 the agent page halts, resumes, rotates the token and links to the activity', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.propose('deal_1', { note: 1 })
  const page = await visit(app, '/agents/sales-agent')
  await page.getByRole('button', { name: 'Halt agent' }).click()
  await page.getByLabel('Reason').fill('Quarter end')
  await page.getByRole('button', { name: 'Halt sales-agent' }).click()
  await detailOf(page).getByText('Halted').waitFor()
  await rowOf(page, 'sales-agent').getByText('Halted').waitFor()
  const refused = await sales.call('cowork_propose', {
    domain: 'crm.deals',
    action: 'update',
    target: 'deal_2',
    proposed_change: { note: 2 },
    confidence: 1,
    reasoning: 'x',
  })
  expect(refused.error).toMatchObject({ code: 'halted' })
  await detailOf(page).getByRole('button', { name: 'Resume' }).click()
  await detailOf(page).getByText('Halted').waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Rotate token' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
  await page.getByText(/^sk-cowork-/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Activity' }).click()
  await expect.poll(() => place(page)).toBe('/audit?actor=sales-agent&domain=crm.deals')
})

test('C3 Y8 standing permissions are listed with their patterns and can be revoked', async () => {
  const app = await start({}, { fixture: { ...createFixture(), tools: [mailTool] } })
  const sales = await asking(app)
  const { error } = await sales.call('mail_send', { to: 'ops@example.com', body: 'Done' })
  await output(app, 'cowork_decide', {
    approval_ids: [error?.['approval_id']],
    decision: 'approve',
    allow: { for: 'always', arguments: { to: '*@example.com' } },
  })
  const page = await visit(app, '/agents/sales-agent')
  const list = page.getByRole('list', { name: 'Standing permissions' })
  await list.getByText('mail_send').waitFor()
  await list.getByText('to: *@example.com').waitFor()
  await list.getByText('always').waitFor()
  await page.getByRole('button', { name: 'Revoke mail_send' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No standing permissions').waitFor()
  const again = await sales.call('mail_send', { to: 'ben@example.com', body: 'Done' })
  expect(again.error).toMatchObject({ code: 'approval_required' })
})

test('C3 C10 a decision made elsewhere appears within 1 s', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.72)
  const id = await sales.propose('deal_1', { note: 1 })
  const page = await visit(app, '/agents/sales-agent?domain=crm.deals')
  await detailOf(page).getByText('Trust 0.72.').waitFor()
  await page.evaluate(`new MutationObserver(() => {
    if (document.body.textContent.includes('Trust 0.74.')) window.shownAt ??= Date.now()
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
  await output(app, 'cowork_approve', { proposal_id: id })
  await detailOf(page).getByText('Trust 0.74.').waitFor()
  const made = (await readLedger(app, '&type=approval.approved')).entries.at(-1)
  expect((await page.evaluate<number>('window.shownAt')) - (made?.at ?? 0)).toBeLessThan(1000)
  await rowOf(page, 'crm.deals').getByText('0.74', { exact: true }).waitFor()
})

test('C11 the agents screen passes axe in light and dark and fits a phone', async () => {
  const app = await startWeeks()
  const page = await visit(app, '/agents')
  const faults: string[] = []
  const check = async (name: string) => {
    faults.push(...(await findAxeIssues(page, name, [1600, 1024, 375])))
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${name} is ${width} px wide on a phone`)
    await page.setViewportSize({ width: 1600, height: 800 })
  }
  await rowOf(page, 'codex').first().waitFor()
  await check('the table')
  await page.goto(`${app.url}/agents?view=map`)
  await page.getByRole('link', { name: /^codex in code\.billing/ }).waitFor()
  await check('the map')
  await page.goto(`${app.url}/agents/sales-agent?domain=crm.deals`)
  await detailOf(page).getByText('Decided within').waitFor()
  await page.getByText('Decay while idle').waitFor()
  for (const summary of await detailOf(page).locator('summary').all()) await summary.click()
  await check('an agent')
  await page.getByRole('button', { name: 'Set trust' }).click()
  await page.getByRole('dialog').waitFor()
  await check('setting trust')
  expect(faults).toEqual([])
})

test('C11 on a phone an agent can be found, opened and closed', async () => {
  const app = await startWeeks()
  const page = await visit(app, '/inbox')
  await page.setViewportSize({ width: 375, height: 700 })
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('link', { name: /support-agent/ }).click()
  await detailOf(page).getByRole('heading', { name: 'support-agent in support.tickets' }).waitFor()
  expect(await page.getByRole('region', { name: 'Agents', exact: true }).isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await rowOf(page, 'support-agent').waitFor()
})
