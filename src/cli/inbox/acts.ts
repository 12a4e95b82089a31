import { isCheck } from '../approvals.ts'
import type { Item } from '../approvals.ts'
import { plain } from '../plain.ts'
import { statusName } from './detail.ts'
import { keepingPlace, only, opened, say } from './moves.ts'
import { selectedItem } from './state.ts'
import type { Effect, State, Step } from './state.ts'

/** A key held down repeats faster than that, and nobody reads and decides faster. */
export const settleMs = 400

export const approve = (state: State): Step =>
  deciding(state, (item) => {
    const { id, kind, policy_conflict: conflict } = item
    if (kind === 'handoff') return toBeAnswered(state)
    if (isCheck(item) && !isRead(state, id)) return toBeRead(state)
    if (conflict) {
      const { version, message: why } = conflict
      return only({ ...state, prompt: { ask: 'conflict', id, version, why } })
    }
    return {
      state: { ...state, isBusy: true },
      effects: [asksMore(kind, id) ?? { act: 'decide', id, decision: 'approve' }],
    }
  })

/** Work in a new domain is allowed under some policy, and access to some extent: a person says which (Y4, GR3). */
function asksMore(kind: string, id: string): Effect | undefined {
  if (kind === 'permission') return { act: 'policies', id }
  return kind === 'grant' ? { act: 'access', id } : undefined
}

export const deny = (state: State): Step =>
  deciding(state, (item) => {
    const { id, kind } = item
    if (kind === 'handoff') return toBeAnswered(state)
    if (kind === 'grant') return only({ ...state, prompt: { ask: 'refusal', id, at: 0 } })
    if (!changesTrust(item)) return only({ ...state, prompt: { ask: 'reason', id, text: '' } })
    if (isCheck(item) && !isRead(state, id)) return toBeRead(state)
    return {
      state: { ...state, prompt: { ask: 'type', id, at: 0 } },
      // What each answer does to trust is part of the question.
      effects: state.detail?.id === id ? [] : [{ act: 'read', id }],
    }
  })

/** A matter of taste: what was done is not wrong (T14). */
export const differently = (state: State): Step =>
  deciding(state, (item) => {
    const { id } = item
    if (!isCheck(item)) return onlyChecks(state)
    if (!isRead(state, id)) return toBeRead(state)
    const override = { type: 'human_preference', severity: 'medium' } as const
    return only({ ...state, prompt: { ask: 'reason', id, override, text: '' } })
  })

/** Closes a check that nobody looks at: it counts for nothing (T14). */
export const skip = (state: State): Step =>
  deciding(state, (item) =>
    isCheck(item)
      ? {
          state: { ...state, isBusy: true },
          effects: [{ act: 'decide', id: item.id, decision: 'approve', skip: true }],
        }
      : onlyChecks(state),
  )

const isRead = ({ view, detail }: State, id: string) => view === 'detail' && detail?.id === id

/** What nobody has looked at says nothing: a check is opened before it is answered. */
function toBeRead(state: State): Step {
  const { state: reading, effects } = opened(state)
  return { state: say(reading, 'Read what was done, then answer.').state, effects }
}

const onlyChecks = (state: State): Step =>
  say(state, 'Only checks of what an agent did alone are answered so.')

export const edit = (state: State): Step =>
  deciding(state, ({ id, kind }) =>
    kind === 'proposal' || kind === 'call'
      ? { state: { ...state, isBusy: true }, effects: [{ act: 'edit', id }] }
      : say(state, 'Only proposals and calls can be edited.'),
  )

/** Answers a handoff (H2); of all others there is nothing to answer, and they are read again. */
export const answer = (state: State): Step =>
  selectedItem(state)?.kind === 'handoff'
    ? deciding(state, ({ id }) => only({ ...state, prompt: { ask: 'resolution', id, text: '' } }))
    : { state, effects: [{ act: 'load' }] }

const toBeAnswered = (state: State): Step =>
  say(state, 'A handoff is answered, not approved or denied: r answers it.')

/** Whatever changes trust asks what was wrong; the rest asks only why (B4). */
export const changesTrust = ({ kind }: Pick<Item, 'kind'>): boolean =>
  kind === 'proposal' || kind === 'spot_check'

/** Goes on only where there is something to decide, and only with a key that was meant. */
function deciding(state: State, act: (item: Item) => Step): Step {
  const item = selectedItem(state)
  if (!item || state.isBusy) return only(state)
  if (state.now < state.quietUntil) return only({ ...state, quietUntil: state.now + settleMs })
  if (item.status !== 'pending') {
    const by = item.decided_by ? ` by ${plain(item.decided_by)}` : ''
    return say(state, `Nothing to decide: ${statusName(item)}${by}.`)
  }
  return item.held ? say(state, 'This is decided and held: z takes it back.') : act(item)
}

export function undo(state: State): Step {
  const item = selectedItem(state)
  const id = item?.held ? item.id : state.lastHeld
  if (state.isBusy) return only(state)
  if (id === undefined) return say(state, 'Nothing is held that could be undone.')
  return { state: { ...state, isBusy: true }, effects: [{ act: 'undo', id }] }
}

export function snooze(state: State): Step {
  const { selected } = state
  if (selected === undefined) return only(state)
  const snoozed = new Set([...state.snoozed, selected])
  const next = keepingPlace(state, { ...state, view: 'list', snoozed })
  return say(next, 'Snoozed until you leave; S brings it back.')
}
