import { randomHex } from '#base/ids.ts'
import type { CallResult, CallTraceFacts, CallRequest } from '#dispatch'

/** One call as a trace shows it. It has ids and words of ours in it, and nothing of what was asked or answered. */
export type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** Milliseconds since the epoch, and how many of them it took. */
  readonly startedAt: number
  readonly durationMs: number
  readonly attributes: Readonly<Record<string, string>>
  readonly isError: boolean
}

/** The W3C's `traceparent`, where a client says which of its own acts a call belongs to. */
const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/**
 * The parent a client names, if it is one. Its sampled flag is not heeded: whoever is traced must not be the one who
 * decides that.
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

/** How one call ended; without an answer where a fault of ours was in the way. */
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
    // Anyone can make up a name.
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

/** The approval that a call made, decided or asked for: by its answer, else by its arguments. Ids only. */
function findApproval(
  args: unknown,
  answer: CallResult | undefined,
): { approval?: string; mode?: string } {
  const said = answer?.status === 'done' ? answer.output : answer?.details
  const made = findId(said)
  const mode = made === undefined ? undefined : getField(said, 'mode')
  const approval = made ?? findId(args) ?? getOnlyId(getField(args, 'approval_ids'))
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
