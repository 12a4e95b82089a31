import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { begun, createRecord, day, hour, minute } from '../../../test/recorded.ts'
import { findingKinds, computeFindings, computeInterventions, findUnreadChecks } from './report.ts'
import type { Scope } from './report.ts'

type Record = ReturnType<typeof createRecord>

const month: Scope = { period: { start: begun, end: begun + 30 * day } }
const findings = (record: Record, scope: Partial<Scope> = {}, handoffMs = hour) =>
  computeFindings(record.history(), { ...month, ...scope }, handoffMs)
const kinds = (record: Record, scope?: Partial<Scope>) =>
  findings(record, scope).map(({ kind, count }) => [kind, count])

describe('executions', () => {
  test('G3 an action proposed, approved and then executed is not a problem', () => {
    const record = createRecord()
    record.asked('p1')
    record.approved('p1')
    record.done('p1')
    record.asked('p2', { data: { auto: true } })
    record.done('p2')
    record.done(undefined, { data: { actor: 'human' } })
    record.done('p2', { data: { phase: 'verify' } })
    expect(findings(record)).toEqual([])
  })

  test('G3 an execution for an unknown proposal is orphaned', () => {
    const record = createRecord()
    const seq = record.done('p-unknown')
    record.asked('h1', { kind: 'handoff', at: begun })
    record.approved('h1', { kind: 'handoff' })
    record.done('h1')
    expect(findings(record)).toEqual([
      {
        kind: 'orphaned_execution',
        severity: 'high',
        title: '2 done for an unknown proposal: sales in crm',
        count: 2,
        agent_id: 'sales',
        domain: 'crm',
        entries: [seq, 4],
        recommendation: expect.stringContaining('cowork_propose'),
      },
    ])
  })

  test('G3 an execution before its approval is found, even if approved later', () => {
    const record = createRecord()
    record.asked('p1')
    const early = record.done('p1')
    record.approved('p1')
    record.done('p1')
    expect(findings(record)).toMatchObject([
      { kind: 'execution_before_approval', severity: 'high', entries: [early] },
    ])
  })

  test.each(['pending', 'rejected', 'withdrawn', 'expired'] as const)(
    'G3 an execution of a %s proposal lacks approval',
    (status) => {
      const record = createRecord()
      record.asked('p1')
      if (status === 'rejected') record.rejected('p1', 'agent_wrong')
      else if (status !== 'pending') record[status]('p1')
      const seq = record.done('p1')
      record.pass(minute)
      const [worst] = findings(record, { period: { start: begun, end: begun + hour } })
      expect(worst).toMatchObject({
        kind: 'missing_approval',
        severity: 'critical',
        entries: [seq],
      })
    },
  )

  test('G3 an execution without a proposal has no intent', () => {
    const record = createRecord()
    record.done()
    record.done(undefined, { data: { actor: 'collaborative' } })
    expect(kinds(record)).toEqual([['missing_intent', 2]])
  })
})

describe('latency', () => {
  const asOf = (end: number) => ({ period: { start: begun, end } })

  test('G3 a decision after more than a day is slow, after exactly a day it is not', () => {
    const record = createRecord()
    record.asked('p1')
    record.asked('p2')
    record.asked('c1', { kind: 'call' })
    record.approved('p1', { at: begun + day })
    record.rejected('c1', undefined, undefined, { kind: 'call', at: begun + day })
    const seq = record.approved('p2', { at: begun + day + 1 })
    expect(findings(record)).toMatchObject([{ kind: 'slow_decision', count: 1, entries: [seq] }])
  })

  test('G3 a request undecided for more than a day is slow, whenever it was opened', () => {
    const record = createRecord()
    const old = record.asked('p1', { at: begun - 3 * day })
    const seq = record.asked('p2', { at: begun + 10 * minute })
    expect(findings(record, asOf(begun + day))).toMatchObject([{ entries: [old] }])
    expect(findings(record, asOf(begun + day + 11 * minute))).toMatchObject([
      { kind: 'slow_decision', entries: [old, seq] },
    ])
  })

  test('G3 an expired request is slow, however short its lifetime', () => {
    const record = createRecord()
    record.asked('c1', { kind: 'call' })
    record.expired('c1', { kind: 'call', at: begun + hour })
    expect(kinds(record, asOf(begun + 2 * hour))).toEqual([['slow_decision', 1]])
  })

  test('RC2 G3 a decision with an unknown request is not slow', () => {
    const record = createRecord()
    record.approved('p-old', { at: begun + hour })
    expect(findings(record, asOf(begun + 2 * hour))).toEqual([])
  })

  test('RC2 an access request has a known start', () => {
    const record = createRecord()
    record.asked('g1', { kind: 'grant', domain: 'files' })
    record.approved('g1', { kind: 'grant', domain: 'files', at: begun + hour })
    expect(record.history().requests.get('g1')?.opened?.at).toBe(begun)
    expect(findings(record, asOf(begun + 2 * hour))).toEqual([])
  })

  test('G3 H4 a handoff without an answer is found after its timeout until it is answered', () => {
    const record = createRecord()
    const seq = record.asked('h1', { kind: 'handoff' })
    record.asked('h2', { kind: 'handoff' })
    record.asked('h3', { kind: 'handoff' })
    record.withdrawn('h2', { kind: 'handoff' })
    expect(kinds(record, asOf(begun + hour - 1))).toEqual([])
    record.approved('h3', { kind: 'handoff', at: begun + 30 * day })
    expect(findings(record, asOf(begun + hour))).toMatchObject([
      { kind: 'unanswered_handoff', count: 1, entries: [seq] },
    ])
    record.approved('h1', { kind: 'handoff', at: begun + 5 * day })
    expect(findings(record)).toEqual([])
  })
})

