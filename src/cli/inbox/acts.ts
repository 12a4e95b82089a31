import { overrideTypes, severities } from '#base/override.ts'
import { choiceLabels, isCheck, untilOf } from '../approvals.ts'
import type { GrantChoice, Item } from '../approvals.ts'
import { problemOf } from '../exit.ts'
import { plain } from '../output.ts'
import { choose, only, opened, say, scrollTo, typed } from '../screen/keys.ts'
import type { Key } from '../screen/keys.ts'
import { statusName } from './detail.ts'
import { bodyRows, pageSize, readable, selectedItem, visible } from './state.ts'
import type { Effect, Override, Prompt, State, Step } from './state.ts'

/** Has it done; until it is, keys decide nothing more. */
const doing = (state: State, effect: Effect): Step => ({
  state: { ...state, prompt: undefined, isBusy: true },
  effects: [effect],
})

const mostItems = 1000

export function moved(state: State, by: number): Step {
  const shown = visible(state)
  const at = shown.findIndex(({ id }) => id === state.selected)
  const next = Math.min(Math.max(at + by, 0), shown.length - 1)
  const isAtEnd = next === shown.length - 1 && state.isMore
  const limit = isAtEnd ? Math.min(state.limit + pageSize, mostItems) : state.limit
  return {
    state: { ...state, selected: shown[next]?.id, limit },
    effects: limit > state.limit ? [{ act: 'load' }] : [],
  }
}

export const scrolled = (state: State, by: number): State =>
  scrollTo(state, state.scroll + by, readable(state).length - bodyRows(state.size))

/** Something may no longer be shown: the hand then goes to what takes its place. */
export function keepingPlace(state: State, next: State): State {
  const shown = visible(next)
  if (shown.some(({ id }) => id === next.selected)) return next
  const at = visible(state).findIndex(({ id }) => id === state.selected)
  return { ...next, selected: shown[Math.min(Math.max(at, 0), shown.length - 1)]?.id, scroll: 0 }
}

export function filtered(state: State, filter: string): Step {
  const afresh = { filter, selected: undefined, items: [], isLoaded: false, limit: pageSize }
  return { state: { ...state, ...afresh, prompt: undefined }, effects: [{ act: 'load' }] }
}

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
    return doing(state, asksMore(kind, id) ?? { act: 'decide', id, decision: 'approve' })
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
      ? doing(state, { act: 'decide', id: item.id, decision: 'approve', skip: true })
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
      ? doing(state, { act: 'edit', id })
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
  return doing(state, { act: 'undo', id })
}

export function snooze(state: State): Step {
  const { selected } = state
  if (selected === undefined) return only(state)
  const snoozed = new Set([...state.snoozed, selected])
  const next = keepingPlace(state, { ...state, view: 'list', snoozed })
  return say(next, 'Snoozed until you leave; S brings it back.')
}

export type Choosing = Extract<Prompt, { at: number }>
type Writing = Extract<Prompt, { text: string }>

export function answered(state: State, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape')
    return say(
      { ...state, prompt: undefined },
      prompt.ask === 'filter' ? '' : 'Nothing was decided.',
    )
  if ('text' in prompt) return written(state, prompt, key)
  if (state.isPasting) return only(state)
  return isChoosing(prompt) ? chosen(state, prompt, key) : confirmed(state, prompt, key.name)
}

export const isChoosing = (prompt: Prompt | undefined): prompt is Choosing =>
  prompt !== undefined && 'at' in prompt

const refusals = ['Deny', 'Deny and don’t ask again'] as const

export function optionsOf(prompt: Choosing): readonly string[] {
  if (prompt.ask === 'policy') return prompt.options
  if (prompt.ask === 'access') return prompt.options.map((option) => choiceLabels[option])
  if (prompt.ask === 'refusal') return refusals
  return prompt.ask === 'type' ? overrideTypes : severities
}

/** Severity is medium unless it is said to be more or less (T4). */
const medium = severities.indexOf('medium')

function chosen(state: State, prompt: Choosing, key: Key): Step {
  const next = choose(prompt.at, optionsOf(prompt), key)
  if (!next) return only(state)
  return 'at' in next
    ? only({ ...state, prompt: { ...prompt, at: next.at } })
    : picking(state, prompt, next.taken)
}

function picking(state: State, prompt: Choosing, at: number): Step {
  const { id } = prompt
  if (prompt.ask === 'policy') {
    const policy = prompt.options[at] ?? ''
    return doing(state, { act: 'decide', id, decision: 'approve', policy })
  }
  if (prompt.ask === 'access') {
    const choice = prompt.options[at] ?? 'until'
    if (choice === 'until') return only({ ...state, prompt: { ask: 'until', id, text: '' } })
    return allowing(state, id, { choice })
  }
  if (prompt.ask === 'refusal') {
    const grant = at === 1 ? { grant: { choice: 'deny_always' as const } } : {}
    return only({ ...state, prompt: { ask: 'reason', id, ...grant, text: '' } })
  }
  if (prompt.ask === 'type') {
    const type = overrideTypes[at] ?? 'agent_wrong'
    return only({ ...state, prompt: { ask: 'severity', id, type, at: medium } })
  }
  const override: Override = { type: prompt.type, severity: severities[at] ?? 'medium' }
  return only({ ...state, prompt: { ask: 'reason', id, override, text: '' } })
}

const allowing = (state: State, id: string, grant: GrantChoice): Step =>
  doing(state, { act: 'decide', id, decision: 'approve', grant })

function allowedUntil(state: State, id: string, text: string): Step {
  try {
    return allowing(state, id, untilOf(text, state.now))
  } catch (error) {
    const { message, hint = '' } = problemOf(error)
    return say({ ...state, prompt: undefined }, plain(`${message} ${hint}`), 'bad')
  }
}

const written = (state: State, prompt: Writing, key: Key): Step =>
  // A line break that was pasted is no answer.
  key.name === 'enter' && !state.isPasting
    ? submitted(state, prompt)
    : only({ ...state, prompt: { ...prompt, text: typed(prompt.text, key) } })

function submitted(state: State, prompt: Writing): Step {
  const text = prompt.text.trim()
  if (prompt.ask === 'filter') return filtered(state, text)
  const { id } = prompt
  if (prompt.ask === 'resolution')
    return only(
      text === ''
        ? state
        : { ...state, prompt: { ask: 'instructions', id, resolution: text, text: '' } },
    )
  if (prompt.ask === 'instructions') {
    const { resolution } = prompt
    const instructions = text === '' ? {} : { instructions: text }
    return doing(state, { act: 'resolve', id, resolution, ...instructions })
  }
  if (prompt.ask === 'until') return allowedUntil(state, id, text)
  const { override, grant } = prompt
  return doing(state, {
    act: 'decide',
    id,
    decision: 'reject',
    ...(text !== '' && { reason: text }),
    ...(override && { override }),
    ...(grant && { grant }),
  })
}

function confirmed(
  state: State,
  prompt: Extract<Prompt, { ask: 'changed' | 'conflict' }>,
  key: string,
): Step {
  const { id } = prompt
  const more =
    prompt.ask === 'conflict' ? { acknowledge: prompt.version } : { change: prompt.change }
  if (key === 'n') return say({ ...state, prompt: undefined }, 'Nothing was decided.')
  return key === 'y'
    ? doing(state, { act: 'decide', id, decision: 'approve', ...more })
    : only(state)
}
