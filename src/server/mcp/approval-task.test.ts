import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Approval } from '#approvals'
import { defineTool } from '#base/tool.ts'
import { createToolRegistry } from '#dispatch'
import { toTask } from './approval-task.ts'

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
  requiredApprovals: 1,
  createdAt: now - hour,
  expiresAt: now + hour,
  decidedAt: null,
  decidedBy: null,
  channel: null,
  reason: null,
}
const seen = (more: Partial<Approval>, tools = [tool]) => {
  const approvals = {
    isClaimable: ({ status }: Approval) => status === 'approved',
    isRunning: ({ runUntil = 0 }: Approval) => runUntil > now,
    reviewUrl: (id: string) => `http://here/inbox/${id}`,
  }
  const deps = { approvals, registry: createToolRegistry(tools) }
  return toTask(deps, { ...asked, decidedAt: now, ...more })
}

test.each<[string, Partial<Approval>, object]>([
  [
    'waits',
    {},
    {
      status: 'working',
      statusMessage: expect.stringContaining('/inbox/a-1'),
      pollIntervalMs: 5000,
    },
  ],
  ['is approved', { status: 'approved' }, { status: 'working' }],
  ['runs', { status: 'consumed', runUntil: now + 1 }, { status: 'working' }],
  [
    'ran so long ago that its result is gone',
    { status: 'consumed', decidedAt: now - 25 * hour },
    {
      status: 'completed',
      result: { isError: true, structuredContent: { code: 'result_gone' } },
    },
  ],
  [
    'is stale',
    { status: 'withdrawn', reason: 'stale' },
    {
      status: 'completed',
      result: {
        isError: true,
        content: [
          {
            text: expect.stringMatching(
              /^STALE: row-1 changed after your request; nothing was done\. Read its current state and call crm_delete again\./,
            ),
          },
        ],
        structuredContent: { code: 'stale', approval_id: 'a-1' },
      },
    },
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
      result: {
        isError: true,
        content: [{ text: expect.stringMatching(/^anna denied crm_delete\./) }],
      },
    },
  ],
])('SV15 RA12 a call that %s, as a task', (_, approval, task) => {
  expect(seen(approval)).toMatchObject({
    taskId: 'a-1',
    createdAt: '2026-11-15T11:00:00.000Z',
    lastUpdatedAt: expect.any(String),
    ttlMs: null,
    pollIntervalMs: 1000,
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
        content: [{ text: 'No row. Look.\nid: 7\napproval_id: a-1' }],
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
])('SV15 an executed call that %s, as a task', (_, result, task) => {
  expect(seen({ status: 'consumed', result })).toMatchObject(task)
})

test('SV15 the result is available after the tool was removed', () => {
  const result = { status: 'done', output: { deleted: 'row-1' } }
  expect(seen({ status: 'consumed', result }, [])).toMatchObject({
    status: 'completed',
    result: { content: [{ text: '{"deleted":"row-1"}' }] },
  })
})

test('B3 RA2 both halves of the result contain the edit of a person', () => {
  const result = { status: 'done', output: { deleted: 'row-2' } }
  const approved = { id: 'row-2' }
  expect(seen({ status: 'consumed', result, approved, decidedBy: 'anna' })).toMatchObject({
    result: {
      content: [
        { text: 'gone: row-2' },
        { text: 'anna edited the arguments. The call ran with {"id":"row-2"}' },
      ],
      structuredContent: { deleted: 'row-2', approved_change: approved, edited_by: 'anna' },
    },
  })
})
