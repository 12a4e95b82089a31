import type { CallAttempt, RefuseVerdict } from '#base/call-check.ts'
import type { Approvals, ClaimResult } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import type { CallVerdict } from './call-authorizer.ts'

const hour = 60 * 60 * 1000
/** So long the same call stays refused, unless the agent does something else first. */
const openFor = 10 * 60 * 1000
/** Of callers that nobody heard of for an hour nothing need be known; in open mode they name themselves. */
const mostKept = 10_000

type Judge = (attempted: CallAttempt) => Promise<CallVerdict>
type Settings = Pick<Config['authority'], 'tool_budgets' | 'repeat_limit'>
type Passing = Pick<Approvals, 'claimApprovedCall' | 'ended'>
/** A call that ran, with the approval that it used up. */
type Spent = { readonly at: number; readonly approval?: string | undefined }

/**
 * How fast and how often an agent may call (V3): so many calls of a tool in an hour, and not the same one over
 * and over. Kept in memory, since it is asked of every call: each daemon counts its own, from its start.
 */
export function createCallLimiter({ tool_budgets, repeat_limit }: Settings, now: Clock) {
  const budgets = new Map(Object.entries(tool_budgets))
  const spent = new Map<string, Spent[]>()
  const lastOf = new Map<string, Run>()

  /** Refuses what was called too often in a row, whether or not it was let through (V3). */
  function repeated({ tool, input, caller }: CallAttempt): RefuseVerdict | undefined {
    if (repeat_limit === undefined) return undefined
    // Asking whether a person has decided is asking the same again: not counted, though it is another call.
    if (tool.toolset === 'cowork' && tool.effect === 'read') {
      lastOf.delete(caller.id)
      return undefined
    }
    const at = now()
    const digest = sha256Hex(JSON.stringify([tool.name, input]))
    const last = lastOf.get(caller.id)
    const isSame = last?.digest === digest && at - last.at < openFor
    if (isSame && last.count >= repeat_limit)
      return circuitOpen(tool.name, last.count, secondsUntil(last.at + openFor, at))
    if (!last) dropOldest(lastOf, (run) => run.at < at - hour)
    lastOf.set(caller.id, { digest, count: isSame ? last.count + 1 : 1, at })
    return undefined
  }

  function callsOf(agent: string, tool: string): Spent[] {
    const at = now()
    const key = JSON.stringify([agent, tool])
    const calls = spent.get(key) ?? []
    while ((calls[0]?.at ?? at) <= at - hour) calls.shift()
    if (!spent.has(key)) dropOldest(spent, (kept) => (kept.at(-1)?.at ?? 0) <= at - hour)
    spent.set(key, calls)
    return calls
  }

  function overBudget(agent: string, tool: string): RefuseVerdict | undefined {
    const budget = budgets.get(tool)
    if (budget === undefined) return undefined
    const calls = callsOf(agent, tool)
    if (calls.length < budget) return undefined
    const at = now()
    return budgetSpent(tool, budget, secondsUntil((calls[0]?.at ?? at) + hour, at))
  }

  function count(agent: string, tool: string, approval?: string): void {
    if (budgets.has(tool)) callsOf(agent, tool).push({ at: now(), approval })
  }

  /** In the transaction that lets it go on, which may be tried more than once: an approval counts once. */
  function countClaimed<P extends ClaimResult>(passage: P): P {
    const { id, requester, action } = passage.approval
    if (passage.as !== 'claimed' || !budgets.has(action)) return passage
    if (callsOf(requester, action).some(({ approval }) => approval === id)) return passage
    const spentAll = overBudget(requester, action)
    if (spentAll) throw errorOf(spentAll)
    count(requester, action, id)
    return passage
  }

  return {
    /** Before a call: what is too much is refused; what goes on at once is counted. */
    judging: (judge: Judge): Judge =>
      budgets.size === 0 && repeat_limit === undefined
        ? judge
        : async (attempted) => {
            const { tool, caller } = attempted
            if (caller.kind !== 'agent') return judge(attempted)
            // The runner repeats nothing: the agent called once, and a person approved it (A15).
            const tooOften = attempted.approval === undefined ? repeated(attempted) : undefined
            if (tooOften) return tooOften
            const verdict = await judge(attempted)
            // What a rule forbids was no call, and costs none.
            if (verdict.mode === 'refuse') return verdict
            const spentAll = overBudget(caller.id, tool.name)
            // A repeated call that ran already only gets its result (A15).
            if (spentAll && verdict.mode === 'wait' && attempted.approval === undefined)
              return { ...verdict, open: () => Promise.reject(errorOf(spentAll)) }
            if (spentAll) return spentAll
            // Asking is no call either: one that waits is counted when it goes on.
            if (verdict.mode === 'act' && attempted.approval === undefined)
              count(caller.id, tool.name)
            return verdict
          },
    /** Counts the calls that go on because a person approved them. */
    counting: <A extends Passing>(approvals: A): A =>
      budgets.size === 0
        ? approvals
        : {
            ...approvals,
            async claimApprovedCall(...given: Parameters<Passing['claimApprovedCall']>) {
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

function dropOldest<T>(kept: Map<string, T>, isOld: (value: T) => boolean): void {
  if (kept.size < mostKept) return
  for (const [key, value] of kept) if (isOld(value)) kept.delete(key)
  // All of them lately: who was first is forgotten first.
  const [first] = kept.keys()
  if (kept.size >= mostKept && first !== undefined) kept.delete(first)
}

const errorOf = (refusal: RefuseVerdict) => new CoworkError(refusal.code, refusal.message, refusal)

const secondsUntil = (then: number, at: number) => Math.max(1, Math.ceil((then - at) / 1000))

const circuitOpen = (tool: string, count: number, seconds: number): RefuseVerdict => ({
  mode: 'refuse',
  code: 'CIRCUIT_OPEN',
  message: `${tool} was called ${count} times in a row with the same arguments.`,
  hint: `It does not help to repeat it: do something else first, hand it to a person, or wait ${seconds} seconds.`,
  details: { error: true, circuit_open: true, repeats: count, retry_after_seconds: seconds },
})

const budgetSpent = (tool: string, budget: number, seconds: number): RefuseVerdict => ({
  mode: 'refuse',
  code: 'TOOL_BUDGET_EXCEEDED',
  message:
    budget === 0
      ? `${tool} may not be called here: its budget is 0.`
      : `${tool} may be called ${budget} times an hour, and that is used up.`,
  hint:
    budget === 0
      ? 'Do without it, or ask a person to raise authority.tool_budgets.'
      : `Wait ${seconds} seconds, or ask a person to raise authority.tool_budgets.`,
  details: {
    error: true,
    tool_budget: budget,
    budget_remaining: 0,
    ...(budget > 0 && { retry_after_seconds: seconds }),
  },
})
