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
  /** The approval that the runner starts it with; it asks for no other (A15). */
  readonly approval?: string
  /** The act of the client's that it belongs to, as the client wrote it (L13). */
  readonly traceparent?: string | undefined
  /** Told on the way what becomes known of it, for whoever traces calls (L13). */
  readonly observe?: (facts: CallTraceFacts) => void
}

/** What a trace may tell of a call: no arguments and no answer. */
export type CallTraceFacts = {
  readonly effect?: Tool['effect']
  readonly domain?: string
  readonly mode?: string | undefined
  readonly approval?: string | undefined
}

/** A refusal is a value: expected, typed, shown to people. */
export type CallResult =
  | {
      readonly status: 'done'
      readonly call: string
      readonly tool: Tool
      readonly output: unknown
      /** Differences from the request, such as a clamped limit (SV27). */
      readonly notes?: readonly string[]
      /** The earlier run of an approved call, which was not run again (A15). */
      readonly earlier?: EarlierRun
    }
  | ({ readonly status: 'refused' | 'failed'; readonly call: string } & Refusal)
  /** A person decides first, or the call is approved and about to end (A15). */
  | ({
      readonly status: 'waiting'
      readonly call: string
      readonly tool: Tool
      readonly approval: Approval
    } & Refusal)

export type Dispatch = (request: CallRequest) => Promise<CallResult>

export type DispatchDeps = {
  readonly catalogue: ToolRegistry
  readonly checks: readonly Check[]
  /** Looked at where the arguments are wrong: whoever may not call the tool need not learn how to. */
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
  /** Looked at again where a call waited for its transaction while somebody halted it (RS4). */
  readonly halts?: Pick<Halts, 'findCovering' | 'revision'>
  /** In open mode nobody can be told apart, and deciding what executes nothing is for everyone (A3). */
  readonly isOpen: () => boolean
  /** The newest time seen, while the clock is behind it by too much (A11). */
  readonly clockBehind?: () => number | undefined
  readonly ledger: Ledger
  readonly now: Clock
  readonly log: Log
}

/** The one path of every call: understand → decide → record → run → record. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  const { catalogue, checks, isOpen, ledger, now } = deps
  const execute = createExecutor(deps)

  return async function dispatch(request) {
    const id = newId()
    const startedAt = now()
    const refuse = (
      refusal: Refusal,
      touch?: CallTarget,
      told?: CallDetails['data'],
    ): CallResult => {
      const entry = buildCallEntry('call.refused', id, request.caller, touch)
      ledger.appendDeferred({
        ...entry,
        outcome: refusal.code,
        data: {
          ...entry.data,
          ...told,
          tool: request.tool.slice(0, 128),
          message: refusal.message,
        },
      })
      return { status: 'refused', call: id, ...refusal }
    }

    const understood = understand(catalogue, request)
    const newest = deps.clockBehind?.()
    const late = newest === undefined ? undefined : clockWentBack(startedAt, newest)
    const broken = late ?? ledger.outage()
    // People may look on, to see what is wrong; it is recorded when the clock is right again.
    const isLook = late !== undefined && looksOn(understood, request.caller)
    if (broken && !isLook) return { status: 'refused', call: id, ...broken }
    if ('refusal' in understood) {
      const tool = catalogue.find(request.tool)
      const { caller } = request
      const known = tool && (isOpen() ? asDecider({ tool, caller }) : { tool, caller })
      const verdict = known && deps.checkCaller?.(known)
      if (verdict?.mode !== 'refuse') return refuse(understood.refusal)
      const { mode: _, ...refusal } = verdict
      return refuse(refusal)
    }
    const { caller, approval } = request
    const asked: CallAttempt = { ...understood.attempt, caller, approval }
    request.observe?.({ effect: asked.tool.effect, domain: asked.touch.domain })
    const attempt = isOpen() ? asDecider(asked) : asked
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

/** Whoever calls a tool for deciding in open mode is taken for a person nobody has verified (A3). */
function asDecider<A extends Pick<CallAttempt, 'tool' | 'caller'>>(attempt: A): A {
  const { tool, caller } = attempt
  if (!tool.allowsUnverified || caller.kind !== 'agent' || caller.verified) return attempt
  const { claim: _, ...rest } = caller
  return { ...attempt, caller: { ...rest, kind: 'human', id: 'unverified', role: 'reviewer' } }
}

const looksOn = (understood: Understood, { kind }: Caller) =>
  'attempt' in understood && understood.attempt.tool.effect === 'read' && kind === 'human'

const clockWentBack = (at: number, newest: number): Refusal => ({
  code: 'clock_went_back',
  message: `The clock shows ${formatRfc3339(at)}, but it was ${formatRfc3339(newest)} before.`,
  hint: 'Set the clock of this machine right; until then agents do nothing and nothing is changed.',
})

/** How a tool of the catalogue reads arguments that a person wrote for an agent (B3). */
export const parseCallArguments = (catalogue: ToolRegistry) => (tool: string, args: unknown) => {
  const understood = understand(catalogue, { tool, arguments: args })
  if ('attempt' in understood) {
    const { input, touch } = understood.attempt
    return { ...understood.attempt, change: input, target: touch.target ?? '' }
  }
  const { code, message, hint, details } = understood.refusal
  throw new CoworkError(code, message, { ...(hint && { hint }), ...(details && { details }) })
}

type Understood =
  | { attempt: Omit<CallAttempt, 'caller'>; notes: readonly string[] }
  | { refusal: Refusal }

function understand(
  catalogue: ToolRegistry,
  request: Pick<CallRequest, 'tool' | 'arguments'>,
): Understood {
  const named = catalogue.find(request.tool)
  if (!named)
    return {
      refusal: {
        code: 'unknown_tool',
        message: `There is no tool named ${JSON.stringify(request.tool.slice(0, 128))}.`,
        hint: unknownToolHint(catalogue, request.tool),
      },
    }
  const parsed = parseArguments(named, request.arguments)
  if ('refusal' in parsed) return parsed
  const { input, notes } = parsed
  const tool = named.forInput?.(input) ?? named
  const touch = tool.describeTarget?.(input) ?? { domain: tool.toolset }
  return { attempt: { tool, input, touch }, notes }
}
