import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as daemon from '../../../src/base/override.ts'
import { overrideTypes, severities } from '#base/override.ts'
import { item } from './approval.fixture.ts'
import {
  formatAge,
  commonSummary,
  formatDecision,
  formatTrustEffect,
  splitNames,
  formatEndState,
  formatHandoffMode,
  formatVerdict,
  formatMode,
  formatOutcome,
  formatPastDecision,
  formatQuorum,
  formatRisk,
  secondsUntil,
  formatSigned,
  formatSince,
  formatExpiry,
} from './text.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const later = (seconds: number) => new Date(now + seconds * 1000).toISOString()

test.each([
  [later(8 * 60 + 12), 'expires in 8:12'],
  [later(59), 'expires in 0:59'],
  [later(3600), 'expires in 1 h'],
  [later(23.9 * 3600), 'expires in 23 h'],
  [later(24 * 3600), undefined],
  [later(-1), 'expired'],
  [null, undefined],
])('C2 an expiry at %s is shown as %s', (expires, text) => {
  expect(formatExpiry(expires, now)).toBe(text)
})

test('T4 override types and severities equal those of the daemon, in order', () => {
  expect(overrideTypes).toEqual(daemon.overrideTypes)
  expect(severities).toEqual(daemon.severities)
})

test('C2 a row shows mode, trust, risk, quorum and undo window', () => {
  expect(formatMode('suggest', 0.72)).toBe('suggest 0.72')
  expect(formatMode('escalate', null)).toBe('escalate')
  expect(formatRisk(item({ risk: 'high' }))).toBe('high-risk field')
  expect(formatRisk(item({ risk: 'high', kind: 'call' }))).toBe('high risk')
  expect(formatRisk(item())).toBeUndefined()
  expect(formatQuorum(item({ approvers: { needed: 2, given: ['ben'] } }))).toBe('1 of 2')
  expect(formatQuorum(item())).toBeUndefined()
  expect(secondsUntil(later(5), now)).toBe(5)
  expect(secondsUntil(later(-5), now)).toBe(0)
  expect(formatAge(now - 120_000, now)).toBe('2 min')
  expect(formatAge(now, now)).toBe('now')
})

test('C2 A5 a decision shows the person and the time in seconds', () => {
  const decided = item({ status: 'approved', decided_by: 'ben', decided_at: later(-3) })
  expect(formatDecision(decided, 'Ben', formatSince(now - 3000, now))).toBe(
    'Approved by Ben 3 s ago',
  )
  expect(
    formatDecision({ ...decided, status: 'rejected' }, 'you', formatSince(now - 200_000, now)),
  ).toBe('Rejected by you 3 min ago')
  expect(formatDecision({ ...decided, auto: true }, 'x', 'just now')).toBe(
    'Approved by trust just now',
  )
  expect(formatDecision({ ...decided, status: 'expired' }, 'x', '')).toMatch(/without a decision/)
  const withdrawn = { ...decided, status: 'withdrawn' } as const
  expect(formatDecision({ ...withdrawn, decided_by: decided.requester }, 'x', '')).toBe(
    'Withdrawn by the agent',
  )
  expect(formatDecision({ ...withdrawn, decided_by: 'ben' }, 'Ben', 'just now')).toBe(
    'Closed: Ben revoked the agent just now',
  )
  expect(formatDecision({ ...withdrawn, reason: 'stale' }, 'x', '')).toBe(
    'Not run: the target changed after the request',
  )
  expect(formatDecision({ ...withdrawn, reason: 'BLOCKED by p' }, 'x', '')).toBe(
    'Not run: BLOCKED by p',
  )
})

test('C2 T3 T4 the trust change is formatted before and after a decision', () => {
  expect(formatTrustEffect({ from: 0.72, to: 0.74 })).toBe('Approving adds 0.02: 0.72 → 0.74')
  expect(formatTrustEffect({ from: 1, to: 1 })).toBe('Trust unchanged: 1.00')
  expect(formatTrustEffect(null)).toBeUndefined()
  expect(formatSigned(-0.12)).toBe('−0.12')
  expect(formatSigned(0.02)).toBe('+0.02')
  expect(formatSigned(-0.0075)).toBe('−0.0075')
  expect(formatSigned(-0.015)).toBe('−0.015')
  expect(formatOutcome({ id: 'p', status: 'approved', trust: { from: 0.72, to: 0.74 } })).toBe(
    'Approved. Trust 0.72 → 0.74.',
  )
  expect(formatOutcome({ id: 'p', status: 'voted' })).toMatch(/1 more approval required/)
  const trust = { from: 0.52, to: 0.4, demoted: true } as const
  expect(formatOutcome({ id: 'p', status: 'rejected', trust })).toMatch(/and demoted\.$/)
})

