import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { noticed } from '../../../test/approvals/notify/notify.fixture.ts'
import { lookBackNoticeOf } from './rules.ts'
import { formatOutcome, formatLines, defangLinks, formatNotification } from './notification-text.ts'

const message = (notice: string, ...more: string[]) =>
  formatNotification({
    id: 'd',
    at: 0,
    notice,
    more: more.map((one) => ({ id: 'e', notice: one })),
  })

test('A5 people read who asks, how risky it is, what the agent says, and where to decide', () => {
  const words = message(noticed({ kind: 'call', risk: 'high' }))
  expect(words).toEqual({
    title: 'sales asks for a decision (call, high risk)',
    said: ['Set the stage of deal-7 to won (crm)'],
    url: 'http://localhost:8765/inbox/p1',
    risk: 'high',
    isEscalated: false,
  })
  expect(formatLines(words)).toEqual(['The agent says: Set the stage of deal-7 to won (crm)'])
  expect(message(noticed({}, 'approval.escalated'))).toMatchObject({
    title: 'Nobody has decided yet: sales asks for a decision (proposal, normal risk)',
    isEscalated: true,
  })
})

test.each([
  ['approved', 'anna', 'Approved by anna'],
  ['rejected', 'anna', 'Rejected by anna'],
  ['consumed', 'anna', 'Approved by anna'],
  ['resolved', 'anna', 'Resolved by anna'],
  ['approved', undefined, 'Approved'],
  ['expired', 'cowork', 'Expired'],
  ['withdrawn', 'sales', 'Withdrawn'],
])('A5 %s by %s is told as %s', (status, by, end) => {
  expect(formatOutcome(status, by)).toBe(end)
  const decided = { status, ...(by !== undefined && { decidedBy: by }) }
  expect(message(noticed(decided, 'approval.decided')).title).toBe(
    `${end}: sales asked for a decision (proposal, normal risk)`,
  )
})

test('A10 many are one message: the riskiest first and then the oldest, twenty lines, a link to the list', () => {
  const many = Array.from({ length: 30 }, (_, i) =>
    noticed(
      { risk: i === 29 ? 'high' : 'low', summary: `thing ${i}` },
      'approval.requested',
      (99 - i) * 1000,
    ),
  )
  const words = message(...(many as [string]))
  expect(words).toMatchObject({
    title: '30 questions wait for a decision (1 of high risk)',
    note: 'And 10 more.',
    url: 'http://localhost:8765/inbox',
    risk: 'high',
  })
  expect(words.said).toHaveLength(20)
  expect(words.said.slice(0, 3)).toEqual(['sales: thing 29', 'sales: thing 28', 'sales: thing 27'])
  expect(formatLines(words)).toEqual(['The agents say:', ...words.said, 'And 10 more.'])
})

test('A13 no words of an agent become a link', () => {
  expect(defangLinks('see https://evil.test/x, www.evil.test or mail a@evil.test')).toBe(
    'see https[:]//evil[.]test/x, www[.]evil[.]test or mail a@evil[.]test',
  )
  expect(defangLinks('Done. Costs 3.50, v1.2, e.g. “this”')).toBe(
    'Done. Costs 3.50, v1.2, e[.]g. “this”',
  )
  // What programs that show text are known to take for an address.
  const link = /\w:\/\/|[\p{L}\p{N}][.。．｡][\p{L}\p{N}]*\p{L}/u
  const unit = fc.constantFrom('a', 'ß', '日', '1', '.', '。', '-', ':', '/', '@', ' ', '…')
  const name = fc.constantFrom('evil.com', 'http://x', 'www.x.de', 'ftp://1.2.3.4')
  const text = fc.array(fc.oneof(unit, name), { maxLength: 40 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, (agent, summary) => {
      const one = message(noticed({ requester: agent, summary, domain: summary }))
      const two = message(noticed({ requester: agent }), noticed({ summary }))
      for (const words of [one, two]) {
        expect(words.title).not.toMatch(link)
        for (const line of formatLines(words)) expect(line).not.toMatch(link)
      }
    }),
  )
})

test('A10 T14 a look-back is one message: how many actions, of whom, and why', () => {
  const data = { look_back: 'l1', risk: 'normal', count: 10 }
  const about = { at: 0, subject: 'sales', domain: 'crm.deals', data }
  const notice = JSON.stringify(lookBackNoticeOf(about, 'http://localhost:8765'))
  const words = message(notice)
  expect(words).toMatchObject({
    title: 'Look at 10 actions that sales did alone: a mistake was found',
    said: [],
    note: expect.stringContaining('In crm[.]deals, normal risk. Confirm each or mark it as wrong'),
    url: 'http://localhost:8765/inbox',
    risk: 'normal',
  })
})

test.each([
  ['approval.requested', 'pending', 'Look at what sales did alone (low risk)'],
  ['approval.decided', 'approved', 'Confirmed by anna: what sales did alone (low risk)'],
  ['approval.decided', 'rejected', 'Not confirmed by anna: what sales did alone (low risk)'],
] as const)('A5 T14 a check is told as a check: %s, %s', (type, status, title) => {
  const about = { kind: 'spot_check', risk: 'low', status, decidedBy: 'anna' }
  expect(message(noticed(about, type)).title).toBe(title)
})
