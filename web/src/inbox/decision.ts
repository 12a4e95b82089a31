import { call } from '../api/client.ts'
import { meQuery, queryClient } from '../api/queries.ts'
import { createStore } from '../api/store.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import type { OverrideType, Severity } from '#base/override.ts'
import type { Decision, Item, Outcome, Verdict } from './approval.ts'
import { buildBatches } from './batch.ts'
import { applyOutcomes, applyUndo, refreshItems } from './queue.ts'
import { formatVerdict, formatOutcome } from './text.ts'

/** A decision that can still be undone. */
export type DeferredDecision = {
  readonly ids: readonly string[]
  /** The verdict, such as “Approved”. */
  readonly label: string
  readonly until: string
}
export const deferredDecisions = createStore<readonly DeferredDecision[]>([])

const getMyId = () => queryClient.getQueryData(meQuery.queryKey)?.person.id ?? 'you'

/** Decides items with `cowork_decide` and returns the outcome of each (C2, B2). */
export async function decide(items: readonly Item[], decision: Decision): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const batch of buildBatches(items, decision)) {
    const answer = await call('cowork_decide', {
      approval_ids: batch.ids,
      ...batch.decision,
      hold: true,
    })
    applyOutcomes(answer.outcomes, getMyId(), decision.decision)
    outcomes.push(...answer.outcomes)
  }
  deferDecisions(outcomes, formatVerdict(items, decision))
  return outcomes
}

function deferDecisions(outcomes: readonly Outcome[], label: string) {
  const deferred = outcomes.filter(({ status }) => status === 'held')
  const until = deferred.flatMap((outcome) => outcome.until ?? []).at(-1)
  if (until === undefined) return
  const decision = { ids: deferred.map(({ id }) => id), label, until }
  deferredDecisions.set([...deferredDecisions.get(), decision])
  setTimeout(() => dismissDeferred(decision), Math.max(0, Date.parse(until) - Date.now()))
}

export const dismissDeferred = (dismissed: DeferredDecision): void =>
  deferredDecisions.set(deferredDecisions.get().filter((decision) => decision !== dismissed))

/** The arguments of `cowork_resolve_handoff` besides the id. */
export type HandoffAnswer = {
  readonly resolution: string
  readonly hand_back: boolean
  readonly instructions?: string
  readonly decide_proposal?: Verdict
  readonly override_type?: OverrideType
  readonly severity?: Severity
  readonly description?: string
}

/** Resolves a handoff and returns the text of the toast (H2). */
export async function answerHandoff(
  item: Item,
  answer: HandoffAnswer,
): Promise<{ text: string; isProblem: boolean }> {
  const { hand_back_refused: refused, proposal } = await call('cowork_resolve_handoff', {
    handoff_id: item.id,
    ...answer,
  })
  applyOutcomes([{ id: item.id, status: 'approved' }], getMyId(), 'approve')
  if (proposal) refreshItems([proposal.proposal_id])
  if (refused) return { text: `Resolved. ${refused.message} ${refused.hint}`, isProblem: true }
  const done = answer.hand_back ? 'Resolved and handed back.' : 'Resolved.'
  const about = proposal ? ` Proposal: ${formatOutcome(proposal)}` : ''
  return { text: done + about, isProblem: false }
}

export async function undo(given = deferredDecisions.get().at(-1)): Promise<void> {
  if (!given) return toast('Nothing to undo: the decision is final.')
  dismissDeferred(given)
  try {
    const { outcomes } = await call('cowork_undo', { approval_ids: given.ids })
    const finalCount = outcomes.filter(({ status }) => status === 'error').length
    applyUndo(outcomes.filter(({ status }) => status === 'pending').map(({ id }) => id))
    refreshItems(given.ids)
    if (finalCount === 0) toast('Undone.')
    else
      toast(
        finalCount === 1
          ? '1 decision was already final.'
          : `${finalCount} decisions were already final.`,
        true,
      )
  } catch (error) {
    refreshItems(given.ids)
    toastProblem(error)
  }
}
