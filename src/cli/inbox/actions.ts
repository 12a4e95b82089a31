import { overrideTypes, severities } from '#base/override.ts'
import { choiceLabels, isCheck, parseUntil } from '../approvals.ts'
import type { GrantChoice, ApprovalItem } from '../approvals.ts'
import { toProblem } from '../exit.ts'
import { sanitize } from '../output.ts'
import { choose, noEffects, openSelected, showMessage, scrollTo, typed } from '../screen/keys.ts'
import type { Key } from '../screen/keys.ts'
import { formatStatus } from './detail.ts'
import { bodyRows, pageSize, readerLines, selectedItem, visibleItems } from './state.ts'
import type { Effect, Override, Prompt, State, Step } from './state.ts'

/** Has it done; until it is, keys decide nothing more. */
const doing = (state: State, effect: Effect): Step => ({
  state: { ...state, prompt: undefined, isBusy: true },
  effects: [effect],
})

const mostItems = 1000

export function moveSelection(state: State, by: number): Step {
  const shown = visibleItems(state)
  const at = shown.findIndex(({ id }) => id === state.selected)
  const next = Math.min(Math.max(at + by, 0), shown.length - 1)
  const isAtEnd = next === shown.length - 1 && state.isMore
  const limit = isAtEnd ? Math.min(state.limit + pageSize, mostItems) : state.limit
  return {
    state: { ...state, selected: shown[next]?.id, limit },
    effects: limit > state.limit ? [{ act: 'load' }] : [],
  }
}

export const scrollBy = (state: State, by: number): State =>
  scrollTo(state, state.scroll + by, readerLines(state).length - bodyRows(state.size))

/** Something may no longer be shown: the hand then goes to what takes its place. */
export function keepSelection(state: State, next: State): State {
  const shown = visibleItems(next)
  if (shown.some(({ id }) => id === next.selected)) return next
  const at = visibleItems(state).findIndex(({ id }) => id === state.selected)
  return { ...next, selected: shown[Math.min(Math.max(at, 0), shown.length - 1)]?.id, scroll: 0 }
}

export function applyFilter(state: State, filter: string): Step {
  const afresh = { filter, selected: undefined, items: [], isLoaded: false, limit: pageSize }
  return { state: { ...state, ...afresh, prompt: undefined }, effects: [{ act: 'load' }] }
}

/** A key held down repeats faster than that, and nobody reads and decides faster. */
export const keyRepeatMs = 400

export const approve = (state: State): Step =>
  deciding(state, (item) => {
    const { id, kind, policy_conflict: conflict } = item
    if (kind === 'handoff') return toBeAnswered(state)
    if (isCheck(item) && !isRead(state, id)) return toBeRead(state)
    if (conflict) {
      const { version, message: why } = conflict
      return noEffects({ ...state, prompt: { ask: 'conflict', id, version, why } })
    }
    return doing(state, asksMore(kind, id) ?? { act: 'decide', id, decision: 'approve' })
  })

/** Work in a new domain is allowed under some policy, and access to some extent: a person says which (Y4, GR3). */
function asksMore(kind: string, id: string): Effect | undefined {
  if (kind === 'permission') return { act: 'policies', id }
  return kind === 'grant' ? { act: 'access', id } : undefined
}

