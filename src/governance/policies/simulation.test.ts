import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { anna, propose, proposed, sales, support, trusted } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'
import type { Governed, Said } from '../../../test/governed.ts'

const day = 24 * 60 * 60 * 1000

const body = (rules: object[], domain = 'crm') => ({
  policies: [{ id: 'p', rules }],
  mappings: [{ agent_id: '*', domain, policy_id: 'p' }],
})
const risky = body([{ field: 'note', constraint: 'high_risk' }])
const forbidden = body([{ field: 'note', constraint: 'readonly' }])

const simulate = (on: Governed, args: object, by = anna): Promise<Said> =>
  on.call('cowork_simulate_policy', args, by)

describe('one proposal', () => {
  const supposed = { agent_id: 'sales', domain: 'crm', proposed_change: { note: 'x' } }

  test('Y6 it shows the simulated and the current outcome, and stores nothing', async () => {
    const system = await governed(body([]))
    await trusted(system, 0.9)
    const result = await simulate(system, { body: forbidden, proposal: supposed })
    expect(result).toMatchObject({
      summary: 'act→blocked',
      before: { mode: 'act', policy_id: 'p', violations: [], trust_level: 0.9 },
      after: { mode: 'blocked', violations: [{ rule_id: 'rule_1', field: 'note' }] },
    })
    expect(await simulate(system, { body: risky, proposal: supposed })).toMatchObject({
      summary: 'act→suggest',
      after: { mode: 'suggest', high_risk_fields: ['note'] },
    })
    expect(await system.rows('approval')).toEqual([])
    expect(await system.rows('policy_version')).toEqual([])
    expect(await propose(system)).toMatchObject({ mode: 'act' })
  })

  test('Y6 trust and another active policy can be assumed', async () => {
    const system = await governed({
      policies: [{ id: 'p' }, { id: 'q', rules: [{ field: 'note', constraint: 'readonly' }] }],
      mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'p' }],
    })
    const proposal = { ...supposed, trust_level: 0.6 }
    expect(await simulate(system, { proposal })).toMatchObject({
      summary: 'suggest, as now',
      after: { mode: 'suggest', trust_level: 0.6 },
    })
    expect(await simulate(system, { policy_id: 'q', proposal })).toMatchObject({
      summary: 'suggest→blocked',
      after: { policy_id: 'q' },
    })
    const elsewhere = { ...supposed, domain: 'erp' }
    expect(await simulate(system, { proposal: elsewhere })).toMatchObject({
      after: { mode: 'blocked', mapping_found: false },
    })
  })

  test.each([
    [{ policy_id: 'nonsense' }, 'not_found'],
    [{ version: 'nonsense' }, 'not_found'],
    [{ body: { policies: [{ id: '' }] } }, 'policy_invalid'],
    [{ body: 'policies: {' }, 'policy_invalid'],
    [{ body: risky, policy_id: 'p' }, 'invalid_input'],
    [{ days: 0 }, 'invalid_input'],
    [{ days: 366 }, 'invalid_input'],
    [{ days: 1.5 }, 'invalid_input'],
    [{ days: 1, proposal: supposed }, 'invalid_input'],
    [{ proposal: { ...supposed, trust_level: 2 } }, 'invalid_input'],
    [{ proposal: { agent_id: 'sales' } }, 'invalid_input'],
  ])('Y6 %j is refused', async (args, fault) => {
    expect(await simulate(await governed(), args)).toMatchObject({ fault })
  })

  test('Y6 A3 agents cannot simulate', async () => {
    const system = await governed()
    expect(await simulate(system, { days: 1 }, sales)).toMatchObject({ fault: 'human_required' })
  })
})

