import type { Approval, Approvals, Halts } from '#approvals'
import type { CallAttempt, Refusal, Verdict } from '#base/call-check.ts'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Call, CallDetails, Tool, CallTarget } from '#base/tool.ts'
import type { CallVerdict } from '#governance'
import type { Ledger } from '#ledger'
import { parseArguments } from './arguments.ts'
import { buildCallEntry } from './call-record.ts'
import { unknownToolHint } from './tool-registry.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { Check } from './checks.ts'
import { createExecutor } from './execute.ts'
import type { EarlierRun } from './settled-call.ts'

export type CallRequest = {
  readonly tool: string
  readonly arguments: unknown
  readonly caller: Caller
  readonly signal?: AbortSignal
  readonly progress?: Call['progress']
  readonly exchange?: unknown
  /** The approval with which the runner starts the call; the call cannot open another (A15). */
  readonly approval?: string
  /** The trace context of the client, as received (L13). */
  readonly traceparent?: string | undefined
  /** Receives facts about the call for tracing (L13). */
  readonly observe?: (facts: CallTraceFacts) => void
}

/** The facts that a trace may contain: neither arguments nor results. */
export type CallTraceFacts = {
  readonly effect?: Tool['effect']
  readonly domain?: string
  readonly mode?: string | undefined
  readonly approval?: string | undefined
}

/** The result of a call. A refusal is a value: expected, typed, shown to people. */
export type CallResult =
  | {
      readonly status: 'done'
      readonly call: string
      readonly tool: Tool
      readonly output: unknown
      /** Differences from the request, such as a clamped limit (SV27). */
      readonly notes?: readonly string[]
      /** The earlier run of an approved call that was not repeated (A15). */
      readonly earlier?: EarlierRun
    }
  | ({ readonly status: 'refused' | 'failed'; readonly call: string } & Refusal)
  /** The call needs a decision, or it is approved and has not finished (A15). */
  | ({
      readonly status: 'waiting'
      readonly call: string
      readonly tool: Tool
      readonly approval: Approval
    } & Refusal)

export type Dispatch = (request: CallRequest) => Promise<CallResult>

export type DispatchDeps = {
  readonly registry: ToolRegistry
  readonly checks: readonly Check[]
  /** Runs first for invalid arguments: a caller without access need not learn the schema. */
  readonly checkCaller?: (attempt: Pick<CallAttempt, 'tool' | 'caller'>) => Verdict
  readonly approvals: Pick<
    Approvals,
    | 'claimOrOpen'
    | 'claimApprovedCall'
    | 'storeResult'
    | 'ended'
    | 'waitUntilFinished'
    | 'isClaimable'
    | 'isRunning'
    | 'noteDelivered'
    | 'reviewUrl'
  >
  /** Checked again in the transaction, because a halt may have been set after the checks (RS4). */
  readonly halts?: Pick<Halts, 'findCovering' | 'revision'>
  /**
   * With authentication off, callers cannot be distinguished, so everyone may decide requests that
   * execute nothing (A3).
   */
  readonly isOpen: () => boolean
  /** Returns the latest known time while the clock is too far behind it (A11). */
  readonly clockBehind?: () => number | undefined
  readonly ledger: Ledger
  readonly now: Clock
  readonly log: Log
}

