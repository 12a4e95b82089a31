import type { Passage } from '#approvals'
import { actorOf } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Tx } from '#base/db/port.ts'
import type { Draft, EntryIds } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { McpResult, noProgress, Refused } from '#base/tool.ts'
import type { Call, CallTold, Tool, Touch } from '#base/tool.ts'
import { haltRefusal } from './checks.ts'
import type { Attempt, Refusal, Verdict } from './checks.ts'
import type { Answer, CallRequest, DispatchDeps } from './dispatch.ts'
import { gone, settledOf, staleMessage } from './settled.ts'

type Performance = {
  readonly id: string
  readonly startedAt: number
  readonly attempt: Attempt
  readonly verdict: Exclude<Verdict, { mode: 'refuse' }>
  readonly request: CallRequest
  /** The revision of the halts that the checks looked at. */
  readonly haltRevision: number | undefined
}
type Said = Readonly<Record<string, unknown>>

/** How long a repeated call waits for the run of what is approved already. */
const runWaitMs = 3000

/** The reason why the call does not run now: it waits for a person, was rejected, or ran before. */
class Stopped {
  readonly passage: Exclude<Passage, { as: 'claimed' }>
  constructor(passage: Exclude<Passage, { as: 'claimed' }>) {
    this.passage = passage
  }
}

