import { describe, expect, test } from 'vitest'
import { actingTool } from '../../../test/acting.ts'
import {
  anna,
  approve,
  decide,
  override,
  proposed,
  sales,
  support,
  trusted,
} from '../../../test/acts.ts'
import { governed, movableClock, openGoverned, sqliteStore } from '../../../test/governed.ts'
import type { Governed, Said } from '../../../test/governed.ts'
import { handOver, resolve } from '../../../test/handoffs.ts'

const hour = 3_600_000
const day = 24 * hour

const report = (to: Governed, args: object = {}, by = anna): Promise<Said> =>
  to.call('cowork_governance_report', args, by)
const quality = (to: Governed, args: object = {}, by = anna): Promise<Said> =>
  to.call('cowork_quality_metrics', args, by)
const done = (to: Governed, proposal?: string, by = sales): Promise<Said> =>
  to.call(
    'cowork_log',
    { domain: 'crm', action: 'update_deal', target: 'deal-1', proposal_id: proposal },
    by,
  )
const findingsOf = (result: Said) =>
  (result['findings'] as { kind: string; count: number }[]).map(({ kind, count }) => [kind, count])

describe('the report', () => {
  /** One finding of each kind, over two days. */
  async function lived() {
    const store = sqliteStore()
    const clock = movableClock()
    const system = await governed({}, {}, store, clock)
    const good = await proposed(system)
    await approve(system, good)
    await done(system, good)
    const early = await proposed(system)
    await done(system, early)
    await approve(system, early)
    const never = await proposed(system)
    await done(system, never)
    await done(system, 'nothing')
    await done(system)
    await handOver(system)
    await done(system, undefined, support)
    clock.move(2 * day)
    return { system, store, clock }
  }

  const found = [
    ['missing_approval', 1],
    ['execution_before_approval', 1],
    ['orphaned_execution', 1],
    ['unanswered_handoff', 1],
    ['missing_intent', 1],
    ['slow_decision', 1],
  ]

  test('G3 it finds problems, and the same ones after a restart', async () => {
    const { system, store, clock } = await lived()
    const first = await report(system, { agent_id: 'sales' })
    expect(findingsOf(first)).toEqual(found)
    expect(first).toMatchObject({
      interventions: [
        { agent_id: 'sales', domain: 'crm', approvals: 2, overrides: 0, handoffs: 1, expired: 0 },
      ],
      period: { start: expect.any(String), end: expect.any(String) },
    })
    const again = await governed({}, {}, store, clock)
    const second = await report(again, { agent_id: 'sales' })
    expect(second['findings']).toEqual(first['findings'])
  })

  test('G3 an agent reads only about itself, people about every agent', async () => {
    const { system } = await lived()
    expect(findingsOf(await report(system, {}, sales))).toEqual(found)
    expect(findingsOf(await report(system, { agent_id: 'sales' }, support))).toEqual([
      ['missing_intent', 1],
    ])
    expect(findingsOf(await report(system))).toContainEqual(['missing_intent', 1])
    expect(JSON.stringify(await report(system))).toContain('support')
  })

  test('G3 the named entries are in the ledger', async () => {
    const { system } = await lived()
    const { findings } = await report(system)
    for (const { kind, entries } of findings as { kind: string; entries: number[] }[])
      for (const seq of entries) {
        const { entry } = (await system.ledger.entry(seq)) ?? {}
        const type = /wait|slow/.test(kind) ? 'proposal.created' : 'action.logged'
        expect(entry?.type).toBe(kind === 'unanswered_handoff' ? 'handoff.created' : type)
      }
  })

  test('G3 proposals and handoffs from long before the period are known', async () => {
    const clock = movableClock()
    const system = await governed({}, {}, sqliteStore(), clock)
    const old = await proposed(system)
    await approve(system, old)
    const forgotten = await handOver(system)
    const taken = await handOver(system)
    await system.call('cowork_withdraw', { approval_id: taken })
    await resolve(system, await handOver(system))
    clock.move(200 * day)
    await done(system, old)
    const reply = await report(system)
    expect(findingsOf(reply)).toEqual([['unanswered_handoff', 1]])
    expect(reply['interventions']).toEqual([])
    await resolve(system, forgotten)
    expect(findingsOf(await report(system))).toEqual([])
    expect(findingsOf(await report(system, { start: '2020-01-01' }))).toEqual([])
  })

  test('G3 pages of the ledger are read to the end', async () => {
    const system = await governed({ 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 })
    const ids = await Promise.all(Array.from({ length: 700 }, () => proposed(system)))
    await Promise.all(ids.map((id) => approve(system, id)))
    await Promise.all(ids.map((id) => done(system, id)))
    await done(system, 'nothing')
    const reply = await report(system)
    expect(findingsOf(reply)).toEqual([
      ['orphaned_execution', 1],
      ['rubber_stamping', 700],
    ])
    expect(reply['interventions']).toMatchObject([{ approvals: 700 }])
    // Agents cannot read how people decide.
    expect(findingsOf(await report(system, {}, sales))).toEqual([['orphaned_execution', 1]])
  })

  test('G3 decisions deferred in bulk and released later share the review time', async () => {
    const clock = movableClock()
    const system = await governed({ 'approvals.undo_hold': '20ms' }, {}, sqliteStore(), clock)
    const ids: string[] = []
    for (let n = 0; n < 50; n++) ids.push(await proposed(system))
    clock.move(hour)
    await decide(system, ids, { hold: true })
    await expect.poll(async () => (await system.entries(['approval.approved'])).length).toBe(50)
    expect(findingsOf(await report(system))).toEqual([])
  })

  test('G3 an invalid period is refused with a hint', async () => {
    const system = await governed()
    for (const args of [
      { start: 'yesterday' },
      { end: 'never' },
      { start: '2026-02-01', end: '2026-01-01' },
      { start: '2026-02-01', end: '2026-02-01' },
      { end: '-271821-04-20' },
    ])
      expect(await report(system, args), JSON.stringify(args)).toMatchObject({
        fault: 'invalid_input',
        hint: expect.stringMatching(/^(Write|Set)/),
      })
    const reply = await report(system, { start: '2026-02-01', end: '2026-02-03T10:00:00Z' })
    expect(reply['period']).toEqual({
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-02-03T10:00:00.000Z',
    })
  })
})

