import { expect, test } from 'vitest'
import { item } from './approval.fixture.ts'
import { isUrgent, buildNotifications } from './notification.ts'

test('A5 a notice says who asks for what, and leads to the item', () => {
  expect(buildNotifications([item({ risk: 'high' })])).toEqual([
    {
      title: 'sales-agent: Set deal_stage of deal_12345 to closed_won',
      body: 'crm.deals · suggest 0.72 · high-risk field',
      tag: 'p-1',
      id: 'p-1',
    },
  ])
})

test('A5 P9 only what is escalated or of high risk calls, and only while it waits', () => {
  expect(isUrgent(item({ mode: 'escalate' }))).toBe(true)
  expect(isUrgent(item())).toBe(false)
  expect(isUrgent(item({ mode: 'escalate', status: 'approved' }))).toBe(false)
  const held = { decision: 'approve', by: 'ben', until: '2026-11-15T12:00:08Z' } as const
  expect(isUrgent(item({ mode: 'escalate', held }))).toBe(false)
  expect(buildNotifications([item(), item({ kind: 'call' })])).toEqual([])
  expect(isUrgent(item({ kind: 'spot_check', mode: 'act', risk: 'high' }))).toBe(false)
})

test('A5 many at once are told in one', () => {
  const many = Array.from({ length: 5 }, (_, n) => item({ id: `p-${n}`, mode: 'escalate' }))
  const [notice, ...rest] = buildNotifications(many)
  expect(rest).toEqual([])
  expect(notice).toMatchObject({ title: '5 urgent requests pending', body: 'sales-agent' })
  expect(notice?.id).toBeUndefined()
})

test('A13 a notice is plain text in which nothing hides, and short', () => {
  const summary = `Pay \u202Egnp.exe\u0007 ${'x'.repeat(500)}`
  const [notice] = buildNotifications([item({ mode: 'escalate', summary, domain: 'a\u200Bb' })])
  expect(notice?.title).toContain('U+202Egnp.exeU+0007')
  expect(notice?.title.length).toBeLessThanOrEqual(120)
  expect(notice?.body).toContain('aU+200Bb')
})
