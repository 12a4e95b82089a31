import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { toActor } from '#base/caller.ts'
import { defineTool } from '#base/tool.ts'
import { anna, propose, sales, support, trusted } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'
import type { Governed, Said, Settings } from '../../../test/governed.ts'

const hour = 60 * 60 * 1000

const asking = (schema: object = {}): Settings => ({
  policies: [{ id: 'p', reasoning_schema: 'deals' }],
  mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'p' }],
  reasoning_schemas: [{ id: 'deals', required: ['budget'], ...schema }],
})

async function trustedBy(settings: Settings) {
  const system = await governed(settings, { tools: [look] })
  await trusted(system, 0.9)
  return system
}

const look = defineTool({
  name: 'crm__look',
  title: 'Look',
  description: 'For tests',
  toolset: 'crm',
  effect: 'read',
  by: 'agent',
  input: z.object({ id: z.string() }),
  output: z.object({}),
  describeTarget: ({ id }) => ({ domain: 'crm', target: id }),
  read: async () => ({}),
})

const reason = (criteria: object, more: object = {}) => ({
  reasoning_schema: { criteria, ...more },
})
const good = { budget: { value: 1200, source: 'the contract', timestamp: '2026-01-01T00:00:00Z' } }

describe('the schema', () => {
  test('R1 valid reasoning changes nothing and is stored with the proposal', async () => {
    const system = await trustedBy(asking())
    const result = await propose(system, reason(good))
    expect(result).toMatchObject({
      mode: 'act',
      reasoning_valid: true,
      missing_criteria: [],
      stale_criteria: [],
      unverified_sources: [],
      reasoning_problems: [],
    })
    const kept = await system.governance.approvals.get(String(result['proposal_id']))
    expect(kept?.content.extra?.['reasoning_schema']).toEqual({ criteria: good })
    const [entry] = await system.entries(['proposal.created'])
    expect(entry?.data).toMatchObject({ reasoning_valid: true })
  })

  test.each([
    ['suggest', 'suggest', /^AWAITING REVIEW/],
    ['escalate', 'escalate', /^ESCALATED: Reasoning incomplete\. Proposal /],
    ['warn', 'act', /^AUTO-APPROVED/],
  ])('R1 insufficient reasoning gives the mode %s', async (onFail, mode, message) => {
    const system = await trustedBy(asking({ on_fail: onFail }))
    for (const given of [{}, reason({}), reason({ budget: { source: 'x' } })]) {
      const reply = await propose(system, given)
      expect(reply).toMatchObject({
        mode,
        reasoning_valid: false,
        missing_criteria: ['budget'],
        message: expect.stringMatching(message),
      })
      if (mode === 'act') continue
      const kept = await system.governance.approvals.get(String(reply['proposal_id']))
      expect(kept?.content.why.text).toMatch(
        /^You are asked because its reasoning does not meet the policy\./,
      )
    }
  })

  test('R1 Y6 under a shadow policy it changes nothing, and its effect is recorded', async () => {
    const settings = asking({ on_fail: 'escalate' })
    const policies = [{ id: 'p', reasoning_schema: 'deals', mode: 'shadow' }]
    const system = await trustedBy({ ...settings, policies })
    expect(await propose(system)).toMatchObject({ mode: 'act', reasoning_valid: false })
    const [entry] = await system.entries(['proposal.created'])
    expect(entry?.data).toMatchObject({
      mode: 'act',
      reasoning_valid: false,
      shadow: { policy_id: 'p', would: 'escalate' },
    })
    const simulated = await system.call('cowork_simulate_policy', { days: 1 }, anna)
    expect(simulated).toMatchObject({ summary: 'nothing would change', replayed: 1 })
    const body = { policies: [{ ...policies[0], mode: 'enforce' }], mappings: settings['mappings'] }
    const enforced = await system.call('cowork_simulate_policy', { body, days: 1 }, anna)
    expect(enforced).toMatchObject({ summary: '1 act→escalate' })
  })

  test('R1 it never relaxes the mode: low trust escalates even with valid reasoning', async () => {
    const system = await governed(asking())
    expect(await propose(system, reason(good))).toMatchObject({
      mode: 'escalate',
      reasoning_valid: true,
      message: expect.stringContaining('Trust (0.30) too low'),
    })
  })

  test.each([
    ['a type it does not have', { type: 'deal' }, reason(good), /type must be "deal"/],
    [
      'a value of another kind',
      { json_schema: { properties: { budget: { type: 'number', maximum: 1000 } } } },
      reason(good),
      /^budget: /,
    ],
    [
      'no source',
      { source_pattern: '.' },
      reason({ budget: { value: 1 } }),
      /budget has no source/,
    ],
    ['none at all', {}, {}, /reasoning_schema is missing; deals requires it/],
  ])('R1 %s is reported as text', async (_, schema, given, problem) => {
    const system = await trustedBy(asking(schema))
    expect(await propose(system, given)).toMatchObject({
      mode: 'suggest',
      reasoning_valid: false,
      reasoning_problems: [expect.stringMatching(problem)],
    })
  })

  test('R1 a source not allowed by the schema is reported', async () => {
    const system = await trustedBy(asking({ source_pattern: '^(crm|erp):' }))
    expect(await propose(system, reason(good))).toMatchObject({
      reasoning_valid: false,
      unverified_sources: ['the contract'],
    })
    const allowed = reason({ budget: { ...good.budget, source: 'crm:deal-1' } })
    expect(await propose(system, allowed)).toMatchObject({ reasoning_valid: true })
  })

  test.each([
    ['old', -2 * hour, true],
    ['fresh', -hour / 2, false],
    ['of this moment', 0, false],
    ['of a clock that is a little ahead', 60_000, false],
    ['yet to come', hour, true],
  ])('R1 age of a criterion: %s', async (_, age, isStale) => {
    const system = await trustedBy(asking({ max_age: '1h' }))
    const at = system.now() + age
    for (const timestamp of [at, new Date(at).toISOString()])
      expect(await propose(system, reason({ budget: { value: 1, timestamp } }))).toMatchObject({
        reasoning_valid: !isStale,
        stale_criteria: isStale ? ['budget'] : [],
      })
  })

  test.each([undefined, 'yesterday', '2026', 'Tue', ''])(
    'R1 the time %j gives no age, so the criterion is stale',
    async (timestamp) => {
      const system = await trustedBy(asking({ max_age: '1h' }))
      const criteria = { budget: { value: 1, ...(timestamp !== undefined && { timestamp }) } }
      expect(await propose(system, reason(criteria))).toMatchObject({ stale_criteria: ['budget'] })
    },
  )

  test('R1 without a schema and reasoning, nothing is reported', async () => {
    const system = await governed()
    expect(await propose(system)).not.toHaveProperty('reasoning_valid')
    expect(await propose(system, reason(good))).toMatchObject({ reasoning_valid: true })
  })

  test.each([
    { criteria: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`c${at}`, {}])) },
    { criteria: { budget: { value: 'x'.repeat(70_000) } } },
    { criteria: { budget: { value: 'half \ud83d' } } },
    { criteria: { budget: 7 } },
    { criteria: { budget: { source: 'x\0' } } },
    {},
  ])('R1 invalid reasoning is refused', async (given) => {
    const system = await governed()
    expect(await propose(system, { reasoning_schema: given })).toMatchObject({
      fault: 'invalid_input',
    })
  })

  test('R1 P6 a repeated proposal returns the first assessment', async () => {
    const system = await trustedBy(asking({ max_age: '1h' }))
    const given = {
      ...reason({ budget: { value: 1, timestamp: system.now() } }),
      idempotency_key: 'once',
    }
    const first = await propose(system, given)
    system.move(2 * hour)
    expect(await propose(system, given)).toMatchObject({
      proposal_id: first['proposal_id'],
      reasoning_valid: true,
    })
  })
})