test('C2 GR3 other answered requests are reported', () => {
  const also = ['one', 'two'].map((id) => ({ id, summary: `AI wants to read files in: /${id}` }))
  expect(formatOutcome({ id: 'p', status: 'approved', also: also.slice(1) })).toBe(
    'Approved. Also applies to 1 more request of this agent.',
  )
  expect(formatOutcome({ id: 'p', status: 'rejected', also })).toBe(
    'Rejected. Also applies to 2 more requests of this agent.',
  )
})

test('C2 a previous decision is formatted as a sentence', () => {
  const past = { id: 'h', at: later(-9), decided_by: 'ben', summary: 'x', reason: null }
  expect(formatPastDecision({ ...past, status: 'approved', trust_change: 0.02 }, 'You')).toBe(
    'You approved',
  )
  expect(formatPastDecision({ ...past, status: 'rejected', trust_change: -0.03 }, 'Ben')).toBe(
    'Ben overrode',
  )
  expect(formatPastDecision({ ...past, status: 'rejected', trust_change: null }, 'Ben')).toBe(
    'Ben rejected',
  )
  expect(formatPastDecision({ ...past, status: 'expired', trust_change: null }, '')).toBe('Expired')
})

test('C2 a group shows the common words of its items', () => {
  const summarize = (...summaries: string[]) =>
    commonSummary(summaries.map((summary) => ({ summary })))
  expect(summarize('Set priority of t_1 to high', 'Set priority of t_2 to high')).toBe(
    'Set priority of … to high',
  )
  expect(summarize('Set owner of a to x', 'Set owner of b to y')).toBe('Set owner of …')
  expect(summarize('Close a', 'Close a')).toBe('Close a')
  expect(summarize('a b', 'a b c')).toBe('a b …')
  expect(summarize('one', 'two')).toBe('…')
})

test('C2 every word of a group summary occurs in each item', () => {
  const words = fc.array(fc.constantFrom('set', 'x', 'y', 'to', 'of'), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(fc.array(words, { minLength: 2, maxLength: 5 }), (lines) => {
      const [head = '', tail = ''] = commonSummary(
        lines.map((line) => ({ summary: line.join(' ') })),
      ).split('…')
      for (const line of lines) {
        expect(line.join(' ').startsWith(head.trimEnd())).toBe(true)
        expect(line.join(' ').endsWith(tail.trimStart())).toBe(true)
      }
    }),
  )
})

test('A8 splitting names keeps the whole sentence', () => {
  const text = 'You are asked because deal_stage is high risk in crm-write-policy.'
  const names = splitNames(text, ['deal_stage', 'crm-write-policy'])
  expect(names.filter(({ isName }) => isName).map((piece) => piece.text)).toEqual([
    'deal_stage',
    'crm-write-policy',
  ])
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string({ maxLength: 3 })), (sentence, given) => {
      expect(
        splitNames(sentence, given)
          .map((piece) => piece.text)
          .join(''),
      ).toBe(sentence)
    }),
  )
})

test('C2 H1 handoff modes and end states have labels', () => {
  expect(formatHandoffMode('takeover')).toBe('Takeover requested')
  expect(formatHandoffMode('hand_over')).toBe('hand over')
  expect(formatEndState(item({ kind: 'handoff', status: 'approved' }))).toBe('Resolved')
  expect(formatEndState(item({ kind: 'handoff', status: 'consumed' }))).toBe(
    'Resolved, acknowledged',
  )
  expect(formatEndState(item({ kind: 'handoff', status: 'withdrawn' }))).toBe('Withdrawn')
  expect(formatEndState(item({ status: 'consumed' }))).toBe('Executed')
  const answered = item({ kind: 'handoff', status: 'approved', decided_by: 'ben' })
  expect(formatDecision(answered, 'Ben', 'just now')).toBe('Resolved by Ben just now')
})

test('C2 T14 a check is confirmed or marked as wrong, neither approved nor rejected', () => {
  const check = { kind: 'spot_check' }
  expect(formatEndState({ ...check, status: 'approved' })).toBe('Confirmed')
  expect(formatEndState({ ...check, status: 'rejected' })).toBe('Marked as wrong')
  const wrong = item({ kind: 'spot_check', status: 'rejected' })
  expect(formatDecision(wrong, 'Ben', '3 s ago')).toBe('Marked as wrong by Ben 3 s ago')
})

test('C2 a deferred decision has its own label', () => {
  const check = item({ kind: 'spot_check' })
  expect(formatVerdict([item(), check], { decision: 'approve' })).toBe('Approved')
  expect(formatVerdict([item()], { decision: 'reject' })).toBe('Rejected')
  expect(formatVerdict([check], { decision: 'approve' })).toBe('Confirmed')
  expect(formatVerdict([check], { decision: 'approve', skip: true })).toBe('Skipped')
  expect(formatVerdict([check], { decision: 'reject' })).toBe('Answered')
})