describe('recorded calls', () => {
  test('Y6 they are replayed with the trust of that time and listed by entry', async () => {
    const system = await governed(body([]))
    await trusted(system, 0.9)
    const acted = await proposed(system)
    await propose(system, { proposed_change: { amount: 1 } })
    await trusted(system, 0.6)
    await propose(system)
    await trusted(system, 0.1)
    const reply = await simulate(system, { body: risky, days: 1 })
    expect(reply).toMatchObject({
      summary: '1 act→suggest',
      days: 1,
      replayed: 3,
      unchanged: 2,
      skipped: 0,
      truncated: false,
      table: [{ from: 'act', to: 'suggest', count: 1 }],
    })
    const [entry] = await system.ledger.find({ proposal: acted, limit: 1 })
    const [{ examples }] = reply['table'] as [{ examples: Said[] }]
    expect(examples).toEqual([
      {
        seq: entry?.seq,
        approval_id: acted,
        kind: 'proposal',
        agent_id: 'sales',
        domain: 'crm',
        action: 'update_deal',
      },
    ])
    expect(await simulate(system, { body: risky, days: 1 })).toEqual(reply)
  })

  test('Y6 refused calls are replayed too, and other rules can allow them', async () => {
    const system = await governed(forbidden)
    await trusted(system, 0.6)
    await propose(system)
    await propose(system, { domain: 'elsewhere', proposed_change: JSON.stringify({ note: 'y' }) })
    await trusted(system, 0.9)
    expect(await simulate(system, { body: { policies: [], mappings: [] } })).toMatchObject({
      summary: '1 blocked→escalate, 1 blocked→suggest',
      table: [
        { examples: [{ domain: 'elsewhere', seq: expect.any(Number), approval_id: null }] },
        { examples: [{ domain: 'crm', action: 'update_deal' }] },
      ],
    })
    const [refused] = await system.entries(['call.refused'])
    expect(refused?.data).toMatchObject({ details: { trust_level: 0.6, gate_open: false } })
  })

  test('Y6 L8 erased records are skipped', async () => {
    const system = await governed(forbidden)
    await propose(system)
    const [refused] = await system.entries(['call.refused'])
    const by = { kind: 'human', id: 'anna' } as const
    await system.ledger.transact((tx) => system.ledger.erase(tx, refused?.seq ?? 0, 'asked', by))
    expect(await simulate(system, { body: body([]) })).toMatchObject({
      summary: 'nothing would change, 1 could not be replayed',
      replayed: 0,
      skipped: 1,
    })
  })

  test('Y6 days, agent and domain limit the replay', async () => {
    const system = await governed(body([], '*'))
    await propose(system)
    system.move(10 * day)
    await propose(system)
    await propose(system, {}, support)
    await propose(system, { domain: 'erp' })
    const replayed = async (args: object) => (await simulate(system, args))['replayed']
    expect(await replayed({})).toBe(4)
    expect(await replayed({ days: 9 })).toBe(3)
    expect(await replayed({ agent_id: 'sales' })).toBe(3)
    expect(await replayed({ domain: 'erp' })).toBe(1)
    expect(await replayed({ agent_id: 'support', domain: 'erp' })).toBe(0)
  })

  test('Y6 any month gives the same table twice, and no changes under its original rules', async () => {
    const moment = fc.record({
      agent: fc.constantFrom(sales, support),
      domain: fc.constantFrom('crm', 'erp'),
      change: fc.dictionary(fc.constantFrom('note', 'amount', 'owner'), fc.integer(), {
        minKeys: 1,
      }),
      trust: fc.constantFrom(0.2, 0.6, 0.9),
      days: fc.integer({ min: 0, max: 2 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 15 }), async (lived) => {
        const system = await governed(body([{ field: 'amount', constraint: 'readonly' }], 'crm'))
        for (const { agent, domain, change, trust, days } of lived) {
          system.move(days * day)
          await trusted(system, trust, agent.id, domain)
          await propose(system, { domain, proposed_change: change }, agent)
        }
        const same = await simulate(system, { days: 40 })
        expect(same).toMatchObject({ summary: 'nothing would change', replayed: lived.length })
        const first = await simulate(system, { body: risky, days: 40 })
        expect(await simulate(system, { body: risky, days: 40 })).toEqual(first)
        const counts = (first['table'] as { count: number }[]).map(({ count }) => count)
        expect(counts.reduce((sum, count) => sum + count, Number(first['unchanged']))).toBe(
          lived.length,
        )
      }),
      { numRuns: 5 },
    )
  })
})

test('Y6 Y7 calls are replayed too, including undecided ones', async () => {
  const write = defineTool({
    name: 'write_file',
    title: 'Write',
    description: 'For tests',
    toolset: 'files',
    effect: 'write',
    by: 'agent',
    input: z.object({ path: z.string() }),
    output: z.object({}),
    describeTarget: ({ path }) => ({ domain: 'files', target: path }),
    run: async () => ({ output: {} }),
  })
  const system = await governed({}, { tools: [write] })
  for (const path of ['notes.md', '.env', 'a/.env']) await system.call('write_file', { path })
  const rules = [{ field: 'path', constraint: 'regex', pattern: '^[^.]*[.]md$' }]
  expect(await simulate(system, { body: body(rules, '*') })).toMatchObject({
    summary: '2 act→blocked',
    replayed: 3,
    table: [{ examples: [{ kind: 'call', action: 'write_file', seq: expect.any(Number) }, {}] }],
  })
})