describe('rubber-stamping', () => {
  /** Decisions by one person, each with a delay after its request. */
  function decisions(count: number, afterMs: number, rejected = 0, record = createRecord()) {
    for (let n = 0; n < count; n++) {
      record.asked(`p${n}`)
      record.pass(afterMs)
      if (n < rejected) record.rejected(`p${n}`, 'agent_wrong')
      else record.approved(`p${n}`)
    }
    return record
  }

  test('G3 fifty approvals, each within three seconds, are found', () => {
    const found = findings(decisions(50, 2999))
    expect(found).toMatchObject([
      { kind: 'rubber_stamping', severity: 'high', person_id: 'anna', count: 50 },
    ])
    expect(found[0]).not.toHaveProperty('agent_id')
  })

  test('G3 fewer, slower or mixed decisions are not found', () => {
    expect(findings(decisions(49, 2999))).toEqual([])
    expect(findings(decisions(50, 3000))).toEqual([])
    expect(kinds(decisions(60, 2999, 2))).toEqual([['rubber_stamping', 58]])
    expect(findings(decisions(60, 2999, 3))).toEqual([])
  })

  test('G3 a bulk approval has review time since the previous decision', () => {
    const quick = createRecord()
    const slow = createRecord()
    for (const record of [quick, slow]) for (let n = 0; n < 60; n++) record.asked(`p${n}`)
    for (let n = 0; n < 60; n++) {
      quick.pass(minute / 60)
      quick.approved(`p${n}`, { call: `c${n}` })
    }
    slow.pass(10 * minute)
    for (let n = 0; n < 60; n++) slow.approved(`p${n}`, { call: 'c1' })
    expect(kinds(quick)).toEqual([['rubber_stamping', 60]])
    // Sixty in one call, after ten minutes with them.
    expect(findings(slow)).toEqual([])
  })

  test('G3 a deferred decision counts from when it was deferred', () => {
    const record = createRecord()
    for (let n = 0; n < 60; n++) {
      record.asked(`p${n}`)
      record.pass(minute)
      record.held(`p${n}`, { call: `c${n}` })
      record.pass(8000)
    }
    // One sweep releases them all.
    for (let n = 0; n < 60; n++) record.approved(`p${n}`)
    expect(findings(record)).toEqual([])
  })

  test('G3 decisions of other people do not shorten the review time', () => {
    const record = createRecord()
    for (let n = 0; n < 60; n++) {
      record.asked(`p${n}`)
      record.asked(`q${n}`)
      record.pass(minute)
      record.approved(`p${n}`, { by: 'anna' })
      record.pass(100)
      record.approved(`q${n}`, { by: 'ben' })
    }
    expect(findings(record)).toEqual([])
  })
})

