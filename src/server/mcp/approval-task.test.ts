import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Approval } from '#approvals'
import { defineTool } from '#base/tool.ts'
import { createCatalogue } from '#dispatch'
import { taskOf } from './approval-task.ts'

const hour = 60 * 60 * 1000
const now = Date.UTC(2026, 10, 15, 12)
const tool = defineTool({
  name: 'crm_delete',
  title: 'Delete a row',
  description: 'For the test',
  toolset: 'crm',
  effect: 'destructive',
  by: 'agent',
  input: z.object({}),
  output: z.object({ deleted: z.string() }),
  text: ({ deleted }) => `gone: ${deleted}`,
  run: () => Promise.reject(new Error('never called')),
})

const why = {
  text: '',
  rules: [],
  policy_id: null,
  policy_description: null,
  thresholds: { suggest: 0.5, act: 0.8 },
  evidence_level: null,
  gated: false,
  high_risk_fields: [],
}
const asked: Approval = {
  id: 'a-1',
  kind: 'call',
  status: 'pending',
  requester: 'sales',
  session: null,
  domain: 'crm',
  action: 'crm_delete',
  target: 'row-1',
  summary: 'Delete a row',
  mode: 'escalate',
  risk: 'high',
  digest: '',
  policyVersion: '',
  trustLevel: 0.3,
  confidence: null,
  content: { change: {}, why },
  group: '',
  needed: 1,
  createdAt: now - hour,
  expiresAt: now + hour,
  decidedAt: null,
  decidedBy: null,
  channel: null,
  reason: null,
}
const seen = (more: Partial<Approval>, tools = [tool]) => {
  const approvals = {
    isLive: ({ status }: Approval) => status === 'approved',
    reviewUrl: (id: string) => `http://here/inbox/${id}`,
  }
  const deps = { approvals, catalogue: createCatalogue(tools), now: () => now }
  return taskOf(deps, { ...asked, decidedAt: now, ...more })
}

test.each<[string, Partial<Approval>, object]>([
  ['waits', {}, { status: 'working', statusMessage: expect.stringContaining('/inbox/a-1') }],
  ['is approved', { status: 'approved' }, { status: 'working' }],
  ['was started', { status: 'consumed' }, { status: 'working' }],
  [
    'was started long ago and left no result',
    { status: 'consumed', decidedAt: now - 3 * hour },
    { status: 'failed', error: { code: -32603 } },
  ],
  ['was withdrawn', { status: 'withdrawn' }, { status: 'cancelled' }],
  [
    'expired',
    { status: 'expired' },
    {
      status: 'completed',
      result: { isError: true, structuredContent: { code: 'approval_expired' } },
    },
  ],
  [
    'was denied without a word',
    { status: 'rejected', decidedBy: 'anna' },
    {
      status: 'completed',
      result: { isError: true, content: [{ text: 'anna denied crm_delete.' }] },
    },
  ],
])('SV15 a call that %s, as a task', (_, approval, task) => {
  expect(seen(approval)).toMatchObject({
    taskId: 'a-1',
    createdAt: '2026-11-15T11:00:00.000Z',
    lastUpdatedAt: expect.any(String),
    ttlMs: null,
    pollIntervalMs: 500,
    ...task,
  })
})

test.each<[string, unknown, object]>([
  [
    'answered',
    { status: 'done', output: { deleted: 'row-1' } },
    {
      status: 'completed',
      result: {
        content: [{ type: 'text', text: 'gone: row-1' }],
        structuredContent: { deleted: 'row-1' },
      },
    },
  ],
  [
    'answered for another server',
    { status: 'done', mcp: { content: [], structuredContent: { x: 1 } } },
    { status: 'completed', result: { content: [], structuredContent: { x: 1 } } },
  ],
  [
    'answered too much to be kept',
    { status: 'done', too_large: true },
    { status: 'completed', result: { content: [{ text: expect.stringContaining('too large') }] } },
  ],
  [
    'failed',
    { status: 'failed', code: 'not_found', message: 'No row.', hint: 'Look.', details: { id: 7 } },
    {
      status: 'completed',
      result: {
        isError: true,
        content: [{ text: 'No row. Look.' }],
        structuredContent: { code: 'not_found', message: 'No row.', hint: 'Look.', id: 7 },
      },
    },
  ],
  [
    'failed as JSON-RPC does',
    {
      status: 'failed',
      code: 'rpc_error',
      message: 'Not so.',
      details: { rpc_code: -32602, rpc_data: 'x' },
    },
    { status: 'failed', error: { code: -32602, message: 'Not so.', data: 'x' } },
  ],
])('SV15 a call that was carried out and %s, as a task', (_, result, task) => {
  expect(seen({ status: 'consumed', result })).toMatchObject(task)
})

test('SV15 the result outlives the tool', () => {
  const result = { status: 'done', output: { deleted: 'row-1' } }
  expect(seen({ status: 'consumed', result }, [])).toMatchObject({
    status: 'completed',
    result: { content: [{ text: '{"deleted":"row-1"}' }] },
  })
})

test('B3 the result says what a person changed', () => {
  const result = { status: 'done', output: { deleted: 'row-2' } }
  const approved = { id: 'row-2' }
  expect(seen({ status: 'consumed', result, approved, decidedBy: 'anna' })).toMatchObject({
    result: {
      content: [
        { text: 'gone: row-2' },
        { text: 'anna changed the arguments first. It ran with {"id":"row-2"}' },
      ],
    },
  })
})
