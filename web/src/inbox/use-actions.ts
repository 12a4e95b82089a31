import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { isHandoff } from './approval.ts'
import type { Decision, Item, Outcome } from './approval.ts'
import { answerHandoff, decide } from './decision.ts'
import type { HandoffAnswer } from './decision.ts'
import { readItems } from './queue.ts'
import { findTargetId, nextRemaining } from './row.ts'
import type { Row } from './row.ts'
import { formatDecision, formatOutcome, formatSince } from './text.ts'
import { peopleQuery } from '../settings/person.ts'
import { queryClient } from '../api/queries.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { focusRow } from '../shared/focus-row.ts'

export type ActionName =
  | 'deny'
  | 'hand_back'
  | 'resolve'
  | 'edit'
  | 'allow'
  | 'until'
  | 'snooze'
  | 'conflict'
export type PendingAction = { readonly name: ActionName; readonly items: readonly Item[] }

export type Report = {
  readonly items: readonly Item[]
  readonly outcomes: readonly Outcome[]
  readonly verdict: Decision['decision']
}

/** Ignores a second key press, which was meant for the previous item. */
const doublePressMs = 400
/** Errors of items that others decided first; the person cannot correct them. */
const finalErrors = new Set(['already_decided', 'approval_expired', 'not_found'])

export type Actions = ReturnType<typeof useActions>
export type DecisionForm = Pick<Actions, 'send'> & { readonly onClose: () => void }

export function useActions(rows: readonly Row[], current: string | undefined, clear: () => void) {
  const navigate = useNavigate()
  const [pending, setPending] = useState<PendingAction>()
  const [report, setReport] = useState<Report>()
  const [isBusy, setBusy] = useState(false)
  const [policies, setPolicies] = useState<Readonly<Record<string, string>>>({})
  const lastDecisionAt = useRef(0)

  /** Opens the next item; on a phone it opens the list, to prevent taps on another item. */
  function advance(removed: ReadonlySet<string>) {
    clear()
    const next = nextRemaining(rows, removed)
    const id = next && findTargetId(next)
    const isInList = document.activeElement?.closest('[data-row]') !== null
    if (current !== undefined && removed.has(current)) {
      const isPhone = matchMedia('(width < 720px)').matches
      if (id !== undefined && !isPhone)
        void navigate({
          to: '/inbox/$id',
          params: { id },
          search: true,
          replace: true,
          ...(isInList && { state: { keepFocus: true } }),
        })
      else void navigate({ to: '/inbox', search: true, replace: true })
    }
    if (isInList && next) focusRow(next.key)
  }

  /** Shows who decided the item first. */
  async function notifyLate(outcome: Outcome) {
    const [[item], { people }] = await Promise.all([
      readItems([outcome.id]),
      queryClient.ensureQueryData(peopleQuery),
    ])
    const personName = (id = 'nobody') => people.find((person) => person.id === id)?.name ?? id
    if (item?.held) return toast(`${personName(item.held.by)} just decided this item.`, true)
    const at = item?.decided_at
    if (!item || item.status === 'pending' || at === undefined)
      return toast(formatOutcome(outcome), true)
    toast(
      `${formatDecision(item, personName(item.decided_by), formatSince(Date.parse(at), Date.now()))}.`,
      true,
    )
  }

  /** Throws errors that the person can correct; shows the others. */
  async function send(items: readonly Item[], decision: Decision): Promise<void> {
    setBusy(true)
    try {
      const outcomes = await decide(items, decision)
      lastDecisionAt.current = Date.now()
      const [only] = outcomes
      if (items.length > 1) setReport({ items, outcomes, verdict: decision.decision })
      else if (only?.error && !finalErrors.has(only.error.code)) throw new ApiError(only.error)
      else if (only?.error) await notifyLate(only)
      else if (only && only.status !== 'held') toast(formatOutcome(only))
      const succeeded = outcomes.filter(({ error }) => !error)
      const gone = new Set(
        succeeded.flatMap(({ id, also = [] }) => [id, ...also.map((one) => one.id)]),
      )
      if (gone.size > 0) advance(gone)
    } finally {
      setBusy(false)
    }
  }

  /** Resolves a handoff, and its proposal in the same call. */
  async function answer(item: Item, reply: HandoffAnswer): Promise<void> {
    setBusy(true)
    try {
      const { text, isProblem } = await answerHandoff(item, reply)
      lastDecisionAt.current = Date.now()
      toast(text, isProblem)
      advance(new Set([item.id]))
    } catch (error) {
      if (!(error instanceof ApiError) || !finalErrors.has(error.code)) throw error
      // The error may be about the proposal; then the handoff is still pending.
      const [now] = await readItems([item.id])
      if (now?.status === 'pending') throw error
      await notifyLate({
        id: item.id,
        status: 'error',
        error: { code: error.code, message: error.message },
      })
    } finally {
      setBusy(false)
    }
  }

  const open = (id: string) => void navigate({ to: '/inbox/$id', params: { id }, search: true })

  return {
    pending,
    report,
    isBusy,
    policies,
    choosePolicy: (id: string, policy: string) => setPolicies((all) => ({ ...all, [id]: policy })),
    clearReport: () => setReport(undefined),
    closeDialog: () => setPending(undefined),
    send,
    answer,
    /** Moves on from snoozed items. */
    skip: (ids: readonly string[]) => advance(new Set(ids)),
    /** Opens the dialog for the pending items. */
    start(name: ActionName, selection: readonly Item[]) {
      const items = selection.filter(isOpen)
      const [only] = items
      if (!only) return
      const isAnswered = name === 'deny' && items.length === 1 && isHandoff(only)
      setPending({ name: isAnswered ? 'resolve' : name, items })
    },
    approve(selection: readonly Item[]) {
      const items = selection.filter(isOpen)
      const [only] = items
      if (!only || isBusy || Date.now() - lastDecisionAt.current < doublePressMs) return
      const policy = policies[only.id]
      const isAlone = items.length === 1
      if (isAlone && isHandoff(only)) return setPending({ name: 'resolve', items })
      if (isAlone && only.kind === 'permission' && policy === undefined) {
        toast('Choose the policy first.')
        return open(only.id)
      }
      if (isAlone && only.policy_conflict) return setPending({ name: 'conflict', items })
      const more = isAlone && policy !== undefined ? { policy_id: policy } : {}
      send(items, { decision: 'approve', ...more }).catch(toastProblem)
    },
  }
}

const isOpen = ({ status, held }: Item): boolean => status === 'pending' && !held
