import { expect, test } from 'vitest'
import { asking, opened, getStatus } from './approvals.ts'
import { readLedger, output, useBrowser } from './browser.ts'

const { start, visit } = useBrowser()

/** The folder for screenshots of the screens. */
const pictures = process.env['COWORK_PICTURES']

async function forbid(app: Awaited<ReturnType<typeof start>>, field: string): Promise<string> {
  const { version: from } = await output<{ version: string }>(app, 'cowork_list_policies', {})
  const rule = { id: 'no-amount', field, constraint: 'readonly', reason: 'Finance sets amounts.' }
  const body = {
    policies: [{ id: 'crm-write-policy', description: 'Writes to the CRM', rules: [rule] }],
    mappings: [{ agent_id: '*', domain: '*', policy_id: 'crm-write-policy' }],
  }
  const saved = { body, note: 'Finance', from, confirm: true }
  const { version } = await output<{ version: string }>(app, 'cowork_save_policies', saved)
  return version
}

test('RC4 an item blocked by the active policy shows it and needs a second confirmation', async () => {
  const app = await start()
  const sales = await asking(app)
  const id = await sales.propose('deal_1', { amount: 48_000 })
  const page = await visit(app, `/inbox/${id}`)
  const item = await opened(page)
  expect(await item.getByRole('region', { name: 'Policy conflict' }).count()).toBe(0)
  const version = await forbid(app, 'amount')
  const banner = item.getByRole('region', { name: 'Policy conflict' })
  await banner.waitFor()
  expect(await banner.textContent()).toContain('crm-write-policy, rule no-amount')
  expect(await banner.textContent()).toContain('Finance sets amounts.')
  if (pictures) await page.screenshot({ path: `${pictures}/conflict-banner.png` })
  await page.keyboard.press('a')
  const dialog = page.getByRole('dialog', { name: 'Approve against the active policy?' })
  await dialog.waitFor()
  if (pictures) await page.screenshot({ path: `${pictures}/conflict-dialog.png` })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await getStatus(app, id)).toBe('pending')
  await page.keyboard.press('a')
  await dialog.getByRole('button', { name: 'Approve anyway' }).click()
  await expect.poll(() => getStatus(app, id)).toBe('approved')
  const { entries } = await readLedger(app, '&type=approval.approved')
  expect(entries).toMatchObject([{ data: { policy_acknowledged: { version, rule: 'no-amount' } } }])
})

test('RC5 after an override elsewhere the item shows one trust, the current one', async () => {
  const app = await start()
  const sales = await asking(app)
  await sales.trust(0.16)
  const id = await sales.propose('deal_1', { amount: 48_000 })
  const page = await visit(app, `/inbox/${id}`)
  const item = await opened(page)
  const why = item.getByRole('region', { name: 'Why approval is required' })
  await expect.poll(() => why.textContent()).toContain('0.16')
  await output(app, 'cowork_override', {
    agent_id: 'sales-agent',
    domain: 'crm.deals',
    action_description: 'wrote to the wrong deal',
    override_type: 'agent_wrong',
    description: 'It was the other one.',
  })
  await expect.poll(() => why.textContent()).toContain('0.08')
  await item.getByText('0.08 → 0.10').waitFor()
  if (pictures) await page.screenshot({ path: `${pictures}/one-trust.png` })
  expect(await why.textContent()).not.toContain('0.16')
  expect(await page.locator('[data-row]').first().textContent()).not.toContain('0.16')
})
