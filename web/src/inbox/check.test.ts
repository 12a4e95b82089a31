import { expect, test } from 'vitest'
import {
  listRiskClasses,
  formatAnswerEffects,
  formatAnswer,
  getAnswer,
  formatChecksLine,
  listChecks,
  formatChecksTitle,
  findNextPending,
  formatProgress,
  reasons,
} from './check.ts'
import { item } from './approval.fixture.ts'

const check = (id: string, part: Parameters<typeof item>[0] = {}) =>
  item({
    id,
    kind: 'spot_check',
    mode: 'act',
    group: 'sales',
    summary: `Done alone: ${id}`,
    ...part,
  })
const done = { status: 'approved', decided_at: '2026-11-15T12:05:00.000Z' } as const
const opened = Date.parse('2026-11-15T12:01:00.000Z')

test('C2 T14 a group shows count and agent, and a single check its action', () => {
  expect(formatChecksTitle([check('a'), check('b'), check('c')])).toBe('3 checks of sales-agent')
  expect(formatChecksLine([check('a'), check('b', done)])).toBe('Done alone: a')
  const back = { look_back: 'l', group: 'l' }
  expect(formatChecksTitle([check('a', back), check('b', back)])).toBe(
    'Look-back: 2 actions of sales-agent',
  )
  expect(formatChecksLine([check('a', { ...back, ...done }), check('b', back)])).toBe(
    'Look-back: 1 action of sales-agent',
  )
  expect(formatProgress([check('a', done), check('b'), check('c')])).toBe('1 of 3 answered')
})

test('C2 T14 a group has pending and recently answered checks, oldest first', () => {
  const queued = [
    check('c', { created_at: '2026-11-15T12:02:00.000Z' }),
    check('b', done),
    check('old', { ...done, decided_at: '2026-11-15T11:00:00.000Z' }),
    check('other', { group: 'support' }),
    item({ id: 'proposal', group: 'sales' }),
  ]
  const rows = listChecks(check('a'), { queued, listed: [], since: opened })
  expect(rows.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
})

test('C2 T14 a look-back has all its rows, and the queue has their newest state', () => {
  const back = { look_back: 'l', group: 'l' }
  const earlier = { ...back, ...done, decided_at: '2026-11-15T11:00:00.000Z' }
  const rows = listChecks(check('b', back), {
    queued: [check('c', { ...back, ...done })],
    listed: [check('a', earlier), check('b', back), check('c', back)],
    since: opened,
  })
  expect(rows.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'a approved',
    'b pending',
    'c approved',
  ])
  expect(formatProgress(rows)).toBe('2 of 3 answered')
})

test('C2 T14 after an answer the next pending check follows, then the first', () => {
  const rows = [check('a'), check('b', done), check('c')]
  expect(findNextPending(rows, 'a')?.id).toBe('c')
  expect(findNextPending(rows, 'c')?.id).toBe('a')
  expect(findNextPending([check('a', done)], 'a')).toBeUndefined()
})

test('C2 T14 the answer of a check is read from its record', () => {
  expect(getAnswer(check('a'))).toBeUndefined()
  expect(formatAnswer(check('a', done))).toBe('Confirmed')
  expect(formatAnswer(check('a', { ...done, reason: reasons.skip }))).toBe('Skipped')
  expect(formatAnswer(check('a', { status: 'rejected', reason: 'no' }))).toBe('Marked as wrong')
  const differently = { status: 'rejected', reason: reasons.differently } as const
  expect(getAnswer(check('a', differently))).toBe('differently')
})

test('C2 T14 the effects of an answer are formatted: gate and look-back', () => {
  expect(formatAnswerEffects('confirm', {}, { wasOpen: true, isOpen: true })).toBeUndefined()
  expect(formatAnswerEffects('confirm', {}, { wasOpen: false, isOpen: true })).toBe(
    'Confirmed. Gate opened.',
  )
  expect(formatAnswerEffects('confirm', { counted: false }, { wasOpen: true, isOpen: true })).toBe(
    'Confirmed. Trust unchanged.',
  )
  expect(formatAnswerEffects('wrong', { look_back: 10 }, { wasOpen: true, isOpen: false })).toBe(
    'Marked as wrong. Gate closed. 10 other autonomous actions added to the inbox.',
  )
  expect(formatAnswerEffects('wrong', { look_back: 1 }, { wasOpen: false, isOpen: false })).toBe(
    'Marked as wrong. 1 other autonomous action added to the inbox.',
  )
})

test('C2 T13 checks are listed by domain and risk class', () => {
  const rows = [check('a'), check('b'), check('c', { risk: 'high' }), check('d', { domain: 'hr' })]
  expect(listRiskClasses(rows)).toEqual([
    { domain: 'crm.deals', risk: 'normal' },
    { domain: 'crm.deals', risk: 'high' },
    { domain: 'hr', risk: 'normal' },
  ])
})
