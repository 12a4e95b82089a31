import { describe, expect, test } from 'vitest'
import { actingTool } from '../../test/acting.ts'
import {
  anna,
  approve,
  ben,
  decide,
  earn,
  override,
  proposed,
  sales,
  support,
  trusted,
} from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'

const day = 24 * 60 * 60 * 1000
const list = (to: Governed, query: object = {}, by = anna) =>
  to.governance.inbox.list(by, { status: 'pending', limit: 100, ...query })
const idsOf = async (found: ReturnType<typeof list>) => (await found).items.map(({ id }) => id)

/** Two agents in two domains, with a decided one, an automatic one and a call. */
async function filled() {
  const { tool } = actingTool('files', 'destructive')
  const system = await governed({}, { tools: [tool] })
  const deal = await proposed(system, { target: 'Deal-42' })
  const hr = await proposed(system, { domain: 'hr', target: 'b', action: 'hire' })
  const other = await proposed(system, { target: 'c' }, support)
  const done = await proposed(system, { target: 'd' })
  await approve(system, done, { feedback: 'fine' })
  await trusted(system, 0.9, 'sales', 'auto')
  const auto = await proposed(system, { domain: 'auto' })
  const { approval_id: call } = await system.call('files_destructive', { path: '/x' })
  return { system, deal, hr, other, done, auto, call: String(call) }
}

