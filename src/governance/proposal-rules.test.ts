import { describe, expect, test } from 'vitest'
import { anna, propose, support, trusted } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Settings } from '../../test/governed.ts'

/** The mode of a proposal with this change at this trust. */
async function modeOf(score: number, change: unknown, settings: Settings = {}, more: object = {}) {
  const system = await governed(settings)
  await trusted(system, score)
  return propose(system, { proposed_change: change, ...more })
}

describe('modes', () => {
  test.each([0.1, 0.3, 0.6, 0.95])('M1 a high-risk field gets suggest at %d', async (score) => {
    const result = await modeOf(score, { deal_stage: 'won' })
    expect(result).toMatchObject({ mode: 'suggest', high_risk_field: true, gated: false })
  })

  test.each([
    [0.3, 'escalate'],
    [0.6, 'suggest'],
    [0.95, 'suggest'],
  ])('M1 strictest uses the stricter of suggest and trust: %d gives %s', async (score, mode) => {
    const settings = { 'authority.high_risk_mode': 'strictest' }
    expect(await modeOf(score, { deal_stage: 'won' }, settings)).toMatchObject({ mode })
  })

  test.each([
    [0.4, 'escalate'],
    [0.4999, 'escalate'],
    [0.5, 'suggest'],
    [0.7999, 'suggest'],
    [0.8, 'act'],
    [1, 'act'],
  ])('M2 trust alone decides the rest: %d gives %s', async (score, mode) => {
    expect(await modeOf(score, { note: 'x' })).toMatchObject({ mode, trust_level: score })
  })

  test('M2 the thresholds are configurable', async () => {
    const settings = {
      'authority.thresholds.suggest': 0.2,
      'authority.thresholds.act': 0.4,
      'trust.evidence_gate': false,
    }
    expect(await modeOf(0.4, { note: 'x' }, settings)).toMatchObject({ mode: 'act' })
    expect(await modeOf(0.2, { note: 'x' }, settings)).toMatchObject({ mode: 'suggest' })
    expect(await modeOf(0.19, { note: 'x' }, settings)).toMatchObject({ mode: 'escalate' })
  })

  test.each([
    'deal_stage',
    'owner',
    'commission',
    'utm_source',
    'billing_address',
    'password',
    'permissions',
  ])('M3 %s is high risk by default', async (field) => {
    expect(await modeOf(0.9, { [field]: 'x' })).toMatchObject({ mode: 'suggest' })
  })

  test.each([
    [{ deal: { stage: { owner: 'x' } } }, {}],
    [{ items: [{ note: 1 }, { commission: 2 }] }, {}],
    ['{"deal":{"deal_stage":"won"}}', {}],
    [{ note: 'x' }, { field: 'deal_stage' }],
    [{ deal_stage: 'won' }, { field: 'note' }],
    ['not json', { field: 'owner' }],
  ])('M4 nesting, text or `field` hide no field: %j', async (change, more) => {
    expect(await modeOf(0.9, change, {}, more)).toMatchObject({
      mode: 'suggest',
      high_risk_field: true,
    })
  })

  test.each([
    [[{ op: 'replace', path: '/deal_stage', value: 'won' }]],
    [{ field: 'deal_stage', new_value: 'won' }],
    [{ 'deal["deal_stage"]': 'won' }],
    [{ payload: '{"deal_stage":"won"}' }],
    ['deal_stage=won'],
  ])('M4 RS3 no encoding hides a high-risk field: %j', async (change) => {
    expect(await modeOf(0.95, change)).toMatchObject({ mode: 'suggest', high_risk_field: true })
  })

  test.each([
    [0.3, 'escalate'],
    [0.6, 'suggest'],
    [1, 'suggest'],
  ])('M7 RS3 trust alone never allows free text: %d gives %s', async (score, mode) => {
    expect(await modeOf(score, 'make the deal a bit cheaper')).toMatchObject({
      mode,
      high_risk_field: false,
    })
    expect(await modeOf(score, 'call back', {}, { field: 'summary' })).toMatchObject({
      mode: score === 1 ? 'act' : mode,
    })
  })

  test('T11 a score earned without enough evidence is gated to suggest', async () => {
    const settings = { 'trust.default_level': 0.9 }
    const system = await governed(settings)
    expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true })
    const ungated = await governed({ ...settings, 'trust.evidence_gate': false })
    expect(await propose(ungated)).toMatchObject({ mode: 'act', gated: false })
  })
})