/** It was halted after the checks, while it waited for its transaction. */
class Declined {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

/** Nothing was committed, or nobody knows. */
const storeFailures = new Set(['store_unavailable', 'store_closed', 'outcome_unknown'])

type Stop = Stopped | Declined
const isStop = (value: unknown): value is Stop =>
  value instanceof Stopped || value instanceof Declined

/** Carries out a call that may run, between its entries; or finds that it has to wait. */
export function createPerform({
  approvals,
  halts,
  ledger,
  now,
  log,
}: Pick<DispatchDeps, 'approvals' | 'halts' | 'ledger' | 'now' | 'log'>) {
  return async function perform(performance: Performance): Promise<Answer> {
    const { id, startedAt, attempt, verdict, request, haltRevision } = performance
    const { tool, input, caller, touch } = attempt
    const { promise: inLine, resolve: standInLine } = Promise.withResolvers<void>()
    const call: Call = {
      id,
      caller,
      inLine,
      signal: request.signal ?? new AbortController().signal,
      progress: request.progress ?? noProgress,
      tell(facts) {
        told = { ids: { ...told.ids, ...facts.ids }, data: { ...told.data, ...facts.data } }
      },
      ...(request.exchange !== undefined && { exchange: request.exchange }),
    }
    // Only what somebody decided on is worth saying; the rest acts because nothing is against it.
    const isDecided =
      verdict.mode === 'wait' || verdict.decision !== undefined || request.approval !== undefined
    let ids: EntryIds = {}
    let told: CallTold = {}
    /** The approval that this call uses up. */
    let claimed: string | undefined
    /** All that it claimed, also in a transaction that was rolled back. */
    const claims = new Set<string>()
    let isStarted = false

    const entry = (type: string, more: Partial<Draft> = {}, said = told): Draft => {
      const draft = entryOf(type, id, caller, touch)
      return {
        ...draft,
        ...more,
        ids: { ...draft.ids, ...ids, ...said.ids, ...more.ids },
        data: { ...draft.data, tool: tool.name, effect: tool.effect, ...said.data, ...more.data },
      }
    }
    const timed = () => ({ ms: now() - startedAt })

    /** Before the act, in the transaction that starts it. */
    async function enter(tx: Tx): Promise<Said | Stop> {
      claimed = undefined
      if (halts && halts.revision() !== haltRevision) {
        const halt = await halts.covering(caller, touch, tx)
        if (halt) return new Declined(haltRefusal(halt))
      }
      // An approved call uses its approval, also where trust or a permission would do by now.
      if (request.approval !== undefined)
        return through(await approvals.resume(tx, caller, request.approval, verdict))
      if (verdict.mode === 'wait')
        return through(await approvals.pass(tx, caller, verdict, () => verdict.open(tx, call)))
      const passage = await verdict.enter?.(tx)
      if (passage && passage.as !== 'claimed') return through(passage)
      const approval = passage?.approval
      if (approval) claim(approval.id)
      ids = approval ? { approval: approval.id } : (verdict.ids ?? {})
      request.observe?.({ approval: ids.approval })
      const decision = verdict.decision ?? { mode: 'act' }
      // Else nothing tells the call that was approved from others under the permission it led to.
      return approval ? { ...decision, claimed: true } : decision
    }

    function through(passage: Passage): Said | Stopped {
      const { approval } = passage
      request.observe?.({ mode: approval.mode, approval: approval.id })
      if (passage.as !== 'claimed') return new Stopped(passage)
      claim(approval.id)
      ids = { approval: approval.id }
      return { mode: approval.mode, by: approval.decidedBy }
    }

    function claim(approval: string): void {
      claimed = approval
      claims.add(approval)
    }

    /** After it, in the transaction that ends it well. */
    async function leave(tx: Tx, output: unknown): Promise<void> {
      if (claimed !== undefined) await approvals.keep(tx, claimed, keptOf(output))
      else if (verdict.mode === 'act') await verdict.leave?.(tx, call)
    }

    let recording: Promise<Said | Stop> | undefined
    const record = () => (recording ??= start())

    async function start(): Promise<Said | Stop> {
      const recorded = tool.recorded ? await tool.recorded(input) : input
      return ledger.transact(async (tx) => {
        const decision = await enter(tx)
        if (!isStop(decision))
          // What the tool tells belongs to the end, however early it begins.
          tx.append(entry('call.started', { data: { decision }, payload: recorded }, {}))
        return decision
      })
    }

    /** Runs before it is on record. Large contents are on their way before they are hashed for the entry. */
    function begin(run: NonNullable<Tool['run']>) {
      const { promise: hasAsked, resolve: ask } = Promise.withResolvers<void>()
      async function enterEarly(): Promise<void> {
        ask()
        const entered = await record()
        if (entered instanceof Declined) throw new CoworkError('halted', entered.refusal.message)
        if (entered instanceof Stopped) throw new CoworkError('not_started', 'It ran before.')
      }
      return { hasAsked, output: run(input, { ...call, enter: enterEarly }) }
    }

    async function carryOut(): Promise<unknown> {
      call.signal.throwIfAborted()
      const { change, run, begins, settle } = tool
      if (change)
        // Store-only tools commit what they change and the record of it in one transaction (L1).
        return ledger.transact(
          async (tx) => {
            const decision = await enter(tx)
            if (isStop(decision)) return decision
            let isTold = false
            const said = () => ({ ...timed(), ...(isDecided && { decision }) })
            const telling: Tx = {
              ...tx,
              append(draft) {
                if (!draft.isCall) return tx.append(draft)
                isTold = true
                const data = { ...draft.data, ...said() }
                tx.append(entry(draft.type, { ...draft, data, payload: input }))
              },
            }
            const changed = await change(telling, input, call)
            await leave(tx, changed)
            if (changed instanceof Refused) {
              const { code, message, details } = changed
              const data = { ...timed(), message, details }
              tx.append(entry('call.refused', { outcome: code, data, payload: input }))
            } else if (!isTold)
              tx.append(entry('call.done', { outcome: 'done', data: said(), payload: input }))
            return changed
          },
          { isUrgent: tool.isUrgent === true },
        )
      const done = () => entry('call.done', { outcome: 'done', data: timed() })
      if (tool.effect === 'read' && !isDecided) {
        const output = await run(input, call)
        ledger.note(done())
        return output
      }
      // Where nobody is asked, nothing but the store itself can stop it now.
      const isSure = verdict.mode === 'act' && request.approval === undefined
      const begun = begins && isSure ? begin(run) : undefined
      // A tool that ends without asking for it is on record all the same.
      if (begun) await Promise.race([begun.hasAsked, begun.output]).catch(() => undefined)
      const entered = await record()
      if (isStop(entered)) return entered
      isStarted = true
      const output = await (begun?.output ?? run(input, call))
      const settled = ledger.transact(async (tx) => {
        await settle?.(tx, output, call)
        await leave(tx, output)
        tx.append(done())
      })
      standInLine()
      await settled.catch((error: unknown) => {
        throw unsettled(tool, error)
      })
      return output
    }

    /**
     * Whether a tool that changes the store failed by itself. Its claim was rolled back with what it did, and is made
     * with the failure. Where the store failed, the claim is what the store says (A15).
     */
    const isOwnFailure = ({ code }: Refusal) =>
      tool.change !== undefined && !call.signal.aborted && !storeFailures.has(code)

    async function fail(failure: Refusal): Promise<void> {
      const data = { ...timed(), message: failure.message }
      const failed = entry('call.failed', { outcome: failure.code, data })
      const used = isStarted || isOwnFailure(failure) ? claimed : undefined
      if (!isStarted && used === undefined) return ledger.note(failed)
      // What began and is on record must also end on record before anyone hears of it (L12).
      await ledger
        .transact(async (tx) => {
          tx.append(failed)
          if (used !== undefined) await approvals.keep(tx, used, { status: 'failed', ...failure })
        })
        .catch(() => ledger.note(failed))
    }

    try {
      const output = await carryOut().finally(standInLine)
      if (output instanceof Stopped) {
        const { passage } = output
        const stop = await stopped(passage)
        // A new question is on record by itself; one that is met again is worth a line.
        if (passage.as !== 'waiting' || !passage.isNew)
          ledger.note(
            entry('call.refused', {
              outcome: stop.status === 'done' ? 'approval_used' : stop.code,
              ids: { call: id, approval: passage.approval.id },
            }),
          )
        return { ...stop, call: id }
      }
      if (output instanceof Declined) {
        const { code, message } = output.refusal
        ledger.note(entry('call.refused', { outcome: code, data: { message } }))
        return { status: 'refused', call: id, ...output.refusal }
      }
      if (output instanceof Refused) return { status: 'refused', call: id, ...refusalIn(output) }
      return { status: 'done', call: id, tool, output }
    } catch (error) {
      const failure = explain(error, call, log)
      await fail(failure)
      return { status: 'failed', call: id, ...failure }
    } finally {
      for (const approval of claims) approvals.ended(approval)
    }

    /** Answers a call that does not run now. A repeated approved call waits a little for its result. */
    async function stopped(passage: Stopped['passage']) {
      const { as, approval } = passage
      if (as === 'gone') return gone(approval, tool)
      const earlier = as === 'waiting' ? passage.stale : undefined
      const isRepeated = request.approval === undefined && (as === 'approved' || as === 'used')
      const latest = isRepeated
        ? await approvals.finished(approval.id, runWaitMs, call.signal)
        : undefined
      const settled = settledOf(latest ?? approval, tool, approvals)
      if (isRepeated && settled.status !== 'waiting') approvals.noteDelivered(approval.id)
      return earlier && settled.status === 'waiting'
        ? { ...settled, message: `${staleMessage(earlier)} ${settled.message}` }
        : settled
    }
  }
}

/** An upstream's answer is kept as what it is. */
function keptOf(output: unknown) {
  if (output instanceof McpResult) return { status: 'done', mcp: output.result }
  return output instanceof Refused
    ? { status: 'refused', ...refusalIn(output) }
    : { status: 'done', output }
}

const refusalIn = ({ code, message, hint, details }: Refused): Refusal => ({
  code,
  message,
  hint,
  details,
})

export function entryOf(type: string, call: string, caller: Caller, touch?: Touch): Draft {
  const { claim } = caller
  return {
    type,
    actor: actorOf(caller),
    ids: { call },
    ...(touch && { domain: touch.domain }),
    ...(touch?.target !== undefined && { subject: touch.target }),
    ...((touch?.data ?? claim) !== undefined && {
      data: { ...touch?.data, ...(claim !== undefined && { claim }) },
    }),
  }
}

/** The store says that nothing was saved, and that is true of the store: what ran outside of it was not undone. */
function unsettled({ name }: Tool, error: unknown): unknown {
  if (!(error instanceof CoworkError) || error.code !== 'store_unavailable') return error
  const message = `${name} ran, but its end could not be recorded: ${error.message}`
  return new CoworkError('outcome_unknown', message, {
    hint: 'Look at what it did before you try again.',
    cause: error,
  })
}

/** What went wrong, for the caller. A bug is logged with its stack and answered without it. */
function explain(error: unknown, call: Call, log: Log): Refusal {
  // What the tool itself says of its act counts, also when nobody waits for it any longer.
  if (error instanceof CoworkError) {
    const { code, message, hint, details } = error
    return { code, message, ...(hint && { hint }), details }
  }
  if (call.signal.aborted) return { code: 'cancelled', message: 'The call was cancelled.' }
  log.error('a call failed unexpectedly', {
    call: call.id,
    error: error instanceof Error ? error.stack : String(error),
  })
  return {
    code: 'internal',
    message:
      'The call failed because of a fault in cowork; nothing it changed in the store was kept.',
    hint: `The log names the cause under call ${call.id}.`,
  }
}