describe('sources', () => {
  const cites = (source: string) => reason({ budget: { value: 1, source } })
  const verified = async (system: Governed, source: string): Promise<Said> => {
    const reply = await propose(system, cites(source))
    return { valid: reply['reasoning_valid'], unverified: reply['unverified_sources'] }
  }
  const yes = { valid: true, unverified: [] }
  const no = (source: string) => ({ valid: false, unverified: [source] })

  /** Makes a call as the agent. */
  async function looked(system: Governed, by = sales) {
    await system.call('crm__look', { id: 'deal-1' }, by)
    const done = async () =>
      (await system.entries(['call.done'])).findLast(
        ({ actor, data }) => actor.id === by.id && data?.['tool'] === 'crm__look',
      )
    await expect.poll(done).toBeDefined()
    const entry = await done()
    if (!entry) throw new Error('it is not on record')
    return entry
  }

  test('R2 a call that this agent made is a source, by entry and by call', async () => {
    const system = await trustedBy(asking())
    const { seq, ids } = await looked(system)
    const found = await system.ledger.entry(seq)
    const call = String(ids?.call)
    for (const source of [
      `ledger:${seq}`,
      `ledger:${seq}#${String(found?.hash)}`,
      `mcp:crm/look#${call}`,
    ])
      expect(await verified(system, source), source).toEqual(yes)
    for (const source of [
      `ledger:${seq}#${'0'.repeat(64)}`,
      `ledger:${seq - 1}`,
      'ledger:999999',
      'ledger:',
      'ledger:-1',
      'LEDGER:nonsense',
      `mcp:crm/other#${call}`,
      `mcp:erp/look#${call}`,
      `mcp:crm/look#another`,
      `mcp:crm/look`,
      'file:notes.md',
    ])
      expect(await verified(system, source), source).toEqual(no(source))
  })

  test('R2 a call of another agent is not a source', async () => {
    const system = await trustedBy(asking())
    const { seq, ids } = await looked(system, support)
    for (const source of [`ledger:${seq}`, `mcp:crm/look#${String(ids?.call)}`])
      expect(await verified(system, source), source).toEqual(no(source))
  })

  test('R2 a refused call is not a source', async () => {
    const system = await trustedBy(asking())
    await system.call('crm__look', { id: 7 })
    const refused = async () => (await system.entries(['call.refused']))[0]
    await expect.poll(refused).toBeDefined()
    const source = `ledger:${(await refused())?.seq}`
    expect(await verified(system, source)).toEqual(no(source))
  })

  test('R2 a call of a cowork tool has its own name', async () => {
    const system = await trustedBy(asking())
    await system.call('cowork_check_trust', { domain: 'crm' })
    const done = async () =>
      (await system.entries(['call.done'])).findLast(
        ({ data }) => data?.['tool'] === 'cowork_check_trust',
      )
    await expect.poll(done).toBeDefined()
    const source = `mcp:cowork/cowork_check_trust#${String((await done())?.ids?.call)}`
    expect(await verified(system, source)).toEqual(yes)
  })

  test('R2 an agent can cite its own proposal by call or entry', async () => {
    const system = await trustedBy(asking())
    await propose(system, {})
    const [own] = await system.entries(['proposal.created'])
    for (const source of [`ledger:${own?.seq}`, `mcp:cowork/cowork_propose#${own?.ids?.call}`])
      expect(await verified(system, source), source).toEqual(yes)
  })

  test('R2 an old call is not recent enough', async () => {
    const system = await trustedBy(asking({ max_age: '1h' }))
    const { seq } = await looked(system)
    const given = () =>
      reason({ budget: { value: 1, source: `ledger:${seq}`, timestamp: system.now() } })
    expect(await propose(system, given())).toMatchObject({ reasoning_valid: true })
    system.move(2 * hour)
    expect(await propose(system, given())).toMatchObject({
      stale_criteria: [],
      unverified_sources: [`ledger:${seq}`],
    })
  })

  test('R2 a file is a source with the content that this agent read', async () => {
    const system = await trustedBy(asking())
    const [seen, other] = ['a', 'b'].map((digit) => digit.repeat(64))
    const read = (path: string, by = sales) =>
      system.ledger.record({
        type: 'call.done',
        actor: toActor(by),
        domain: 'files',
        subject: path,
        data: { tool: 'read_file', effect: 'read', sha256: seen },
      })
    await read('notes#1.md')
    await read('theirs.md', support)
    for (const source of [`file:notes#1.md#${seen}`, `file:notes#1.md#sha256:${seen}`])
      expect(await verified(system, source), source).toEqual(yes)
    for (const source of [
      `file:notes#1.md#${other}`,
      `file:theirs.md#${seen}`,
      `file:never.md#${seen}`,
    ])
      expect(await verified(system, source), source).toEqual(no(source))
  })

  test('R2 each of several sources is checked and reported once', async () => {
    const system = await trustedBy(asking())
    const { seq } = await looked(system)
    const criteria = {
      budget: { value: 1, source: `ledger:${seq}` },
      region: { value: 'emea', source: 'ledger:999' },
      owner: { value: 'me', source: 'ledger:999' },
    }
    expect(await propose(system, reason(criteria))).toMatchObject({
      mode: 'suggest',
      unverified_sources: ['ledger:999'],
    })
  })
})