export const reject = (state: State): Step =>
  deciding(state, (item) => {
    const { id, kind } = item
    if (kind === 'handoff') return toBeAnswered(state)
    if (kind === 'grant') return noEffects({ ...state, prompt: { ask: 'refusal', id, at: 0 } })
    if (!changesTrust(item)) return noEffects({ ...state, prompt: { ask: 'reason', id, text: '' } })
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
    return noEffects({ ...state, prompt: { ask: 'reason', id, override, text: '' } })
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
  const { state: reading, effects } = openSelected(state)
  return { state: showMessage(reading, 'Read what was done, then answer.').state, effects }
}

const onlyChecks = (state: State): Step =>
  showMessage(state, 'Only checks of what an agent did alone are answered so.')

export const edit = (state: State): Step =>
  deciding(state, ({ id, kind }) =>
    kind === 'proposal' || kind === 'call'
      ? doing(state, { act: 'edit', id })
      : showMessage(state, 'Only proposals and calls can be edited.'),
  )

/** Answers a handoff (H2); of all others there is nothing to answer, and they are read again. */
export const answerHandoff = (state: State): Step =>
  selectedItem(state)?.kind === 'handoff'
    ? deciding(state, ({ id }) =>
        noEffects({ ...state, prompt: { ask: 'resolution', id, text: '' } }),
      )
    : { state, effects: [{ act: 'load' }] }

const toBeAnswered = (state: State): Step =>
  showMessage(state, 'A handoff is answered, not approved or denied: r answers it.')

/** Whatever changes trust asks what was wrong; the rest asks only why (B4). */
export const changesTrust = ({ kind }: Pick<ApprovalItem, 'kind'>): boolean =>
  kind === 'proposal' || kind === 'spot_check'

/** Goes on only where there is something to decide, and only with a key that was meant. */
function deciding(state: State, act: (item: ApprovalItem) => Step): Step {
  const item = selectedItem(state)
  if (!item || state.isBusy) return noEffects(state)
  if (state.now < state.quietUntil)
    return noEffects({ ...state, quietUntil: state.now + keyRepeatMs })
  if (item.status !== 'pending') {
    const by = item.decided_by ? ` by ${sanitize(item.decided_by)}` : ''
    return showMessage(state, `Nothing to decide: ${formatStatus(item)}${by}.`)
  }
  return item.held ? showMessage(state, 'This is decided and held: z takes it back.') : act(item)
}

export function undo(state: State): Step {
  const item = selectedItem(state)
  const id = item?.held ? item.id : state.lastHeld
  if (state.isBusy) return noEffects(state)
  if (id === undefined) return showMessage(state, 'Nothing is held that could be undone.')
  return doing(state, { act: 'undo', id })
}

export function snooze(state: State): Step {
  const { selected } = state
  if (selected === undefined) return noEffects(state)
  const snoozed = new Set([...state.snoozed, selected])
  const next = keepSelection(state, { ...state, view: 'list', snoozed })
  return showMessage(next, 'Snoozed until you leave; S brings it back.')
}

export type ChoicePrompt = Extract<Prompt, { at: number }>
type Writing = Extract<Prompt, { text: string }>

export function handlePromptKey(state: State, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape')
    return showMessage(
      { ...state, prompt: undefined },
      prompt.ask === 'filter' ? '' : 'Nothing was decided.',
    )
  if ('text' in prompt) return written(state, prompt, key)
  if (state.isPasting) return noEffects(state)
  return isChoicePrompt(prompt) ? chosen(state, prompt, key) : confirmed(state, prompt, key.name)
}

export const isChoicePrompt = (prompt: Prompt | undefined): prompt is ChoicePrompt =>
  prompt !== undefined && 'at' in prompt

const refusals = ['Deny', 'Deny and don’t ask again'] as const

export function listOptions(prompt: ChoicePrompt): readonly string[] {
  if (prompt.ask === 'policy') return prompt.options
  if (prompt.ask === 'access') return prompt.options.map((option) => choiceLabels[option])
  if (prompt.ask === 'refusal') return refusals
  return prompt.ask === 'type' ? overrideTypes : severities
}

/** Severity is medium unless it is said to be more or less (T4). */
const medium = severities.indexOf('medium')

function chosen(state: State, prompt: ChoicePrompt, key: Key): Step {
  const next = choose(prompt.at, listOptions(prompt), key)
  if (!next) return noEffects(state)
  return 'at' in next
    ? noEffects({ ...state, prompt: { ...prompt, at: next.at } })
    : picking(state, prompt, next.taken)
}

function picking(state: State, prompt: ChoicePrompt, at: number): Step {
  const { id } = prompt
  if (prompt.ask === 'policy') {
    const policy = prompt.options[at] ?? ''
    return doing(state, { act: 'decide', id, decision: 'approve', policy })
  }
  if (prompt.ask === 'access') {
    const choice = prompt.options[at] ?? 'until'
    if (choice === 'until') return noEffects({ ...state, prompt: { ask: 'until', id, text: '' } })
    return allowing(state, id, { choice })
  }
  if (prompt.ask === 'refusal') {
    const grant = at === 1 ? { grant: { choice: 'deny_always' as const } } : {}
    return noEffects({ ...state, prompt: { ask: 'reason', id, ...grant, text: '' } })
  }
  if (prompt.ask === 'type') {
    const type = overrideTypes[at] ?? 'agent_wrong'
    return noEffects({ ...state, prompt: { ask: 'severity', id, type, at: medium } })
  }
  const override: Override = { type: prompt.type, severity: severities[at] ?? 'medium' }
  return noEffects({ ...state, prompt: { ask: 'reason', id, override, text: '' } })
}

const allowing = (state: State, id: string, grant: GrantChoice): Step =>
  doing(state, { act: 'decide', id, decision: 'approve', grant })

function allowedUntil(state: State, id: string, text: string): Step {
  try {
    return allowing(state, id, parseUntil(text, state.now))
  } catch (error) {
    const { message, hint = '' } = toProblem(error)
    return showMessage({ ...state, prompt: undefined }, sanitize(`${message} ${hint}`), 'bad')
  }
}

const written = (state: State, prompt: Writing, key: Key): Step =>
  // A line break that was pasted is no answer.
  key.name === 'enter' && !state.isPasting
    ? submitted(state, prompt)
    : noEffects({ ...state, prompt: { ...prompt, text: typed(prompt.text, key) } })

function submitted(state: State, prompt: Writing): Step {
  const text = prompt.text.trim()
  if (prompt.ask === 'filter') return applyFilter(state, text)
  const { id } = prompt
  if (prompt.ask === 'resolution')
    return noEffects(
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
  if (key === 'n') return showMessage({ ...state, prompt: undefined }, 'Nothing was decided.')
  return key === 'y'
    ? doing(state, { act: 'decide', id, decision: 'approve', ...more })
    : noEffects(state)
}