const rules = {
  policies: [
    {
      id: 'careful',
      description: 'Deals',
      rules: [
        { id: 'fixed', field: 'id', constraint: 'readonly', reason: 'Ids stay.' },
        { id: 'small', field: 'discount', constraint: 'value_range', min: 0, max: 20 },
        { id: 'known', field: 'region', constraint: 'enum', values: ['emea', 'apac'] },
        { id: 'form', field: 'email', constraint: 'regex', pattern: '^\\S+@\\S+$' },
        { id: 'risky', field: 'price', constraint: 'high_risk' },
        { id: 'soft', field: 'colour', constraint: 'enum', values: ['red'], severity: 'warn' },
        { id: 'never', field: 'secret', constraint: 'high_risk', severity: 'hard_stop' },
      ],
    },
    { id: 'watched', mode: 'shadow', rules: [{ field: 'id', constraint: 'readonly' }] },
  ],
  mappings: [
    { agent_id: 'sales', domain: 'crm', policy_id: 'careful' },
    { agent_id: 'sales', domain: 'trial', policy_id: 'watched' },
  ],
}

describe('policies', () => {
  test.each([
    ['set the id to 7', 'unreadable_change'],
    ['DELETE FROM deals', 'unreadable_change'],
    [[{ op: 'add', path: '/discount', value: 90 }], 'small'],
    ['discount=90', 'small'],
  ])('M7 Y3 RS3 under hard stops %j is blocked by %s', async (change, rule_id) => {
    const system = await governed(rules)
    await trusted(system, 1)
    expect(await propose(system, { proposed_change: change })).toMatchObject({
      fault: 'policy_blocked',
      violations: [{ rule_id, severity: 'hard_stop' }],
    })
    expect(await system.rows('approval')).toEqual([])
  })

  test.each([
    [{ id: 7 }, 'fixed', 'id'],
    [{ deal: { id: 7 } }, 'fixed', 'deal.id'],
    [{ discount: 21 }, 'small', 'discount'],
    [{ discount: 'much' }, 'small', 'discount'],
    [{ region: 'mars' }, 'known', 'region'],
    [{ email: 'nobody' }, 'form', 'email'],
    [{ secret: 'x' }, 'never', 'secret'],
  ])('Y3 %j is a hard stop by the rule %s', async (change, rule_id, field) => {
    const system = await governed(rules)
    await trusted(system, 0.9)
    const before = await system.rows('trust')
    expect(await propose(system, { proposed_change: change })).toMatchObject({
      fault: 'policy_blocked',
      error: true,
      policy_error: true,
      blocked: true,
      policy_id: 'careful',
      policy_description: 'Deals',
      policy_warnings: 1,
      violations: [{ rule_id, field, severity: 'hard_stop', reason: expect.any(String) }],
    })
    expect(await system.rows('approval')).toEqual([])
    expect(await system.rows('trust')).toEqual(before)
    const [refused] = await system.entries(['call.refused'])
    expect(refused).toMatchObject({ outcome: 'policy_blocked', data: { tool: 'cowork_propose' } })
    expect(await propose(system)).toMatchObject({ volume_remaining: 49 })
  })

  test.each([
    [{ price: 7 }, { mode: 'suggest', high_risk_field: true, policy_warnings: 1 }],
    [{ colour: 'blue' }, { mode: 'act', policy_warnings: 1, rules_matched: 1 }],
    [{ colour: 'red' }, { mode: 'act', policy_warnings: 0, rules_matched: 1 }],
    [
      { discount: 20, region: 'emea' },
      { mode: 'act', policy_warnings: 0, rules_matched: 2 },
    ],
    [{ note: 'x' }, { mode: 'act', policy_warnings: 0, rules_matched: 0 }],
  ])('Y3 %j passes, with the violations of warning rules', async (change, expected) => {
    const system = await governed(rules)
    await trusted(system, 0.9)
    expect(await propose(system, { proposed_change: change })).toMatchObject({
      ...expected,
      policy_id: 'careful',
      policy_rules_checked: 7,
      mapping_found: true,
    })
  })

  test('Y6 a shadow policy reports its effect and enforces nothing', async () => {
    const system = await governed(rules)
    const reply = await propose(system, { domain: 'trial', proposed_change: { id: 7 } })
    expect(reply).toMatchObject({ policy_id: 'watched', policy_warnings: 1, mode: 'escalate' })
  })

  test('Y4 without a matching mapping the agent is blocked and one approval is requested', async () => {
    const system = await governed(rules)
    const reply = await propose(system, { domain: 'hr' })
    expect(reply).toMatchObject({
      fault: 'policy_blocked',
      blocked: true,
      mode: 'escalate',
      mapping_found: false,
      approval_id: expect.any(String),
      review_url: expect.stringContaining('/inbox/'),
    })
    expect(await propose(system, { domain: 'hr', target: 'other' })).toMatchObject({
      approval_id: reply['approval_id'],
    })
    expect(await propose(system, { domain: 'hr' }, support)).not.toMatchObject({
      approval_id: reply['approval_id'],
    })
    const asked = await system.governance.approvals.list({ limit: 9 })
    expect(asked.map(({ kind, requester }) => [kind, requester])).toEqual(
      expect.arrayContaining([
        ['permission', 'sales'],
        ['permission', 'support'],
      ]),
    )
    expect(asked).toHaveLength(2)
  })

  test('Y4 a person approves the domain with a policy, which then applies', async () => {
    const system = await governed(rules)
    const { approval_id: id } = await propose(system, { domain: 'hr' })
    const decide = (more: object) =>
      system.call('cowork_decide', { approval_ids: [id], decision: 'approve', ...more }, anna)
    const outcome = (code: string) => ({ outcomes: [{ status: 'error', error: { code } }] })
    expect(await decide({})).toMatchObject(outcome('policy_needed'))
    expect(await decide({ policy_id: 'nonsense' })).toMatchObject(outcome('policy_needed'))
    expect(await decide({ policy_id: 'careful' })).toMatchObject({
      outcomes: [{ status: 'approved' }],
    })
    expect(await propose(system, { domain: 'hr' })).toMatchObject({
      mapping_found: true,
      policy_id: 'careful',
    })
    const change = { proposed_change: { id: 1 } }
    expect(await propose(system, { domain: 'hr', ...change })).toMatchObject({ blocked: true })
    expect(await propose(system, { domain: 'hr' }, support)).toMatchObject({
      mapping_found: false,
    })
  })

  test('Y4 after rejection or expiry the next proposal requests approval again', async () => {
    const system = await governed(rules)
    const first = await propose(system, { domain: 'hr' })
    const rejected = { approval_ids: [first['approval_id']], decision: 'reject' }
    await system.call('cowork_decide', rejected, anna)
    const second = await propose(system, { domain: 'hr' })
    expect(second['approval_id']).not.toBe(first['approval_id'])
    system.move(8 * 24 * 60 * 60 * 1000)
    const third = await propose(system, { domain: 'hr' })
    expect(third).toMatchObject({ blocked: true })
    expect(third['approval_id']).not.toBe(second['approval_id'])
  })

  test('Y4 without mappings every agent can propose in every domain', async () => {
    const system = await governed({ policies: rules.policies })
    expect(await propose(system, { domain: 'anything' })).toMatchObject({
      mode: 'escalate',
      mapping_found: false,
      policy_id: null,
    })
  })
})

