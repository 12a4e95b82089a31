import { call } from '../api/client.ts'
import { meQuery, queryClient } from '../api/queries.ts'
import { createStore } from '../api/store.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import type { OverrideType, Severity } from '#base/override.ts'
import type { Decision, Item, Outcome, Verdict } from './approval.ts'
import { buildBatches } from './batch.ts'
import { applyOutcomes, applyUndo, refreshItems } from './queue.ts'
import { heldWord, formatOutcome } from './text.ts'

/** A decision that can still be undone. */
export type DeferredDecision = {
  readonly ids: readonly string[]
  /** The verdict, such as “Approved”. */
  readonly says: string
  readonly until: string
}
export const deferredDecisions = createStore<readonly DeferredDecision[]>([])

const myId = () => queryClient.getQueryData(meQuery.queryKey)?.person.id ?? 'you'

/** Decides items with `cowork_decide` and returns the outcome of each (C2, B2). */
export async function decide(items: readonly Item[], decision: Decision): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const batch of buildBatches(items, decision)) {
    const answer = await call('cowork_decide', {
      approval_ids: batch.ids,
      ...batch.decision,
      hold: true,
    })
    applyOutcomes(answer.outcomes, myId(), decision.decision)
    outcomes.push(...answer.outcomes)
  }
  hold(outcomes, heldWord(items, decision))
  return outcomes
}

function hold(outcomes: readonly Outcome[], says: string) {
  const held = outcomes.filter(({ status }) => status === 'held')
  const until = held.flatMap((outcome) => outcome.until ?? []).at(-1)
  if (until === undefined) return
  const mine = { ids: held.map(({ id }) => id), says, until }
  deferredDecisions.set([...deferredDecisions.get(), mine])
  setTimeout(() => dismissDeferred(mine), Math.max(0, Date.parse(until) - Date.now()))
}

export const dismissDeferred = (gone: DeferredDecision): void =>
  deferredDecisions.set(deferredDecisions.get().filter((one) => one !== gone))

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
  applyOutcomes([{ id: item.id, status: 'approved' }], myId(), 'approve')
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
    const late = outcomes.filter(({ status }) => status === 'error').length
    applyUndo(outcomes.filter(({ status }) => status === 'pending').map(({ id }) => id))
    refreshItems(given.ids)
    if (late === 0) toast('Undone.')
    else
      toast(
        late === 1 ? '1 decision was already final.' : `${late} decisions were already final.`,
        true,
      )
  } catch (error) {
    refreshItems(given.ids)
    toastProblem(error)
  }
}
