import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { notify } from '../config.ts'
import { delivery } from '../../../test/approvals/notify/notify.fixture.ts'
import {
  endOfQuietHours,
  nextDigestAt,
  isObsolete,
  groupDeliveries,
  scheduleDecision,
  scheduleRequest,
} from './schedule.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const local = (hours: number, minutes = 0) => new Date(2026, 5, 15, hours, minutes).getTime()
const night = { from: '22:00', to: '07:00', except_high_risk: true }
const noon = { from: '12:00', to: '13:30', except_high_risk: true }

test.each([
  ['in the evening', local(22), local(7) + day],
  ['just before', local(21, 59), local(21, 59)],
  ['before midnight', local(23, 59), local(7) + day],
  ['after midnight', local(0), local(7)],
  ['at its last minute', local(6, 59), local(7)],
  ['at its end', local(7), local(7)],
  ['in the afternoon', local(15), local(15)],
])('A10 quiet hours across midnight, %s', (_, at, awake) => {
  expect(endOfQuietHours(at, 'normal', night)).toBe(awake)
})

test('A10 quiet hours within a day, no quiet hours, and an empty range', () => {
  expect(endOfQuietHours(local(12, 10), 'low', noon)).toBe(local(13, 30))
  expect(endOfQuietHours(local(13, 30), 'low', noon)).toBe(local(13, 30))
  expect(endOfQuietHours(local(11, 59), 'low', noon)).toBe(local(11, 59))
  expect(endOfQuietHours(local(3), 'low', undefined)).toBe(local(3))
  expect(endOfQuietHours(local(9), 'low', { ...night, from: '09:00', to: '09:00' })).toBe(local(9))
})

test('A10 high risk is sent in quiet hours unless configured otherwise', () => {
  expect(endOfQuietHours(local(23), 'high', night)).toBe(local(23))
  expect(endOfQuietHours(local(23), 'high', { ...night, except_high_risk: false })).toBe(
    local(7) + day,
  )
})

test('A10 quiet hours follow local time across clock changes', () => {
  const script = `
    import { findQuietHourErrors } from '${new URL('../../../test/approvals/notify/quiet-hours.fixture.ts', import.meta.url).href}'
    const offset = (month) => new Date(2026, month, 1).getTimezoneOffset()
    const found = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'].map((zone) => {
      process.env.TZ = zone
      return [zone, offset(0) !== offset(6), findQuietHourErrors()]
    })
    console.log(JSON.stringify(found))`
  // A separate process, because the time zone is global.
  const run = ['--input-type=module', '--eval', script]
  expect(JSON.parse(execFileSync(process.execPath, run, { encoding: 'utf8' }))).toEqual([
    ['Europe/Berlin', true, []],
    ['America/New_York', true, []],
    ['Australia/Lord_Howe', true, []],
  ])
})

test('A10 digest times do not depend on restarts', () => {
  const duration = fc.integer({ min: 1, max: 7 * day })
  fc.assert(
    fc.property(fc.nat(2_000_000_000_000), duration, (now, every) => {
      const at = nextDigestAt(now, every)
      expect(at).toBeGreaterThan(now)
      expect(at - now).toBeLessThanOrEqual(every)
      expect(nextDigestAt(at - 1, every)).toBe(at)
    }),
  )
})

const settings = {
  rules: notify.parse({
    rules: [
      { risks: ['high'], channels: ['ops'], escalate_after: '15m', escalate_to: ['pager', 'ops'] },
      { channels: ['ops', 'mail'], escalate_to: ['pager'] },
    ],
  }).rules,
  quietHours: night,
  digest: hour,
}
const channels = ['ops', 'mail', 'pager']
const plan = (risk: string, at: number, event: 'requested' | 'escalated' = 'requested') =>
  scheduleRequest(`approval.${event}`, { kind: 'call', risk }, channels, settings, at).map(
    ({ channel, event, nextAt, held }) => [channel, event.slice(9), nextAt - at, held],
  )