/** Creates the single path of every call: parse → decide → record → run → record. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  const { registry, checks, isOpen, ledger, now } = deps
  const execute = createExecutor(deps)

  return async function dispatch(request) {
    const id = newId()
    const startedAt = now()
    const refuse = (
      refusal: Refusal,
      touch?: CallTarget,
      entryData?: CallDetails['data'],
    ): CallResult => {
      const entry = buildCallEntry('call.refused', id, request.caller, touch)
      ledger.appendDeferred({
        ...entry,
        outcome: refusal.code,
        data: {
          ...entry.data,
          ...entryData,
          tool: request.tool.slice(0, 128),
          message: refusal.message,
        },
      })
      return { status: 'refused', call: id, ...refusal }
    }

    const understood = parseCall(registry, request)
    const newest = deps.clockBehind?.()
    const clockRefusal = newest === undefined ? undefined : clockWentBackRefusal(startedAt, newest)
    const outage = clockRefusal ?? ledger.outage()
    // People may still read to find the cause; the read is recorded once the clock is correct.
    const isAllowedRead = clockRefusal !== undefined && isReadByPerson(understood, request.caller)
    if (outage && !isAllowedRead) return { status: 'refused', call: id, ...outage }
    if ('refusal' in understood) {
      const tool = registry.find(request.tool)
      const { caller } = request
      const known = tool && (isOpen() ? asUnverifiedPerson({ tool, caller }) : { tool, caller })
      const verdict = known && deps.checkCaller?.(known)
      if (verdict?.mode !== 'refuse') return refuse(understood.refusal)
      const { mode: _, ...refusal } = verdict
      return refuse(refusal)
    }
    const { caller, approval } = request
    const original: CallAttempt = { ...understood.attempt, caller, approval }
    request.observe?.({ effect: original.tool.effect, domain: original.touch.domain })
    const attempt = isOpen() ? asUnverifiedPerson(original) : original
    const haltRevision = deps.halts?.revision()
    let verdict: Exclude<CallVerdict, { mode: 'refuse' }> = { mode: 'act' }
    for (const check of checks) {
      const next = await check(attempt)
      if (next.mode === 'refuse') {
        const { mode: _, entryData, ...refusal } = next
        return refuse(refusal, attempt.touch, entryData)
      }
      if (next.mode === 'wait' || (verdict.mode === 'act' && next.decision)) verdict = next
    }
    if (verdict.mode === 'act') request.observe?.({ mode: 'act' })
    const executed = execute({ id, startedAt, attempt, verdict, request, haltRevision })
    const { notes } = understood
    if (notes.length === 0) return executed
    const answer = await executed
    return answer.status === 'done' ? { ...answer, notes } : answer
  }
}

/** With authentication off, treats the caller of a decision tool as an unverified person (A3). */
function asUnverifiedPerson<A extends Pick<CallAttempt, 'tool' | 'caller'>>(attempt: A): A {
  const { tool, caller } = attempt
  if (!tool.allowsUnverified || caller.kind !== 'agent' || caller.verified) return attempt
  const { claim: _, ...rest } = caller
  return { ...attempt, caller: { ...rest, kind: 'human', id: 'unverified', role: 'reviewer' } }
}

const isReadByPerson = (understood: ParsedCall, { kind }: Caller) =>
  'attempt' in understood && understood.attempt.tool.effect === 'read' && kind === 'human'

const clockWentBackRefusal = (at: number, newest: number): Refusal => ({
  code: 'clock_went_back',
  message: `The clock went back to ${formatRfc3339(at)}; the latest entry is from ${formatRfc3339(newest)}.`,
  hint: 'Correct the clock of this machine. Until then, agent calls and changes are refused.',
})

/** Parses the arguments that a person edited for an agent's call (B3). */
export const parseCallArguments = (registry: ToolRegistry) => (tool: string, args: unknown) => {
  const understood = parseCall(registry, { tool, arguments: args })
  if ('attempt' in understood) {
    const { input, touch } = understood.attempt
    return { ...understood.attempt, change: input, target: touch.target ?? '' }
  }
  const { code, message, hint, details } = understood.refusal
  throw new CoworkError(code, message, { ...(hint && { hint }), ...(details && { details }) })
}

type ParsedCall =
  | { attempt: Omit<CallAttempt, 'caller'>; notes: readonly string[] }
  | { refusal: Refusal }

function parseCall(
  registry: ToolRegistry,
  request: Pick<CallRequest, 'tool' | 'arguments'>,
): ParsedCall {
  const named = registry.find(request.tool)
  if (!named)
    return {
      refusal: {
        code: 'unknown_tool',
        message: `Unknown tool: ${JSON.stringify(request.tool.slice(0, 128))}.`,
        hint: unknownToolHint(registry, request.tool),
      },
    }
  const parsed = parseArguments(named, request.arguments)
  if ('refusal' in parsed) return parsed
  const { input, notes } = parsed
  const tool = named.forInput?.(input) ?? named
  const touch = tool.describeTarget?.(input) ?? { domain: tool.toolset }
  return { attempt: { tool, input, touch }, notes }
}
