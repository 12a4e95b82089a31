import { setTimeout as sleep } from 'node:timers/promises'
import type { Approval, Approvals, Halts } from '#approvals'
import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { Identity } from '#identity'
import type { ToolRegistry } from './tool-registry.ts'
import type { Dispatch } from './dispatch.ts'

type Deps = {
  readonly db: Db
  readonly approvals: Pick<
    Approvals,
    'listRunnable' | 'get' | 'isClaimable' | 'openCall' | 'endApproved'
  >
  readonly halts: Pick<Halts, 'snapshot'>
  readonly agents: Pick<Identity, 'findCaller' | 'isRemoved'>
  readonly catalogue: ToolRegistry
  readonly dispatch: Dispatch
  /** The name of this daemon's state folder in a store that several share. */
  readonly node?: string | undefined
  readonly now: Clock
  readonly log: Log
}
type Runnable = Awaited<ReturnType<Approvals['listRunnable']>>[number]

const maxPerAgent = 8
/** Gathers the commits of a moment. */
const lookDelayMs = 10
/** Makes up for a lost notification, and for a daemon that ended before it ran what it opened. */
const pollIntervalMs = 5000
/** A daemon that is there runs its own calls well before another one takes them over. */
const takeOverAfterMs = 5000
const retryAfterMs = 5000
/** For a call whose budget is used up, where nobody says for how long. */
const budgetRetryAfterMs = 60_000
/** How long `close` waits for calls that run. */
const graceMs = 10_000

const overBudget = 'TOOL_BUDGET_EXCEEDED'

/** Refusals that pass: the call stays approved and is tried again. */
const passing = new Set([
  'halted',
  'clock_went_back',
  'ledger_unwritable',
  'store_unavailable',
  'store_closed',
  'outcome_unknown',
  overBudget,
])

/**
 * Runs the calls that a person approved, whether or not a client waits for them (A15). It looks for them after each
 * commit, at the start and from time to time. Dispatch checks and claims each of them as if its agent called again, so
 * that each runs at most once, whichever daemon takes it first.
 */
export function startRunner(deps: Deps) {
  const { db, approvals, halts, agents, catalogue, dispatch, node, now, log } = deps
  const running = new Map<string, { readonly agent: string; readonly done: Promise<void> }>()
  /** When each approval that could not run is tried again. */
  const resting = new Map<string, number>()
  const looking = startPeriodicTask({
    intervalMs: pollIntervalMs,
    run: look,
    failure: 'runner: approved calls not read',
    log,
  })
  /** Commits during a look lead to the next one. */
  const wake = () => looking.runWithin(lookDelayMs)

  async function look(): Promise<void> {
    const found = (await approvals.listRunnable()).filter(isForHere)
    if (found.length === 0) return
    const isHalted = await halts.snapshot()
    for (const { id, requester, domain } of found)
      if (!running.has(id) && !isResting(id) && !isHalted(requester, domain) && !isFull(requester))
        start(id, requester)
  }

  /** Files are on the disk of the machine where they were asked for. */
  function isForHere({ node: opener, action, decidedAt }: Runnable): boolean {
    if (opener === null || opener === node) return true
    const tool = catalogue.find(action)
    return tool !== undefined && tool.toolset !== 'files' && decidedAt < now() - takeOverAfterMs
  }

  const isFull = (agent: string) =>
    [...running.values()].filter((one) => one.agent === agent).length >= maxPerAgent

  function start(id: string, agent: string): void {
    const done = run(id)
      .catch((error: unknown) => {
        log.error('runner: approved call not started', { approval: id, error: errorMessage(error) })
        rest(id)
      })
      .finally(() => {
        running.delete(id)
        wake()
      })
    running.set(id, { agent, done })
  }

  async function run(id: string): Promise<void> {
    const approval = await approvals.get(id)
    if (!approval || !approvals.isClaimable(approval)) return
    const caller = await callerOf(approval)
    if (!caller) {
      if (await agents.isRemoved(db, approval.requester, approval.createdAt))
        await approvals.endApproved(id, `${approval.requester} is not registered any more.`)
      else rest(id)
      return
    }
    const args = argumentsOf(approval)
    const answer =
      args instanceof CoworkError
        ? args
        : await dispatch({ tool: approval.action, arguments: args.change, caller, approval: id })
    if ('status' in answer && (answer.status === 'done' || answer.status === 'waiting')) return
    const after = await approvals.get(id)
    if (!after || !approvals.isClaimable(after)) return
    if (passing.has(answer.code)) rest(id, restOf(answer))
    else await approvals.endApproved(id, answer.message)
  }

  /** The requester as it may call now, in the session and with the client of its request. */
  async function callerOf(approval: Approval): Promise<Caller | undefined> {
    const { requester, createdAt, session, content } = approval
    const caller = await agents.findCaller(requester)
    if (!caller || !isOwnRecord(caller, requester, createdAt)) return undefined
    const { client } = content
    return { ...caller, session: session ?? '', ...(client && { client }) }
  }

  /** Throws nothing where the store was changed: such a call can never run (A14). */
  function argumentsOf(approval: Approval): { readonly change: unknown } | CoworkError {
    try {
      return approvals.openCall(approval)
    } catch (error) {
      if (error instanceof CoworkError) return error
      throw error
    }
  }

  const isResting = (id: string) => (resting.get(id) ?? 0) > now()

  function rest(id: string, ms = retryAfterMs): void {
    const until = now() + ms
    resting.set(id, until)
    setTimeout(() => {
      if (resting.get(id) === until) resting.delete(id)
      wake()
    }, ms).unref()
  }

  const stopListening = db.onAppend(wake)
  return {
    /** Starts nothing more and waits for what runs. A result that comes later is `outcome_unknown` after the restart. */
    async close(): Promise<void> {
      stopListening()
      await looking.close()
      const done = Promise.all([...running.values()].map((one) => one.done))
      await Promise.race([done, sleep(graceMs, undefined, { ref: false })])
    },
  }
}

/** A refusal is on record each time, so a budget is not tried again before it can allow the call. */
function restOf({ code, details }: { code: string; details?: CoworkError['details'] }): number {
  const seconds = details?.['retry_after_seconds']
  if (typeof seconds === 'number') return seconds * 1000
  return code === overBudget ? budgetRetryAfterMs : retryAfterMs
}
