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
  readonly registry: ToolRegistry
  readonly dispatch: Dispatch
  /** The id of this daemon's state directory in a store that several daemons share. */
  readonly node?: string | undefined
  readonly now: Clock
  readonly log: Log
}
type Runnable = Awaited<ReturnType<Approvals['listRunnable']>>[number]

const maxPerAgent = 8
/** Combines commits in quick succession. */
const debounceMs = 10
/** Covers lost notifications, and daemons that ended before they ran their approved calls. */
const pollIntervalMs = 5000
/** A running daemon starts its own calls well before another daemon takes them over. */
const takeOverAfterMs = 5000
const retryAfterMs = 5000
/** For an exhausted budget without a stated delay. */
const budgetRetryAfterMs = 60_000
/** How long `close` waits for running calls. */
const shutdownTimeoutMs = 10_000

const overBudget = 'TOOL_BUDGET_EXCEEDED'

/** Temporary refusals: the call stays approved and is retried. */
const temporaryRefusals = new Set([
  'halted',
  'clock_went_back',
  'ledger_unwritable',
  'store_unavailable',
  'store_closed',
  'outcome_unknown',
  overBudget,
])

/**
 * Runs approved calls, whether or not a client waits for them (A15). It polls after each commit,
 * at startup and periodically. Dispatch checks and claims each call like a call of its agent, so
 * each runs at most once, on whichever daemon claims it first.
 */
export function startRunner(deps: Deps) {
  const { db, approvals, halts, agents, registry, dispatch, node, now, log } = deps
  const running = new Map<string, { readonly agent: string; readonly done: Promise<void> }>()
  const retryTimes = new Map<string, number>()
  const polling = startPeriodicTask({
    intervalMs: pollIntervalMs,
    run: poll,
    failure: 'polling of approved calls failed',
    log,
  })
  /** A commit during a poll causes another poll. */
  const wake = () => polling.runWithin(debounceMs)

  async function poll(): Promise<void> {
    const found = (await approvals.listRunnable()).filter(canRunHere)
    if (found.length === 0) return
    const isHalted = await halts.snapshot()
    for (const { id, requester, domain } of found)
      if (!running.has(id) && !isDelayed(id) && !isHalted(requester, domain) && !isFull(requester))
        start(id, requester)
  }

  /** Files are on the disk of the machine where the call was requested. */
  function canRunHere({ node: opener, action, decidedAt }: Runnable): boolean {
    if (opener === null || opener === node) return true
    const tool = registry.find(action)
    return tool !== undefined && tool.toolset !== 'files' && decidedAt < now() - takeOverAfterMs
  }

  const isFull = (agent: string) =>
    [...running.values()].filter((one) => one.agent === agent).length >= maxPerAgent

  function start(id: string, agent: string): void {
    const done = run(id)
      .catch((error: unknown) => {
        log.error('approved call not started', { approval: id, error: errorMessage(error) })
        retryLater(id)
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
    const caller = await findCaller(approval)
    if (!caller) {
      if (await agents.isRemoved(db, approval.requester, approval.createdAt))
        await approvals.endApproved(id, `${approval.requester} is no longer registered.`)
      else retryLater(id)
      return
    }
    const args = openArguments(approval)
    const answer =
      args instanceof CoworkError
        ? args
        : await dispatch({ tool: approval.action, arguments: args.change, caller, approval: id })
    if ('status' in answer && (answer.status === 'done' || answer.status === 'waiting')) return
    const after = await approvals.get(id)
    if (!after || !approvals.isClaimable(after)) return
    if (temporaryRefusals.has(answer.code)) retryLater(id, retryDelay(answer))
    else await approvals.endApproved(id, answer.message)
  }

  /** Returns the requester with its current rights, and the session and client of its request. */
  async function findCaller(approval: Approval): Promise<Caller | undefined> {
    const { requester, createdAt, session, content } = approval
    const caller = await agents.findCaller(requester)
    if (!caller || !isOwnRecord(caller, requester, createdAt)) return undefined
    const { client } = content
    return { ...caller, session: session ?? '', ...(client && { client }) }
  }

  /** Returns the error if the store was modified: such a call can never run (A14). */
  function openArguments(approval: Approval): { readonly change: unknown } | CoworkError {
    try {
      return approvals.openCall(approval)
    } catch (error) {
      if (error instanceof CoworkError) return error
      throw error
    }
  }

  const isDelayed = (id: string) => (retryTimes.get(id) ?? 0) > now()

  function retryLater(id: string, ms = retryAfterMs): void {
    const until = now() + ms
    retryTimes.set(id, until)
    setTimeout(() => {
      if (retryTimes.get(id) === until) retryTimes.delete(id)
      wake()
    }, ms).unref()
  }

  const stopListening = db.onAppend(wake)
  return {
    /**
     * Stops starting calls and waits for running ones. A later result is `outcome_unknown` after
     * the restart.
     */
    async close(): Promise<void> {
      stopListening()
      await polling.close()
      const done = Promise.all([...running.values()].map((one) => one.done))
      await Promise.race([done, sleep(shutdownTimeoutMs, undefined, { ref: false })])
    },
  }
}

/** Each refusal is recorded, so an exhausted budget is retried only when it can allow the call. */
function retryDelay({ code, details }: { code: string; details?: CoworkError['details'] }): number {
  const seconds = details?.['retry_after_seconds']
  if (typeof seconds === 'number') return seconds * 1000
  return code === overBudget ? budgetRetryAfterMs : retryAfterMs
}