describe('cowork_validate_policy', () => {
  test.each([
    [{ proposed_change: { id: 7 } }, { valid: false, hard_stop: true, policy_id: 'careful' }],
    [
      { field: 'discount', proposed_value: 90 },
      { valid: false, hard_stop: true },
    ],
    [
      { field: 'discount', proposed_value: 10 },
      { valid: true, hard_stop: false },
    ],
    [{ proposed_change: '{"price": 3}' }, { valid: true, high_risk: true }],
    [{ proposed_change: { colour: 'blue' } }, { valid: true, violations: [{ rule_id: 'soft' }] }],
    [
      { domain: 'hr', proposed_change: {} },
      { valid: false, mapping_found: false },
    ],
  ])('Y5 %j is evaluated like a proposal, and nothing is stored', async (args, expected) => {
    const system = await governed(rules)
    const before = await system.ledger.size()
    const reply = await system.call('cowork_validate_policy', { domain: 'crm', ...args })
    expect(reply).toMatchObject(expected)
    const more = async () => (await system.entries()).slice(before).map(({ type }) => type)
    await expect.poll(more).toEqual(['call.done'])
    for (const table of ['approval', 'trust', 'trust_point', 'override', 'permission', 'mapping'])
      expect(await system.rows(table === 'override' ? '"override"' : table)).toEqual([])
  })
})
