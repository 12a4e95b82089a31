import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { notify } from '../config.ts'
import { delivery, described } from '../../../test/approvals/notify/notify.fixture.ts'
import type { Delivery, SendOutcome } from './model.ts'
import {
  selectChannels,
  isRecentEnough,
  buildNotification,
  resetDelivery,
  markSending,
  toNotificationEvent,
  applySendOutcome,
} from './rules.ts'

const day = 86_400_000
const failed: SendOutcome = { kind: 'failed', error: 'receiver returned HTTP 500' }

test.each([
  ['proposal.created', 'suggest', 'approval.requested', 'pending'],
  ['proposal.created', 'escalate', 'approval.requested', 'pending'],
  ['approval.requested', undefined, 'approval.requested', 'pending'],
  ['handoff.created', 'escalate', 'approval.requested', 'pending'],
  ['handoff.reminded', undefined, 'approval.escalated', 'pending'],
  ['handoff.resolved', 'resolved', 'approval.decided', 'resolved'],
  ['approval.approved', undefined, 'approval.decided', 'approved'],
  ['approval.rejected', undefined, 'approval.decided', 'rejected'],
  ['approval.expired', undefined, 'approval.decided', 'expired'],
  ['approval.withdrawn', undefined, 'approval.decided', 'withdrawn'],
])('A10 %s %s becomes %s, %s', (type, outcome, event, status) => {
  expect(toNotificationEvent({ type, outcome })).toEqual({ type: event, status })
})

test.each([
  ['proposal.created', 'act'],
  ['proposal.created', undefined],
  ['approval.consumed', undefined],
  ['approval.held', undefined],
  ['approval.voted', undefined],
  ['handoff.acknowledged', undefined],
  ['call.done', 'suggest'],
  ['toString', undefined],
])('A10 %s %s causes no notification', (type, outcome) => {
  expect(toNotificationEvent({ type, outcome })).toBeUndefined()
})

test('A10 the first rule that matches kind and risk selects the channels', () => {
  const { rules } = notify.parse({
    rules: [
      { kinds: ['call'], risks: ['high'], channels: ['ops', 'pager'] },
      { kinds: ['call', 'proposal'], channels: ['ops', 'ops'] },
      { risks: ['high'], channels: ['pager', 'a-slack-that-is-not-sent-to'] },
    ],
  })
  const select = (kind: string, risk: string) =>
    selectChannels(rules, ['ops', 'pager', 'other'], { kind, risk })
  expect(select('call', 'high')).toEqual(['ops', 'pager'])
  expect(select('call', 'low')).toEqual(['ops'])
  expect(select('proposal', 'high')).toEqual(['ops'])
  expect(select('permission', 'high')).toEqual(['pager'])
  expect(select('permission', 'low')).toEqual([])
  expect(selectChannels([], ['ops', 'pager'], described())).toEqual(['ops', 'pager'])
})

test('A10 a rule may contain every kind of approval', () => {
  for (const kind of ['proposal', 'call', 'permission', 'spot_check'])
    expect(notify.safeParse({ rules: [{ kinds: [kind], channels: ['ops'] }] }).success).toBe(true)
})

test('A10 stdout is not a channel type', () => {
  expect(notify.safeParse({ channels: [{ id: 'out', type: 'stdout' }] }).success).toBe(false)
})

test('A10 of events older than a day only pending requests are sent', () => {
  const question = { type: 'approval.requested', status: 'pending' } as const
  const answer = { type: 'approval.decided', status: 'approved' } as const
  const now = 10 * day
  expect(isRecentEnough(question, described({ status: 'approved' }), now - 1, now)).toBe(true)
  expect(isRecentEnough(answer, described({ status: 'approved' }), now - 1, now)).toBe(true)
  expect(isRecentEnough(question, described(), now - day, now)).toBe(true)
  expect(isRecentEnough(question, described({ status: 'expired' }), now - day, now)).toBe(false)
  expect(isRecentEnough(answer, described({ status: 'approved' }), now - day, now)).toBe(false)
})