describe('the metrics', () => {
  test('Q1 they follow from the ledger, for people about all agents and for an agent about itself', async () => {
    const clock = movableClock()
    const system = await governed({}, {}, sqliteStore(), clock)
    const [good, bad] = [await proposed(system), await proposed(system, { confidence: 0.5 })]
    const theirs = await proposed(system, {}, support)
    clock.move(60_000)
    await approve(system, good)
    await approve(system, theirs)
    await override(system, 'agent_wrong', { proposal_id: bad, severity: 'critical' })
    expect(await quality(system, { agent_id: 'sales' })).toMatchObject({
      n_reviewed: 2,
      approval_rate: 0.5,
      approval_interval: { low: 0.0945, high: 0.9055 },
      accuracy: 0.5,
      override_rate: 0.5,
      overrides: [{ override_type: 'agent_wrong', severity: 'critical', count: 1, rate: 0.5 }],
      weighted_override: 1,
      confidence_avg: 0.7,
      // ((1 − 0.9)² + 0.5²) / 2 and (0.1 + 0.5) / 2
      brier: 0.13,
      ece: 0.3,
      rubber_stamp_share: null,
      retry_rate: 0,
      automation_rate: 0,
      review_load: 100,
      collaboration_score: null,
    })
    expect(await quality(system)).toMatchObject({ n_reviewed: 3 })
    expect(await quality(system, { agent_id: 'sales' }, support)).toMatchObject({ n_reviewed: 1 })
    expect(await quality(system, { domain: 'mail' })).toMatchObject({ n_reviewed: 0 })
  })

  test('Q1 a retry is found by the fields of the proposal', async () => {
    const system = await governed()
    const propose = (change: object, more: object = {}) =>
      proposed(system, { proposed_change: change, ...more })
    const first = await propose({ stage: 'won' })
    const second = await propose({ value: 1 }, { field: 'amount', target: 'deal-2' })
    for (const id of [first, second])
      await override(system, 'agent_wrong', { proposal_id: id, severity: 'low' })
    await propose({ note: 'hello' })
    await propose({ value: 2 }, { field: 'discount', target: 'deal-2' })
    expect(await quality(system)).toMatchObject({ retry_rate: 0 })
    await propose({ deal: { stage: 'won' } })
    expect(await quality(system)).toMatchObject({ retry_rate: 0 })
    await propose({ stage: 'lost', note: 'or so' })
    expect(await quality(system)).toMatchObject({ retry_rate: 0.5 })
    await propose({ amount: 3 }, { target: 'deal-2' })
    expect(await quality(system)).toMatchObject({ retry_rate: 1 })
  })

  test('Q1 autonomous proposals and calls count, and their mistakes', async () => {
    const { tool } = actingTool('mail', 'write')
    const system = await governed({}, { tools: [tool], draw: () => 0 })
    await trusted(system, 0.9)
    await trusted(system, 0.9, 'sales', 'mail')
    await proposed(system)
    await system.call('mail_write', { path: 'a' })
    await system.governance.spotChecks.flush()
    const [check] = (await system.governance.inbox.list(anna, { status: 'pending', limit: 10 }))
      .items
    await decide(system, [check?.id ?? ''], {
      decision: 'reject',
      override: { type: 'agent_wrong' },
    })
    expect(await quality(system)).toMatchObject({
      autonomous: 2,
      automation_rate: 1,
      escape_rate: 0.5,
      review_load: 50,
      n_reviewed: 0,
    })
  })

  test('Q1 Q2 with over twenty decisions there is a score, and handoffs have a latency', async () => {
    const clock = movableClock()
    const system = await openGoverned({}, {}, sqliteStore(), clock)
    for (let n = 0; n < 20; n++) await approve(system, await proposed(system, { confidence: 1 }))
    const id = await handOver(system)
    clock.move(2 * hour)
    await resolve(system, id)
    const reply = await quality(system)
    expect(reply).toMatchObject({ n_reviewed: 20, handoff_latency_p50: expect.any(Number) })
    expect(reply['handoff_latency_p50']).toBeGreaterThanOrEqual(7200)
    expect(reply['collaboration_score']).toBeGreaterThan(99)
    await system.close()
  })
})