test('A10 a request is sent immediately, low risk with the next digest, and nothing at night', () => {
  const at = local(12, 10)
  expect(plan('normal', at)).toEqual([
    ['ops', 'requested', 0, null],
    ['mail', 'requested', 0, null],
  ])
  const digest = nextDigestAt(at, hour) - at
  expect(plan('low', at)).toEqual([
    ['ops', 'requested', digest, 'digest'],
    ['mail', 'requested', digest, 'digest'],
  ])
  expect(plan('normal', local(23))).toEqual([
    ['ops', 'requested', 8 * hour, 'quiet'],
    ['mail', 'requested', 8 * hour, 'quiet'],
  ])
  const [gathered] = plan('low', local(23))
  expect(gathered).toEqual(['ops', 'requested', 8 * hour, 'digest'])
})

test('A10 the escalation is scheduled with the request', () => {
  for (const at of [local(12), local(23)])
    expect(plan('high', at)).toEqual([
      ['ops', 'requested', 0, null],
      ['ops', 'escalated', 15 * minute, 'escalation'],
      ['pager', 'escalated', 15 * minute, 'escalation'],
    ])
  const careful = { ...settings, quietHours: { ...night, except_high_risk: false } }
  const about = { kind: 'call', risk: 'high' }
  const late = scheduleRequest('approval.requested', about, channels, careful, local(21, 50))
  expect(late.map(({ nextAt, held }) => [nextAt, held])).toEqual([
    [local(21, 50), null],
    [local(7) + day, 'escalation'],
    [local(7) + day, 'escalation'],
  ])
})

test('A10 a reminder goes immediately to every channel of the request', () => {
  expect(plan('high', local(12), 'escalated')).toEqual([
    ['ops', 'escalated', 0, null],
    ['pager', 'escalated', 0, null],
  ])
})

test('A10 a decision is delayed like its request', () => {
  const answer = (risk: string, at: number) =>
    scheduleDecision(['hook'], { kind: 'call', risk }, settings, at).map((one) => [
      one.nextAt,
      one.held,
    ])
  expect(answer('normal', local(12))).toEqual([[local(12), null]])
  expect(answer('normal', local(23))).toEqual([[local(7) + day, 'quiet']])
  expect(answer('low', local(12, 10))).toEqual([[nextDigestAt(local(12, 10), hour), 'digest']])
})

test.each([
  ['a pending request to people', {}, 'person', true],
  ['a request that failed before', { attempts: 3 }, 'person', true],
  ['an escalation', { event: 'approval.escalated', held: 'escalation' }, 'person', true],
  ['a sent request', { status: 'sent' }, 'person', false],
  ['a dead request', { status: 'dead' }, 'person', false],
  ['an edit of a message', { event: 'approval.decided' }, 'person', false],
  ['a request to a machine', {}, 'machine', false],
  ['a delayed request to a machine', { held: 'digest' }, 'machine', true],
  ['a delayed request in progress', { held: 'quiet', attempts: 1 }, 'machine', false],
  ['a delayed decision', { held: 'quiet', event: 'approval.decided' }, 'machine', false],
  ['a request of a removed channel', {}, undefined, false],
] as const)('A10 %s is obsolete after a decision: %o %s %s', (_, more, reader, expected) => {
  expect(isObsolete(delivery(more), reader)).toBe(expected)
})

test('A10 delayed requests and many requests at once become one message for people', () => {
  const many = (count: number, more = {}) =>
    Array.from({ length: count }, (_, i) => delivery({ id: `d${i}`, ...more }))
  const sizes = (due: ReturnType<typeof many>, reader: 'person' | 'machine' = 'person') =>
    groupDeliveries(due, reader).map(({ length }) => length)
  expect(sizes(many(10))).toEqual(Array(10).fill(1))
  expect(sizes(many(11))).toEqual([11])
  expect(sizes(many(11), 'machine')).toEqual(Array(11).fill(1))
  expect(
    sizes([...many(3, { held: 'digest' }), ...many(2), ...many(2, { held: 'quiet' })]),
  ).toEqual([5, 1, 1])
  expect(sizes(many(20, { event: 'approval.decided' }))).toEqual(Array(20).fill(1))
  expect(sizes(many(2, { held: 'escalation' }))).toEqual([1, 1])
})
