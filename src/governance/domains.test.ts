import { expect, test } from 'vitest'
import { anna, propose, proposal, sales, trusted } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'

const mapped = {
  policies: [{ id: 'careful', rules: [{ field: 'id', constraint: 'readonly' }] }],
  mappings: [
    { agent_id: 'sales', domain: 'crm.deals', policy_id: 'careful' },
    { agent_id: 'sales', domain: 'erp.*', policy_id: 'careful' },
  ],
}

const lookAlikes = [
  ['a Cyrillic letter', 'сrm.deals'],
  ['a one-dot leader', 'crm\u2024deals'],
  ['a Roman numeral', 'cr\u217f.deals'],
  ['another case', 'CRM.Deals'],
  ['full-width letters', 'ｃｒｍ.deals'],
  ['a digit for a letter', 'crm.dea1s'],
  ['a Greek letter in a domain of a pattern', 'еrp.orders'],
  ['another case of a pattern', 'ERP.orders'],
  ['the name of a domain of cowork', 'Files'],
  ['a separator at its end', 'crm.deals/'],
  ['a separator at its beginning', '.crm.deals'],
  ['two separators in a row', 'crm..deals'],
  ['a mark below a letter', 'crm.deals\u0323\u0316'],
  ['a Turkish capital letter', 'fİles'],
] as const

test.each(lookAlikes)(
  'Y10 RS5 a domain with %s is refused without an approval request',
  async (_, domain) => {
    const system = await governed(mapped)
    expect(await propose(system, { domain })).toMatchObject({ fault: 'invalid_domain' })
    expect(await system.rows('approval')).toEqual([])
    expect(await system.rows('trust')).toEqual([])
  },
)

test.each([
  ['cowork_propose', proposal(), sales],
  ['cowork_log', { action: 'x', target: 'y' }, sales],
  ['cowork_handoff', { reason: 'x', confidence: 0.5, context: {} }, sales],
  ['cowork_check_trust', {}, sales],
  ['cowork_validate_policy', { proposed_change: {} }, sales],
  ['cowork_set_trust', { agent_id: 'sales', score: 0.9, reason: 'x' }, anna],
] as const)('Y10 RS5 %s refuses a domain that looks like a known one', async (tool, args, by) => {
  const system = await governed()
  await trusted(system, 0.5, 'sales', 'crm.deals')
  const result = await system.call(tool, { ...args, domain: 'CRM.deals' }, by)
  expect(result).toMatchObject({
    fault: 'invalid_domain',
    message: 'The domain CRM.deals looks like crm.deals.',
  })
})

test('Y10 RS5 domains of an existing store stay valid, whatever their letters', async () => {
  const system = await governed()
  await trusted(system, 0.5, 'sales', 'crm')
  // In the form of an older version.
  await system.db.transact(async (tx) => {
    const [row] = await tx.all<Record<string, unknown>>({
      sql: 'SELECT * FROM trust',
      parameters: [],
    })
    await tx.insert('trust', [{ ...row, domain: 'сrm' }])
  })
  expect(await propose(system, { domain: 'сrm' })).not.toHaveProperty('fault')
  expect(await propose(system, { domain: 'CRM' })).toMatchObject({ fault: 'invalid_domain' })
})

test.each(['Büro 7 / EMEA', '営業', 'crm.team2', 'продажи', 'a_b-c:d/e'])(
  'Y10 RS5 the new domain %s is accepted',
  async (domain) => {
    const system = await governed()
    await trusted(system, 0.5, 'sales', 'crm.team3')
    expect(await propose(system, { domain })).not.toHaveProperty('fault')
  },
)

test('Y10 RS5 a domain that another agent used since is known', async () => {
  const system = await governed()
  expect(await propose(system, { domain: 'crm.deals' })).not.toHaveProperty('fault')
  expect(await propose(system, { domain: 'crm.leads' })).not.toHaveProperty('fault')
  for (const domain of ['CRM.deals', 'CRM.leads'])
    expect(await propose(system, { domain })).toMatchObject({ fault: 'invalid_domain' })
})