describe('the list', () => {
  test('C2 it lists pending items, newest first, with the fields of a row', async () => {
    const { system, deal, hr, other, call } = await filled()
    expect(await idsOf(list(system))).toEqual([call, other, hr, deal])
    const { items, counts } = await list(system)
    expect(counts).toEqual({ all: 4, proposal: 3, call: 1 })
    expect(items.at(-1)).toEqual({
      id: deal,
      kind: 'proposal',
      status: 'pending',
      requester: 'sales',
      domain: 'crm',
      action: 'update_deal',
      target: 'Deal-42',
      summary: 'update_deal on Deal-42: note = call back',
      mode: 'escalate',
      risk: 'normal',
      trust_level: 0.32,
      confidence: 0.9,
      created_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      approvers: { needed: 1, given: [] },
      group: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
  })

  test('C2 it filters by status, kind, agent, domain, text and ids', async () => {
    const { system, deal, hr, other, done, auto, call } = await filled()
    const cases: [object, string[]][] = [
      [{ status: 'decided' }, [auto, done]],
      [{ status: 'all', kind: 'proposal' }, [auto, done, other, hr, deal]],
      [{ kind: 'call' }, [call]],
      [{ kind: 'spot_check' }, []],
      [{ agent: 'support' }, [other]],
      [{ domain: 'hr' }, [hr]],
      [{ q: 'deal-4' }, [deal]],
      [{ q: 'HIRE' }, [hr]],
      [{ q: '%' }, []],
      [{ ids: [done, deal, 'nothing'] }, [done, deal]],
      [{ ids: [] }, []],
    ]
    for (const [query, ids] of cases)
      expect(await idsOf(list(system, query)), JSON.stringify(query)).toEqual(ids)
    const { items } = await list(system, { status: 'decided' })
    expect(items).toMatchObject([
      { id: auto, auto: true, decided_by: 'trust', channel: 'trust' },
      { id: done, decided_by: 'anna', channel: 'api', reason: 'fine', status: 'approved' },
    ])
  })

  test('C2 pages have no gaps or duplicates', async () => {
    const system = await governed()
    const all = await Promise.all(Array.from({ length: 7 }, () => proposed(system)))
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await list(system, { limit: 3, after })
      seen.push(...page.items.map(({ id }) => id))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(all.toSorted().toReversed())
  })

  test('L10 an agent sees only its own items and no counts', async () => {
    const { system, other, deal } = await filled()
    for (const query of [{}, { agent: 'sales' }, { ids: [other, deal] }]) {
      const { items, counts } = await list(system, query, support)
      expect(items.map(({ id }) => id)).toEqual([other])
      expect(counts).toEqual({})
    }
    expect(await system.governance.inbox.detail(support, deal)).toBeUndefined()
    expect(await system.governance.inbox.detail(support, other)).toMatchObject({ id: other })
    expect(await system.governance.inbox.detail(anna, 'nothing')).toBeUndefined()
  })

  test('C2 items with equal agent, action and fields share a group, whatever target and value', async () => {
    const system = await governed()
    const group = async (more: object, by = sales) =>
      (await system.governance.approvals.get(await proposed(system, more, by)))?.group
    const first = await group({})
    expect(await group({ target: 'z', proposed_change: { note: 'other' } })).toBe(first)
    for (const [more, by] of [
      [{ action: 'hire' }],
      [{ domain: 'hr' }],
      [{ proposed_change: { size: 1 } }],
      [{}, support],
    ] as [object, typeof sales?][])
      expect(await group(more, by)).not.toBe(first)
  })

  test('C2 it shows deferred decisions and votes', async () => {
    const system = await governed({
      policies: [{ id: 'p', rules: [{ field: 'price', constraint: 'high_risk', approvers: 2 }] }],
      mappings: [{ agent_id: '*', domain: '*', policy_id: 'p' }],
    })
    const id = await proposed(system, { proposed_change: { price: 1 } })
    await approve(system, id, {}, ben)
    await decide(system, [id], { hold: true })
    expect((await list(system)).items).toMatchObject([
      {
        approvers: { needed: 2, given: ['ben'] },
        held: { decision: 'approve', by: 'anna', until: expect.stringMatching(/Z$/) },
      },
    ])
  })
})

describe('one item', () => {
  test('C2 the preview of each trust change matches the effect', async () => {
    const system = await governed({ 'trust.auto_demote_after': 1 })
    const id = await proposed(system)
    const { effect } = (await system.governance.inbox.detail(anna, id)) ?? {}
    expect(effect?.approve).toEqual({ from: 0.3, to: 0.32 })
    expect(effect?.overrides).toHaveLength(20)
    const details = effect?.overrides.find((o) => o.type === 'agent_wrong' && o.severity === 'high')
    const result = await override(system, 'agent_wrong', { severity: 'high', proposal_id: id })
    expect(result).toMatchObject({ demoted: true, trust_level: details?.to })
  })

  test('C2 it shows the values last approved on the same target and the past decisions', async () => {
    const system = await governed()
    const change = (value: object) => ({ proposed_change: value })
    await approve(system, await proposed(system, change({ note: 'one', size: 1 })))
    const edited = await proposed(system, change({ note: 'two' }))
    await decide(system, [edited], { change: { note: 'three' } })
    const rejected = await proposed(system, change({ note: 'four' }))
    await override(system, 'edge_case', { proposal_id: rejected })
    await approve(system, await proposed(system, { target: 'other', ...change({ note: 'five' }) }))
    const id = await proposed(system, change({ note: 'six', size: 2, colour: 'red' }))
    const detail = await system.governance.inbox.detail(anna, id)
    expect(detail).toMatchObject({
      change: { note: 'six', size: 2, colour: 'red' },
      before: { note: 'three', size: 1 },
      reasoning: 'They asked for it.',
      field: null,
      session: 'session-of-sales',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(detail?.history.map(({ status, trust_change }) => [status, trust_change])).toEqual([
      ['rejected', -0.02],
      ['approved', null],
      ['approved', null],
    ])
    expect(await system.governance.inbox.detail(anna, edited)).toMatchObject({
      approved_change: { note: 'three' },
      collaborative: true,
    })
  })

  test('C2 it contains the trust of the last 30 days', async () => {
    const system = await governed()
    await earn(system, 1)
    system.move(31 * day)
    await earn(system, 2)
    await override(system, 'edge_case')
    await trusted(system, 0.5)
    const id = await proposed(system)
    const { trust_points: points } = (await system.governance.inbox.detail(anna, id)) ?? {}
    expect(points?.map(({ cause }) => cause)).toEqual([
      'approved',
      'approved',
      'edge_case',
      'set by hand',
    ])
    expect(points?.at(-1)?.score).toBe(0.5)
  })
})

test('T14 C2 a check previews the effect of marking it as wrong by type and severity', async () => {
  const system = await governed({}, { draw: () => 0 })
  await trusted(system, 0.9)
  await proposed(system)
  await system.governance.spotChecks.flush()
  const [id = ''] = await idsOf(list(system, { kind: 'spot_check' }))
  const faults = (await system.governance.inbox.detail(anna, id))?.check?.faults ?? []
  const describeEffect = (type: string, severity: string) =>
    faults.find((fault) => fault.type === type && fault.severity === severity)?.text
  // Preferences and changed rules are no faults.
  expect(new Set(faults.map(({ type }) => type))).toEqual(
    new Set(['agent_wrong', 'missing_context', 'edge_case']),
  )
  expect(describeEffect('agent_wrong', 'medium')).toMatch(
    /^The gate closes: 75 more .* Up to ten other/,
  )
  expect(describeEffect('agent_wrong', 'critical')).toMatch(
    /^The gate closes: 150 more .* Up to ten other/,
  )
  expect(describeEffect('edge_case', 'low')).toMatch(/^The gate closes: 31 more /)
})