test('A5 a notification contains a link and a summary, and nothing else', () => {
  const event = { type: 'approval.decided', status: 'approved' } as const
  const entry = { at: 1_700_000_000_000, data: { decided_by: 'anna', reasoning: 'because' } }
  const about = described({ status: 'consumed', decidedBy: 'somebody' })
  expect(buildNotification(event, entry, 'p 1', about, 'https://cowork.test/')).toEqual({
    type: 'approval.decided',
    timestamp: '2023-11-14T22:13:20.000Z',
    data: {
      approval_id: 'p 1',
      kind: 'proposal',
      agent: 'sales',
      domain: 'crm',
      action: 'update_deal',
      target: 'deal-7',
      summary: 'Set the stage of deal-7 to won',
      mode: 'suggest',
      risk: 'normal',
      status: 'approved',
      decided_by: 'anna',
      review_url: 'https://cowork.test/inbox/p%201',
    },
  })
})

test('A13 agent text in a notification contains no hidden characters and is short', () => {
  const event = { type: 'approval.requested', status: 'pending' } as const
  const unit = fc.constantFrom('a', '\u202e', '\u0000', '\u200b', '\n', '😀', '\u{e0041}')
  const long = fc.string({ unit, maxLength: 2000, size: 'max' })
  fc.assert(
    fc.property(long, (text) => {
      const about = described({
        requester: text,
        domain: text,
        action: text,
        target: text,
        summary: text,
      })
      const { data } = buildNotification(event, { at: 0 }, 'p1', about, 'http://localhost')
      for (const word of Object.values(data)) {
        expect(word.length).toBeLessThanOrEqual(300)
        expect(word).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u200b\u{e0041}]/u)
      }
    }),
  )
})

/** Fails a delivery until it is dead; returns the times of its attempts. */
function untilDead(chance: () => number): { tries: number[]; dead: Delivery } {
  const tries: number[] = []
  let one = delivery()
  while (one.status === 'pending') {
    const now = one.nextAt
    tries.push(now)
    one = applySendOutcome(markSending(one, now), failed, now, chance())
  }
  return { tries, dead: one }
}

test('A10 a delivery is dead after ten attempts in about three days', () => {
  expect(untilDead(() => 0).tries.slice(0, 4)).toEqual([0, 5000, 35_000, 155_000])
  const chance = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.infiniteStream(chance), (chances) => {
      const { tries, dead } = untilDead(() => chances.next().value)
      expect(tries).toHaveLength(10)
      expect(dead).toMatchObject({ attempts: 10, lastError: failed.error })
      expect(dead.settledAt).toBeGreaterThan(2.5 * day)
      expect(dead.settledAt).toBeLessThan(3.5 * day)
    }),
  )
})

test('A10 a receiver can lengthen the retry delay up to a day, but not shorten it', () => {
  const held = markSending(delivery(), 0)
  const after = (waitMs: number) => applySendOutcome(held, { ...failed, waitMs }, 0, 0).nextAt
  expect(after(1)).toBe(5000)
  expect(after(60_000)).toBe(60_000)
  expect(after(30 * day)).toBe(day)
})

test('A10 a final failure is dead immediately, and an interrupted attempt does not count', () => {
  const held = markSending(delivery({ attempts: 3 }), 500)
  expect(applySendOutcome(held, { ...failed, isFinal: true }, 900, 0)).toMatchObject({
    status: 'dead',
    attempts: 4,
    settledAt: 900,
  })
  expect(applySendOutcome(held, { kind: 'interrupted' }, 900, 0)).toMatchObject({
    status: 'pending',
    attempts: 3,
    nextAt: 900,
  })
})

test('A10 the lease of a crashed sender lasts a minute, and a retried dead delivery starts from zero', () => {
  expect(markSending(delivery(), 1000)).toMatchObject({ attempts: 1, nextAt: 61_000 })
  const { dead } = untilDead(() => 0)
  expect(resetDelivery(dead, 7)).toMatchObject({
    status: 'pending',
    attempts: 0,
    nextAt: 7,
    settledAt: null,
  })
})