describe('checks of autonomous actions', () => {
  /** A vouched agent that acts alone; every action is drawn. */
  async function checked(count: number) {
    const clock = movableClock()
    const system = await governed({}, { draw: () => 0 }, sqliteStore(), clock)
    await trusted(system, 0.9)
    for (let n = 0; n < count; n++) await proposed(system)
    await system.governance.spotChecks.flush()
    const query = { status: 'pending', kind: 'spot_check', limit: 10 } as const
    const { items } = await system.governance.inbox.list(anna, query)
    const ids = items.map(({ id }) => id)
    const open = (id: string) => system.governance.inbox.detail(anna, id)
    return { system, clock, ids, open }
  }

  test('Q1 T14 quality estimates from opened random checks and hides them from agents', async () => {
    const { system, clock, ids, open } = await checked(4)
    const [first = '', second = '', third = ''] = ids
    for (const id of [first, second]) await open(id)
    clock.move(hour)
    await decide(system, [first])
    const before = await quality(system, {}, sales)
    await decide(system, [second])
    expect(await quality(system, {}, sales)).toEqual({ ...before, period: expect.anything() })
    expect(await report(system, {}, sales)).toMatchObject({ interventions: [] })
    // Unopened: it does not count.
    expect(await decide(system, [third])).toMatchObject({ outcomes: [{ counted: false }] })
    expect(await quality(system)).toMatchObject({
      autonomous: 4,
      checks_drawn: 2,
      alone_error_rate: 0,
      alone_error_interval: { low: 0, high: 0.6576 },
      slips_per_100: 0,
      checks_within_day: 0.6667,
    })
    expect(before).toMatchObject({
      checks_drawn: null,
      alone_error_rate: null,
      alone_error_interval: null,
      checks_within_day: null,
    })
    clock.move(2 * day)
    expect(await quality(system)).toMatchObject({ checks_within_day: 0.5 })
  })

  test('Q1 T14 a mistake found by a look-back is a slip and not part of the estimate', async () => {
    const clock = movableClock()
    let isDrawn = false
    const system = await governed({}, { draw: () => (isDrawn ? 0 : 1) }, sqliteStore(), clock)
    await trusted(system, 0.9)
    for (let n = 0; n < 3; n++) await proposed(system)
    isDrawn = true
    await proposed(system)
    await system.governance.spotChecks.flush()
    const pending = async () => {
      const query = { status: 'pending', kind: 'spot_check', limit: 10 } as const
      return (await system.governance.inbox.list(anna, query)).items.map(({ id }) => id)
    }
    const wrong = { decision: 'reject', override: { type: 'agent_wrong' } }
    await decide(system, await pending(), wrong)
    const rows = await pending()
    expect(rows).toHaveLength(3)
    await decide(system, rows.slice(0, 1), wrong)
    expect(await quality(system)).toMatchObject({
      checks_drawn: 1,
      alone_error_rate: 1,
      slips_per_100: 50,
    })
    const [, details] = await system.entries(['approval.rejected'])
    expect(details?.data).toMatchObject({ kind: 'spot_check', from_look_back: true })
  })

  test('G3 T14 the report contains the standing of agents and unread checks that limit one', async () => {
    const { system } = await checked(6)
    const reply = await report(system)
    expect(reply).toMatchObject({
      findings: [
        {
          kind: 'unread_checks',
          title: '6 unread checks; sales does not act alone until they are answered: crm',
        },
      ],
      standings: [
        {
          agent_id: 'sales',
          domain: 'crm',
          classes: [
            { risk: 'low', level: 'autonomous' },
            { risk: 'normal', level: 'supervised', reason: '6 unread checks' },
            { risk: 'high', level: 'supervised', next: '25 more correct actions' },
          ],
        },
      ],
    })
    const theirs = await report(system, {}, sales)
    expect(theirs).toMatchObject({ findings: [] })
    expect(theirs).not.toHaveProperty('standings')
  })
})
