import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { noticed } from '../../../test/approvals/notify/notify.fixture.ts'
import { buildLookBackNotification } from './rules.ts'
import { formatOutcome, formatLines, defangLinks, formatNotification } from './notification-text.ts'

const message = (notice: string, ...more: string[]) =>
  formatNotification({
    id: 'd',
    at: 0,
    notice,
    more: more.map((one) => ({ id: 'e', notice: one })),
  })

test('A5 a message contains the agent, the risk, the agent text and a link', () => {
  const words = message(noticed({ kind: 'call', risk: 'high' }))
  expect(words).toEqual({
    title: 'Decision needed: tool call from sales (high risk)',
    agentTexts: ['Set the stage of deal-7 to won (crm)'],
    url: 'http://localhost:8765/inbox/p1',
    risk: 'high',
    isEscalated: false,
  })
  expect(formatLines(words)).toEqual(['The agent says: Set the stage of deal-7 to won (crm)'])
  expect(message(noticed({}, 'approval.escalated'))).toMatchObject({
    title: 'Decision overdue: proposal from sales (normal risk)',
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
])('A5 %s by %s reads %s', (status, by, end) => {
  expect(formatOutcome(status, by)).toBe(end)
  const decided = { status, ...(by !== undefined && { decidedBy: by }) }
  expect(message(noticed(decided, 'approval.decided')).title).toBe(
    `${end}: proposal from sales (normal risk)`,
  )
})

test('A10 a combined message lists the riskiest and oldest first, twenty lines, and a link to the inbox', () => {
  const many = Array.from({ length: 30 }, (_, i) =>
    noticed(
      { risk: i === 29 ? 'high' : 'low', summary: `thing ${i}` },
      'approval.requested',
      (99 - i) * 1000,
    ),
  )
  const words = message(...(many as [string]))
  expect(words).toMatchObject({
    title: '30 decisions needed (1 high risk)',
    note: '10 more in the inbox.',
    url: 'http://localhost:8765/inbox',
    risk: 'high',
  })
  expect(words.agentTexts).toHaveLength(20)
  expect(words.agentTexts.slice(0, 3)).toEqual([
    'sales: thing 29',
    'sales: thing 28',
    'sales: thing 27',
  ])
  expect(formatLines(words)).toEqual([
    'The agents say:',
    ...words.agentTexts,
    '10 more in the inbox.',
  ])
})

test('A13 agent text never becomes a link', () => {
  expect(defangLinks('see https://evil.test/x, www.evil.test or mail a@evil.test')).toBe(
    'see https[:]//evil[.]test/x, www[.]evil[.]test or mail a@evil[.]test',
  )
  expect(defangLinks('Done. Costs 3.50, v1.2, e.g. “this”')).toBe(
    'Done. Costs 3.50, v1.2, e[.]g. “this”',
  )
  // Patterns that programs are known to turn into links.
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

test('A10 T14 a look-back is one message with count, agent and reason', () => {
  const data = { look_back: 'l1', risk: 'normal', count: 10 }
  const about = { at: 0, subject: 'sales', domain: 'crm.deals', data }
  const notice = JSON.stringify(buildLookBackNotification(about, 'http://localhost:8765'))
  const words = message(notice)
  expect(words).toMatchObject({
    title: 'Review 10 autonomous actions by sales: an earlier action was wrong',
    agentTexts: [],
    note: expect.stringContaining(
      'Domain crm[.]deals, normal risk. Confirm each action or mark it as wrong',
    ),
    url: 'http://localhost:8765/inbox',
    risk: 'normal',
  })
})

test.each([
  ['approval.requested', 'pending', 'Spot check needed: autonomous action by sales (low risk)'],
  ['approval.decided', 'approved', 'Confirmed by anna: autonomous action by sales (low risk)'],
  [
    'approval.decided',
    'rejected',
    'Marked as wrong by anna: autonomous action by sales (low risk)',
  ],
] as const)('A5 T14 a spot check has its own title: %s, %s', (type, status, title) => {
  const about = { kind: 'spot_check', risk: 'low', status, decidedBy: 'anna' }
  expect(message(noticed(about, type)).title).toBe(title)
})