describe('the report', () => {
  test('G3 it can be limited to an agent, a domain and a period', () => {
    const record = createRecord()
    record.done(undefined, { agent: 'sales', domain: 'crm' })
    record.done(undefined, { agent: 'sales', domain: 'mail' })
    record.done(undefined, { agent: 'support', domain: 'crm' })
    record.done(undefined, { agent: 'sales', domain: 'crm', at: begun + 40 * day })
    expect(kinds(record)).toHaveLength(3)
    expect(findings(record, { agent: 'sales' })).toHaveLength(2)
    expect(findings(record, { agent: 'sales', domain: 'mail' })).toMatchObject([{ count: 1 }])
    const later = { period: { start: begun + 40 * day, end: begun + 40 * day + 1 } }
    expect(findings(record, later)).toMatchObject([{ agent_id: 'sales', domain: 'crm', count: 1 }])
  })

  test('RC1 the demo is left out unless requested', () => {
    const record = createRecord()
    const demo = { agent: 'demo-hasty', domain: 'demo.deals' }
    for (let n = 0; n < 60; n++) {
      record.asked(`d${n}`, demo)
      record.approved(`d${n}`, demo)
    }
    record.done(undefined, demo)
    expect(findings(record)).toEqual([])
    expect(computeInterventions(record.history(), month)).toEqual([])
    expect(findings(record, { domain: 'demo.deals' })).not.toEqual([])
    // A demo name does not hide data elsewhere.
    record.done(undefined, { agent: 'demo-hasty', domain: 'crm' })
    expect(kinds(record)).toEqual([['missing_intent', 1]])
  })

  test('G3 the most severe finding is first, with at most a hundred entries', () => {
    const record = createRecord()
    for (let n = 0; n < 150; n++) record.done()
    record.asked('p1')
    record.done('p1')
    const found = findings(record, { period: { start: begun, end: begun + hour } })
    expect(found.map(({ kind }) => kind)).toEqual(['missing_approval', 'missing_intent'])
    expect(found[1]).toMatchObject({ count: 150 })
    expect(found[1]?.entries).toHaveLength(100)
    expect(found[1]?.entries.at(-1)).toBe(150)
  })

  test('G3 every kind of finding has a recommendation', () => {
    for (const { what, recommendation } of Object.values(findingKinds)) {
      expect(what).not.toBe('')
      expect(recommendation).toMatch(/^[A-Z].*\.$/)
    }
  })

  test('G3 the intervention map counts interventions by agent and domain', () => {
    const record = createRecord()
    for (const id of ['a', 'b', 'c', 'd', 'e']) record.asked(id)
    record.asked('auto', { data: { auto: true } })
    record.approved('a')
    record.approved('b')
    record.rejected('c', 'agent_wrong')
    record.expired('d')
    record.withdrawn('e')
    record.corrected('edge_case', 'auto')
    record.asked('h', { kind: 'handoff' })
    record.approved('h', { kind: 'handoff' })
    record.asked('x', { kind: 'call', domain: 'mail' })
    record.rejected('x', undefined, undefined, { kind: 'call', domain: 'mail' })
    record.asked('y', { agent: 'support' })
    record.approved('y', { agent: 'support' })
    record.approved('late', { at: begun + 31 * day })
    expect(computeInterventions(record.history(), month)).toEqual([
      { agent_id: 'sales', domain: 'crm', approvals: 2, overrides: 2, handoffs: 1, expired: 1 },
      { agent_id: 'support', domain: 'crm', approvals: 1, overrides: 0, handoffs: 0, expired: 0 },
    ])
    expect(computeInterventions(record.history(), { ...month, agent: 'support' })).toHaveLength(1)
  })

  test('G3 every finding counts once and refers to ledger entries, for any history', () => {
    const step = fc.record({
      what: fc.constantFrom('ask', 'approve', 'reject', 'expire', 'do', 'do alone'),
      id: fc.integer({ min: 0, max: 3 }),
      ms: fc.nat(2 * day),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const record = createRecord()
        for (const { what, id, ms } of steps) {
          const name = `p${id}`
          record.pass(ms)
          if (what === 'ask') record.asked(name)
          else if (what === 'approve') record.approved(name)
          else if (what === 'reject') record.rejected(name, 'edge_case')
          else if (what === 'expire') record.expired(name)
          else record.done(what === 'do' ? name : undefined)
        }
        const all = { period: { start: begun, end: record.now() + 1 } }
        const found = findings(record, all)
        const done = record.entries.filter(({ type }) => type === 'action.logged')
        const ofDone = found.filter(({ kind }) => /execution|approval|intent/.test(kind))
        const seqs = ofDone.flatMap(({ entries }) => entries)
        expect(new Set(seqs).size).toBe(seqs.length)
        expect(seqs.every((seq) => done.some((entry) => entry.seq === seq))).toBe(true)
        for (const { count, entries } of found) expect(count).toBe(entries.length)
      }),
    )
  })
})

describe('checks', () => {
  test('G3 T14 the latency of a check starts when it was opened, without an entry', () => {
    const record = createRecord()
    record.pass(3 * day)
    const data = { opened_at: begun + day }
    const slow = record.approved('c1', { kind: 'spot_check', data })
    record.approved('c2', { kind: 'spot_check', data: { opened_at: record.now() - hour } })
    expect(findings(record)).toMatchObject([
      { kind: 'slow_decision', count: 1, entries: [slow], agent_id: 'sales' },
    ])
    expect(record.history().requests.get('c1')?.opened?.at).toBe(begun + day)
  })

  test('G3 T14 only unread checks that close the gate are a finding', () => {
    const standing = (cause: string | undefined, unread: number) => ({
      agent_id: 'sales',
      domain: 'crm',
      classes: [{ ...(cause !== undefined && { cause }), checks: { unread } }],
    })
    expect(findUnreadChecks([standing(undefined, 5), standing('mistake', 3)])).toEqual([])
    expect(findUnreadChecks([standing('unread', 6)])).toMatchObject([
      {
        kind: 'unread_checks',
        severity: 'high',
        title: '6 unread checks; sales does not act alone until they are answered: crm',
        count: 6,
        agent_id: 'sales',
        domain: 'crm',
        entries: [],
      },
    ])
  })
})
