import type { CallAttempt, RefuseVerdict } from '#base/call-check.ts'
import type { Approvals, ClaimResult } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import type { CallVerdict } from './call-authorizer.ts'

const hourMs = 60 * 60 * 1000
/** A repeated call stays refused this long, unless the agent makes another call first. */
const circuitOpenMs = 10 * 60 * 1000
/** State of callers that were idle for an hour can be dropped; with authentication off, callers choose their names. */
const maxTracked = 10_000

type AuthorizeCall = (attempted: CallAttempt) => Promise<CallVerdict>
type Settings = Pick<Config['authority'], 'tool_budgets' | 'repeat_limit'>
type ResumeApprovals = Pick<Approvals, 'claimApprovedCall' | 'ended'>
/** A call that ran, with the approval that it used. */
type CountedCall = { readonly at: number; readonly approval?: string | undefined }

/**
 * Limits calls of each agent (V3): a budget per tool and hour, and repeats of the same call. The state is in memory,
 * because every call reads it: each daemon counts its own calls since its start.
 */
export function createCallLimiter({ tool_budgets, repeat_limit }: Settings, now: Clock) {
  const budgets = new Map(Object.entries(tool_budgets))
  const countedCalls = new Map<string, CountedCall[]>()
  const lastRuns = new Map<string, Run>()

  /** Refuses a call that was repeated too often, whether or not earlier ones were allowed (V3). */
  function checkRepeat({ tool, input, caller }: CallAttempt): RefuseVerdict | undefined {
    if (repeat_limit === undefined) return undefined
    // Polling for a decision repeats by design: it does not count, and it interrupts a series.
    if (tool.toolset === 'cowork' && tool.effect === 'read') {
      lastRuns.delete(caller.id)
      return undefined
    }
    const at = now()
    const digest = sha256Hex(JSON.stringify([tool.name, input]))
    const last = lastRuns.get(caller.id)
    const isSame = last?.digest === digest && at - last.at < circuitOpenMs
    if (isSame && last.count >= repeat_limit)
      return circuitOpenRefusal(tool.name, last.count, secondsUntil(last.at + circuitOpenMs, at))
    if (!last) dropOldest(lastRuns, (run) => run.at < at - hourMs)
    lastRuns.set(caller.id, { digest, count: isSame ? last.count + 1 : 1, at })
    return undefined
  }

  function recentCalls(agent: string, tool: string): CountedCall[] {
    const at = now()
    const key = JSON.stringify([agent, tool])
    const calls = countedCalls.get(key) ?? []
    while ((calls[0]?.at ?? at) <= at - hourMs) calls.shift()
    if (!countedCalls.has(key))
      dropOldest(countedCalls, (kept) => (kept.at(-1)?.at ?? 0) <= at - hourMs)
    countedCalls.set(key, calls)
    return calls
  }

  function checkBudget(agent: string, tool: string): RefuseVerdict | undefined {
    const budget = budgets.get(tool)
    if (budget === undefined) return undefined
    const calls = recentCalls(agent, tool)
    if (calls.length < budget) return undefined
    const at = now()
    return budgetRefusal(tool, budget, secondsUntil((calls[0]?.at ?? at) + hourMs, at))
  }

  function count(agent: string, tool: string, approval?: string): void {
    if (budgets.has(tool)) recentCalls(agent, tool).push({ at: now(), approval })
  }

  /** Runs in the transaction that resumes the call, which may be retried: an approval counts once. */
  function countClaimed<P extends ClaimResult>(passage: P): P {
    const { id, requester, action } = passage.approval
    if (passage.as !== 'claimed' || !budgets.has(action)) return passage
    if (recentCalls(requester, action).some(({ approval }) => approval === id)) return passage
    const exceeded = checkBudget(requester, action)
    if (exceeded) throw toError(exceeded)
    count(requester, action, id)
    return passage
  }

  return {
    /** Refuses calls over a limit before authorization and counts calls that run at once. */
    limit: (judge: AuthorizeCall): AuthorizeCall =>
      budgets.size === 0 && repeat_limit === undefined
        ? judge
        : async (attempted) => {
            const { tool, caller } = attempted
            if (caller.kind !== 'agent') return judge(attempted)
            // A resumed call does not repeat: the agent called once, and a person approved it (A15).
            const repeatRefusal =
              attempted.approval === undefined ? checkRepeat(attempted) : undefined
            if (repeatRefusal) return repeatRefusal
            const verdict = await judge(attempted)
            // A call that a rule refuses does not use the budget.
            if (verdict.mode === 'refuse') return verdict
            const exceeded = checkBudget(caller.id, tool.name)
            // A repeated call that ran already only returns its result (A15).
            if (exceeded && verdict.mode === 'wait' && attempted.approval === undefined)
              return { ...verdict, open: () => Promise.reject(toError(exceeded)) }
            if (exceeded) return exceeded
            // A pending call counts when it resumes.
            if (verdict.mode === 'act' && attempted.approval === undefined)
              count(caller.id, tool.name)
            return verdict
          },
    /** Counts the calls that resume after an approval. */
    countResumed: <A extends ResumeApprovals>(approvals: A): A =>
      budgets.size === 0
        ? approvals
        : {
            ...approvals,
            async claimApprovedCall(...given: Parameters<ResumeApprovals['claimApprovedCall']>) {
              const passage = await approvals.claimApprovedCall(...given)
              try {
                return countClaimed(passage)
              } catch (error) {
                approvals.ended(passage.approval.id)
                throw error
              }
            },
          },
  }
}

type Run = { readonly digest: string; readonly count: number; readonly at: number }

function dropOldest<T>(tracked: Map<string, T>, isOld: (value: T) => boolean): void {
  if (tracked.size < maxTracked) return
  for (const [key, value] of tracked) if (isOld(value)) tracked.delete(key)
  // All are recent: drop the oldest.
  const [first] = tracked.keys()
  if (tracked.size >= maxTracked && first !== undefined) tracked.delete(first)
}

const toError = (refusal: RefuseVerdict) => new CoworkError(refusal.code, refusal.message, refusal)

const secondsUntil = (then: number, at: number) => Math.max(1, Math.ceil((then - at) / 1000))

const circuitOpenRefusal = (tool: string, count: number, seconds: number): RefuseVerdict => ({
  mode: 'refuse',
  code: 'CIRCUIT_OPEN',
  message: `${tool} was called ${count} times in a row with the same arguments.`,
  hint: `Do something else first, hand the task to a person, or wait ${seconds} seconds.`,
  details: { error: true, circuit_open: true, repeats: count, retry_after_seconds: seconds },
})

const budgetRefusal = (tool: string, budget: number, seconds: number): RefuseVerdict => ({
  mode: 'refuse',
  code: 'TOOL_BUDGET_EXCEEDED',
  message:
    budget === 0
      ? `${tool} is disabled: its budget is 0.`
      : `The budget of ${tool} is used up: ${budget} calls per hour.`,
  hint:
    budget === 0
      ? 'Use another tool, or ask a person to raise authority.tool_budgets.'
      : `Wait ${seconds} seconds, or ask a person to raise authority.tool_budgets.`,
  details: {
    error: true,
    tool_budget: budget,
    budget_remaining: 0,
    ...(budget > 0 && { retry_after_seconds: seconds }),
  },
})
