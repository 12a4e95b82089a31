import { randomHex } from '#base/ids.ts'
import type { CallResult, CallTraceFacts, CallRequest } from '#dispatch'

/** One call in a trace. Contains ids and fixed words, but neither arguments nor results. */
export type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** The start in milliseconds since the epoch, and the duration. */
  readonly startedAt: number
  readonly durationMs: number
  readonly attributes: Readonly<Record<string, string>>
  readonly isError: boolean
}

/** A W3C `traceparent`: the client's span to which a call belongs. */
const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/**
 * Parses a client's parent span, if valid. The sampled flag is ignored: a traced client must not
 * decide that.
 */
export function parseTraceparent(
  traceparent: string | undefined,
): { readonly traceId: string; readonly parentSpanId: string } | undefined {
  const [, version, traceId = '', parentSpanId = '', more] =
    traceparentPattern.exec(traceparent ?? '') ?? []
  const isKnown = version === '00' ? more === undefined : version !== undefined && version !== 'ff'
  const isNone = /^0+$/.test(traceId) || /^0+$/.test(parentSpanId)
  return isKnown && !isNone ? { traceId, parentSpanId } : undefined
}

/** A completed call; without a result after an internal error. */
export type CompletedCall = {
  readonly request: CallRequest
  readonly facts: CallTraceFacts
  readonly answer: CallResult | undefined
  readonly isTool: boolean
  readonly startedAt: number
  readonly durationMs: number
}

export function toSpan({
  request,
  facts,
  answer,
  isTool,
  startedAt,
  durationMs,
}: CompletedCall): Span {
  const parent = parseTraceparent(request.traceparent)
  const { kind, id } = request.caller
  const outcome = answer?.status ?? 'failed'
  const code = !answer ? 'internal' : answer.status === 'done' ? undefined : answer.code
  const named = findApproval(request.arguments, answer)
  const approval = facts.approval ?? named.approval
  const mode = named.mode ?? facts.mode
  return {
    traceId: randomHex(16),
    ...parent,
    spanId: randomHex(8),
    // Clients can invent names.
    name: isTool ? request.tool : 'unknown tool',
    startedAt,
    durationMs,
    attributes: {
      ...(answer && { 'cowork.call_id': answer.call }),
      ...(approval !== undefined && { 'cowork.approval_id': approval }),
      'cowork.caller_kind': kind,
      ...(kind === 'agent' && { 'cowork.agent_id': id }),
      ...(facts.domain !== undefined && { 'cowork.domain': facts.domain }),
      ...(facts.effect !== undefined && { 'cowork.effect': facts.effect }),
      ...(mode !== undefined && { 'cowork.mode': mode }),
      'cowork.outcome': outcome,
      ...(code !== undefined && { 'error.type': code }),
    },
    isError: outcome === 'failed',
  }
}

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const modes = ['act', 'suggest', 'escalate']

/**
 * Returns the approval that a call opened or decided, from its result or its arguments. Ids only.
 */
function findApproval(
  args: unknown,
  answer: CallResult | undefined,
): { approval?: string; mode?: string } {
  const result = answer?.status === 'done' ? answer.output : answer?.details
  const resultId = findId(result)
  const mode = resultId === undefined ? undefined : getField(result, 'mode')
  const approval = resultId ?? findId(args) ?? getOnlyId(getField(args, 'approval_ids'))
  return {
    ...(approval !== undefined && { approval }),
    ...(typeof mode === 'string' && modes.includes(mode) && { mode }),
  }
}

const findId = (value: unknown): string | undefined =>
  ['approval_id', 'proposal_id', 'handoff_id'].map((name) => getField(value, name)).find(isId)

const getOnlyId = (list: unknown): string | undefined =>
  Array.isArray(list) && list.length === 1 ? list.find(isId) : undefined

const isId = (value: unknown): value is string => typeof value === 'string' && idPattern.test(value)

const getField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
