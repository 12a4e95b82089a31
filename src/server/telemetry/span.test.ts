import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import type { Tool } from '#base/tool.ts'
import type { CallResult } from '#dispatch'
import { parseTraceparent, toSpan } from './span.ts'
import type { CompletedCall } from './span.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

test.each([
  [`00-${trace}-${parent}-01`],
  [`00-${trace}-${parent}-00`],
  [`01-${trace}-${parent}-01`],
  [`cc-${trace}-${parent}-01-what-the-future-is-like`],
])('L13 accepts the parent span of a client: %s', (traceparent) => {
  expect(parseTraceparent(traceparent)).toEqual({ traceId: trace, parentSpanId: parent })
})

test.each([
  [undefined],
  [''],
  [`ff-${trace}-${parent}-01`],
  [`00-${'0'.repeat(32)}-${parent}-01`],
  [`00-${trace}-${'0'.repeat(16)}-01`],
  [`00-${trace}-${parent}-01-more`],
  [`00-${trace.toUpperCase()}-${parent}-01`],
  [`00-${trace}-${parent}`],
  [` 00-${trace}-${parent}-01`],
  [`00-${trace}-${parent}-01\n`],
])('L13 an invalid parent starts a new trace: %s', (traceparent) => {
  expect(parseTraceparent(traceparent)).toBeUndefined()
  const span = toSpan(ended({ traceparent }))
  expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(span.parentSpanId).toBeUndefined()
})

test('L13 any text is parsed without an error, and valid parents are accepted', () => {
  const hex = (length: number) =>
    fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((id) => !/^0+$/.test(id))
  fc.assert(
    fc.property(hex(32), hex(16), hex(2), (traceId, parentSpanId, flags) => {
      expect(parseTraceparent(`00-${traceId}-${parentSpanId}-${flags}`)).toEqual({
        traceId,
        parentSpanId,
      })
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => parseTraceparent(text) === undefined))
})

const id = '01990000-0000-7000-8000-00000000000a'

test('L13 the approval comes from dispatch, the result or the arguments', () => {
  const approvalIn = (more: Partial<CompletedCall>, args: unknown = {}) =>
    toSpan({ ...ended({ arguments: args }), ...more }).attributes['cowork.approval_id']
  const done = (output: unknown): CallResult => ({ status: 'done', call: 'c', tool, output })
  expect(approvalIn({ facts: { approval: id } })).toBe(id)
  expect(approvalIn({ answer: done({ proposal_id: id }) })).toBe(id)
  expect(approvalIn({ answer: done({ handoff_id: id }) })).toBe(id)
  expect(approvalIn({}, { approval_ids: [id] })).toBe(id)
  expect(approvalIn({}, { approval_ids: [id, id] })).toBeUndefined()
  const refused: CallResult = {
    status: 'refused',
    call: 'c',
    code: 'policy_blocked',
    message: 'No.',
    details: { approval_id: id, mode: 'escalate' },
  }
  const { attributes } = toSpan({ ...ended({}), answer: refused })
  expect(attributes).toMatchObject({
    'cowork.approval_id': id,
    'cowork.mode': 'escalate',
    'cowork.outcome': 'refused',
    'error.type': 'policy_blocked',
  })
})

test('L13 a span never contains arguments or results', () => {
  const secret = 'sk-live-THE-SECRET'
  const hidden = fc.oneof(
    fc.constant(secret),
    fc.record({ approval_id: fc.constant(secret), mode: fc.constant(secret) }),
    fc.record({ proposal_id: fc.constant(id), mode: fc.constant(secret) }),
    fc.record({ approval_ids: fc.constant([secret]) }),
    fc.dictionary(fc.constantFrom(secret, 'handoff_id', 'x'), fc.constantFrom(secret, [secret])),
  )
  fc.assert(
    fc.property(hidden, hidden, fc.boolean(), (args, result, isDone) => {
      const answer: CallResult = isDone
        ? { status: 'done', call: 'c', tool, output: result }
        : {
            status: 'failed',
            call: 'c',
            code: 'internal',
            message: secret,
            hint: secret,
            details: { result },
          }
      const request = ended({ arguments: args, tool: secret })
      expect(JSON.stringify(toSpan({ ...request, answer, isTool: false }))).not.toContain(secret)
    }),
  )
})

const tool = { name: 'cowork_log' } as Tool
const sales: Caller = {
  kind: 'agent',
  id: 'sales',
  session: 's',
  verified: true,
  scopes: ['*'],
}

function ended(more: Partial<CompletedCall['request']>): CompletedCall {
  return {
    request: { tool: 'cowork_log', arguments: {}, caller: sales, ...more },
    facts: {},
    answer: { status: 'done', call: 'c', tool, output: {} },
    isTool: true,
    startedAt: 1_700_000_000_000,
    durationMs: 1.5,
  }
}
