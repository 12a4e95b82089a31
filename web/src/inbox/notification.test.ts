import { expect, test } from 'vitest'
import { item } from './approval.fixture.ts'
import { isUrgent, buildNotifications } from './notification.ts'

test('A5 a notification names agent and request and opens the item', () => {
  expect(buildNotifications([item({ risk: 'high' })])).toEqual([
    {
      title: 'sales-agent: Set deal_stage of deal_12345 to closed_won',
      body: 'crm.deals · suggest 0.72 · high-risk field',
      tag: 'p-1',
      id: 'p-1',
    },
  ])
})

test('A5 P9 only pending items that are escalated or high risk are urgent', () => {
  expect(isUrgent(item({ mode: 'escalate' }))).toBe(true)
  expect(isUrgent(item())).toBe(false)
  expect(isUrgent(item({ mode: 'escalate', status: 'approved' }))).toBe(false)
  const held = { decision: 'approve', by: 'ben', until: '2026-11-15T12:00:08Z' } as const
  expect(isUrgent(item({ mode: 'escalate', held }))).toBe(false)
  expect(buildNotifications([item(), item({ kind: 'call' })])).toEqual([])
  expect(isUrgent(item({ kind: 'spot_check', mode: 'act', risk: 'high' }))).toBe(false)
})

test('A5 many items share one notification', () => {
  const many = Array.from({ length: 5 }, (_, n) => item({ id: `p-${n}`, mode: 'escalate' }))
  const [notice, ...rest] = buildNotifications(many)
  expect(rest).toEqual([])
  expect(notice).toMatchObject({ title: '5 urgent requests pending', body: 'sales-agent' })
  expect(notice?.id).toBeUndefined()
})

test('A13 a notification is short and has no hidden characters', () => {
  const summary = `Pay \u202Egnp.exe\u0007 ${'x'.repeat(500)}`
  const [notice] = buildNotifications([item({ mode: 'escalate', summary, domain: 'a\u200Bb' })])
  expect(notice?.title).toContain('U+202Egnp.exeU+0007')
  expect(notice?.title.length).toBeLessThanOrEqual(120)
  expect(notice?.body).toContain('aU+200Bb')
})
