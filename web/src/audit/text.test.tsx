import { expect, test } from 'vitest'
import { entry } from '../api/entry.fixture.ts'
import { getOutcome } from './outcome.ts'
import { getEntryKind, formatEntryText, formatEntry } from './text.ts'

const person = { kind: 'human', id: 'owner' } as const
const system = { kind: 'system', id: 'cowork' } as const

test.each([
  [
    { type: 'trust.forgiven', subject: 'sales-agent', data: { reason: 'Wrong price list' } },
    'Forgave sales-agent — Wrong price list',
  ],
  [{ type: 'trust.client_seen', subject: 'codex' }, 'Saw codex on another client'],
  [
    { type: 'look_back.opened', subject: 'codex', data: { count: 10 } },
    'Added past actions of codex to the inbox',
  ],
  [{ type: 'trust.converted' }, 'Converted evidence to credit'],
  [
    { type: 'call.done', data: { tool: 'cowork_log', effect: 'write' }, subject: 'deal_1' },
    'Ran cowork_log on deal_1',
  ],
  [{ type: 'call.done', data: { tool: 'cowork_status', effect: 'read' } }, 'Called cowork_status'],
  [{ type: 'call.started', data: { tool: 'read_file' }, subject: '/x' }, 'Started read_file on /x'],
  [
    {
      type: 'call.refused',
      outcome: 'halted',
      data: { tool: 'cowork_log', message: 'Halted by owner' },
    },
    'Tried cowork_log — Halted by owner',
  ],
  [
    { type: 'call.failed', data: { tool: 'cowork_log', message: 'Full disk' } },
    'Tried cowork_log — Full disk',
  ],
  [
    { type: 'action.logged', data: { action: 'update_deal', phase: 'execute' }, subject: 'deal_1' },
    'Executed update_deal on deal_1',
  ],
  [
    { type: 'action.logged', data: { action: 'update_deal', phase: 'verify' }, subject: 'deal_1' },
    'Verified update_deal on deal_1',
  ],
  [
    { type: 'handoff.created', subject: '', data: { kind: 'handoff', action: 'review' } },
    'Handed work to a person: review',
  ],
  [
    {
      type: 'handoff.resolved',
      actor: person,
      data: { requester: 'sales', reason: 'Take the second' },
    },
    'Resolved a handoff of sales — Take the second',
  ],
  [{ type: 'handoff.acknowledged' }, 'Acknowledged its handoff'],
  [
    { type: 'handoff.reminded', actor: system, data: { requester: 'sales' } },
    'Reminded people about a handoff of sales',
  ],
  [
    { type: 'policy.loaded', actor: system, subject: '0a1b', data: { note: 'cowork.yaml' } },
    'Loaded policies from cowork.yaml as version 0a1b',
  ],
  [
    { type: 'policy.saved', actor: person, subject: '0a1b', data: { note: 'Stricter' } },
    'Saved policies as version 0a1b — Stricter',
  ],
  [{ type: 'agent.added', actor: person, subject: 'sales' }, 'Added agent sales'],
  [{ type: 'agent.changed', actor: person, subject: 'sales' }, 'Changed the tools of agent sales'],
  [{ type: 'agent.rotated', actor: person, subject: 'sales' }, 'Rotated the token of agent sales'],
  [{ type: 'agent.revoked', actor: person, subject: 'sales' }, 'Revoked agent sales'],
  [
    {
      type: 'person.invited',
      actor: person,
      subject: '1a2b',
      data: { name: 'Anna', role: 'viewer' },
    },
    'Invited Anna as viewer',
  ],
  [
    { type: 'person.joined', subject: 'anna', data: { name: 'Anna', role: 'viewer' } },
    'Anna joined as viewer',
  ],
  [
    { type: 'role.changed', subject: 'anna', data: { from: 'viewer', to: 'reviewer' } },
    'Made anna a reviewer',
  ],
  [{ type: 'session.opened', actor: person }, 'Signed in'],
  [{ type: 'session.ended', actor: person, data: { reason: 'revoked' } }, 'Revoked a session'],
  [{ type: 'session.ended', actor: person, data: { reason: 'a new one' } }, 'Session ended'],
  [
    { type: 'passkey.added', actor: person, subject: 'AQ', data: { name: 'Laptop' } },
    'Added passkey Laptop',
  ],
  [
    { type: 'halt.set', actor: person, subject: 'all', data: { reason: 'lunch' } },
    'Halted all agents — lunch',
  ],
  [
    { type: 'halt.set', actor: person, subject: 'agent:codex', data: { reason: '' } },
    'Halted agent codex',
  ],
  [{ type: 'halt.lifted', actor: person, subject: 'domain:a:b' }, 'Resumed domain a:b'],
  [
    {
      type: 'auth.failed',
      actor: system,
      subject: '127.0.0.1',
      outcome: 'wrong_token',
      data: { count: 1 },
    },
    'Failed sign-in from 127.0.0.1 — wrong token',
  ],
  [
    {
      type: 'auth.failed',
      actor: system,
      subject: '127.0.0.1',
      outcome: 'no_token',
      data: { count: 4 },
    },
    '4 failed sign-ins from 127.0.0.1 — no token',
  ],
  [{ type: 'daemon.started', actor: system, data: { version: '0.1.0' } }, 'cowork 0.1.0 started'],
  [
    { type: 'grant.made', subject: '/home/x', data: { permission: 'read', agent_id: '*' } },
    'Granted access to /home/x to every agent',
  ],
  [
    { type: 'grant.made', subject: '/home/x', data: { permission: 'deny', agent_id: 'codex' } },
    'Blocked /home/x',
  ],
  [
    { type: 'grant.revoked', subject: '/home/x', data: { reason: 'session_ended' } },
    'Revoked access to /home/x — session ended',
  ],
  [
    { type: 'work.changed', subject: 'shop/a', data: { fields: ['status'], status: 'in_review' } },
    'Set shop/a to in review',
  ],
  [{ type: 'work.changed', subject: 'shop/a', outcome: 'done' }, 'Finished shop/a'],
  [
    { type: 'work.changed', subject: 'shop/a', data: { fields: ['comments'], status: 'planned' } },
    'Commented on shop/a',
  ],
  [
    { type: 'work.changed', subject: 'shop/a', data: { fields: ['title', 'notes'] } },
    'Changed shop/a — title, notes',
  ],
  [{ type: 'work.changed', subject: 'shop/one', data: { items: ['a'] } }, 'Changed shop/one'],
  [{ type: 'work.moved', subject: 'shop/a', data: { to: 'two' } }, 'Moved shop/a to two'],
  [
    { type: 'work.lease_expired', actor: system, subject: 'shop/a', data: { agent: 'codex' } },
    'Expired the claim of codex on shop/a',
  ],
  [
    { type: 'work.merged', subject: 'shop', outcome: 'conflicts' },
    'Imported file edits in shop with conflicts',
  ],
  [{ type: 'plan.auto_voided', subject: '/home/x' }, 'Plan auto voided: /home/x'],
] as const)('C8 %o reads as one line', (part, text) => {
  expect(formatEntryText(entry(part))).toBe(text)
})

test('A13 untrusted text is separate from fixed text', () => {
  const parts = formatEntry(entry({ data: { tool: 'x\u202e' }, subject: 'on Added agent root' }))
  expect(parts).toEqual(['Ran', { quote: 'x\u202e' }, 'on', { quote: 'on Added agent root' }])
})

test('A13 titles contain no hidden characters', () => {
  const shown = entry({ data: { tool: 'x' }, subject: 'a\u202eb' })
  expect(formatEntryText(shown)).toBe('Ran x on aU+202Eb')
})

test('C8 only final entries have an outcome', () => {
  const outcome = (type: string) => getOutcome(entry({ type }))
  expect(['call.done', 'call.refused', 'call.failed', 'auth.failed'].map(outcome)).toEqual([
    'done',
    'refused',
    'failed',
    'refused',
  ])
  expect(['call.started', 'agent.added', 'halt.set'].map(outcome)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('C8 each noun has a kind, and unknown nouns have a default', () => {
  const kinds = ['call.done', 'halt.set', 'halt.lifted', 'grant.made', 'plan.made'].map((type) =>
    getEntryKind(entry({ type })),
  )
  expect(kinds).toEqual(['call', 'halt', 'resume', 'access', 'other'])
})
