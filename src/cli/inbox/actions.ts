import { overrideTypes, severities } from '#base/override.ts'
import { choiceLabels, isCheck, parseUntil } from '../approvals.ts'
import type { GrantChoice, ApprovalItem } from '../approvals.ts'
import { toProblem } from '../exit.ts'
import { sanitize } from '../output.ts'
import {
  applyChoiceKey,
  noEffects,
  openSelected,
  showMessage,
  scrollTo,
  applyTextKey,
} from '../screen/keys.ts'
import type { Key } from '../screen/keys.ts'
import { formatStatus } from './detail.ts'
import { bodyRows, pageSize, readerLines, selectedItem, visibleItems } from './state.ts'
import type { Effect, Override, Prompt, State, Step } from './state.ts'

/** Starts an effect; keys decide nothing until it has finished. */
const startEffect = (state: State, effect: Effect): Step => ({
  state: { ...state, prompt: undefined, isBusy: true },
  effects: [effect],
})

const maxItems = 1000

export function moveSelection(state: State, by: number): Step {
  const shown = visibleItems(state)
  const at = shown.findIndex(({ id }) => id === state.selected)
  const next = Math.min(Math.max(at + by, 0), shown.length - 1)
  const isAtEnd = next === shown.length - 1 && state.isMore
  const limit = isAtEnd ? Math.min(state.limit + pageSize, maxItems) : state.limit
  return {
    state: { ...state, selected: shown[next]?.id, limit },
    effects: limit > state.limit ? [{ act: 'load' }] : [],
  }
}

export const scrollBy = (state: State, by: number): State =>
  scrollTo(state, state.scroll + by, readerLines(state).length - bodyRows(state.size))

/** Keeps the selection; if the item is hidden, selects the item in its place. */
export function keepSelection(state: State, next: State): State {
  const shown = visibleItems(next)
  if (shown.some(({ id }) => id === next.selected)) return next
  const at = visibleItems(state).findIndex(({ id }) => id === state.selected)
  return { ...next, selected: shown[Math.min(Math.max(at, 0), shown.length - 1)]?.id, scroll: 0 }
}

export function applyFilter(state: State, filter: string): Step {
  const reset = { filter, selected: undefined, items: [], isLoaded: false, limit: pageSize }
  return { state: { ...state, ...reset, prompt: undefined }, effects: [{ act: 'load' }] }
}

/** Shorter than the repeat interval of a held key, and shorter than reading and deciding takes. */
export const keyRepeatMs = 400

export const approve = (state: State): Step =>
  withDecidableItem(state, (item) => {
    const { id, kind, policy_conflict: conflict } = item
    if (kind === 'handoff') return refuseHandoffDecision(state)
    if (isCheck(item) && !isRead(state, id)) return openBeforeDecision(state)
    if (conflict) {
      const { version, message: why } = conflict
      return noEffects({ ...state, prompt: { ask: 'conflict', id, version, why } })
    }
    return startEffect(
      state,
      followUpQuestion(kind, id) ?? { act: 'decide', id, decision: 'approve' },
    )
  })

/** A new domain needs a policy, and an access request needs its extent: a person chooses (Y4, GR3). */
function followUpQuestion(kind: string, id: string): Effect | undefined {
  if (kind === 'permission') return { act: 'policies', id }
  return kind === 'grant' ? { act: 'access', id } : undefined
}

export const reject = (state: State): Step =>
  withDecidableItem(state, (item) => {
    const { id, kind } = item
    if (kind === 'handoff') return refuseHandoffDecision(state)
    if (kind === 'grant') return noEffects({ ...state, prompt: { ask: 'refusal', id, at: 0 } })
    if (!changesTrust(item)) return noEffects({ ...state, prompt: { ask: 'reason', id, text: '' } })
    if (isCheck(item) && !isRead(state, id)) return openBeforeDecision(state)
    return {
      state: { ...state, prompt: { ask: 'type', id, at: 0 } },
      // The prompt shows the trust effect of each answer.
      effects: state.detail?.id === id ? [] : [{ act: 'read', id }],
    }
  })

/** Rejects as a preference: the action was not wrong (T14). */
export const rejectAsPreference = (state: State): Step =>
  withDecidableItem(state, (item) => {
    const { id } = item
    if (!isCheck(item)) return refuseNonCheck(state)
    if (!isRead(state, id)) return openBeforeDecision(state)
    const override = { type: 'human_preference', severity: 'medium' } as const
    return noEffects({ ...state, prompt: { ask: 'reason', id, override, text: '' } })
  })

/** Closes a spot check without review and without trust change (T14). */
export const skip = (state: State): Step =>
  withDecidableItem(state, (item) =>
    isCheck(item)
      ? startEffect(state, { act: 'decide', id: item.id, decision: 'approve', skip: true })
      : refuseNonCheck(state),
  )

const isRead = ({ view, detail }: State, id: string) => view === 'detail' && detail?.id === id

/** Opens a spot check that has not been read: an unread check cannot be decided. */
function openBeforeDecision(state: State): Step {
  const { state: reading, effects } = openSelected(state)
  return { state: showMessage(reading, 'Read the action before you decide.').state, effects }
}

const refuseNonCheck = (state: State): Step =>
  showMessage(state, 'This key applies only to spot checks.')

export const edit = (state: State): Step =>
  withDecidableItem(state, ({ id, kind }) =>
    kind === 'proposal' || kind === 'call'
      ? startEffect(state, { act: 'edit', id })
      : showMessage(state, 'Only proposals and calls can be edited.'),
  )

/** Resolves a handoff (H2); for other items, reloads the list. */
export const answerHandoff = (state: State): Step =>
  selectedItem(state)?.kind === 'handoff'
    ? withDecidableItem(state, ({ id }) =>
        noEffects({ ...state, prompt: { ask: 'resolution', id, text: '' } }),
      )
    : { state, effects: [{ act: 'load' }] }

const refuseHandoffDecision = (state: State): Step =>
  showMessage(state, 'A handoff cannot be approved or rejected. Press r to resolve it.')

/** True if rejecting changes trust: then the type of error is required (B4). */
export const changesTrust = ({ kind }: Pick<ApprovalItem, 'kind'>): boolean =>
  kind === 'proposal' || kind === 'spot_check'

/** Runs the action for a pending item, unless the key is a repeat of a held key. */
function withDecidableItem(state: State, action: (item: ApprovalItem) => Step): Step {
  const item = selectedItem(state)
  if (!item || state.isBusy) return noEffects(state)
  if (state.now < state.quietUntil)
    return noEffects({ ...state, quietUntil: state.now + keyRepeatMs })
  if (item.status !== 'pending') {
    const by = item.decided_by ? ` by ${sanitize(item.decided_by)}` : ''
    return showMessage(state, `Nothing to decide: ${formatStatus(item)}${by}.`)
  }
  return item.held ? showMessage(state, 'Decided. Press z to undo.') : action(item)
}

export function undo(state: State): Step {
  const item = selectedItem(state)
  const id = item?.held ? item.id : state.lastHeld
  if (state.isBusy) return noEffects(state)
  if (id === undefined) return showMessage(state, 'Nothing to undo.')
  return startEffect(state, { act: 'undo', id })
}

export function snooze(state: State): Step {
  const { selected } = state
  if (selected === undefined) return noEffects(state)
  const snoozed = new Set([...state.snoozed, selected])
  const next = keepSelection(state, { ...state, view: 'list', snoozed })
  return showMessage(next, 'Snoozed until you quit. Press S to show it.')
}

export type ChoicePrompt = Extract<Prompt, { at: number }>
type TextPrompt = Extract<Prompt, { text: string }>

export function handlePromptKey(state: State, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape')
    return showMessage({ ...state, prompt: undefined }, prompt.ask === 'filter' ? '' : 'Canceled.')
  if ('text' in prompt) return handleTextKey(state, prompt, key)
  if (state.isPasting) return noEffects(state)
  return isChoicePrompt(prompt)
    ? handleChoiceKey(state, prompt, key)
    : handleConfirmKey(state, prompt, key.name)
}

export const isChoicePrompt = (prompt: Prompt | undefined): prompt is ChoicePrompt =>
  prompt !== undefined && 'at' in prompt

const rejectLabels = ['Deny', 'Deny and don’t ask again'] as const

export function listOptions(prompt: ChoicePrompt): readonly string[] {
  if (prompt.ask === 'policy') return prompt.options
  if (prompt.ask === 'access') return prompt.options.map((option) => choiceLabels[option])
  if (prompt.ask === 'refusal') return rejectLabels
  return prompt.ask === 'type' ? overrideTypes : severities
}

/** The default severity is medium (T4). */
const defaultSeverityIndex = severities.indexOf('medium')

function handleChoiceKey(state: State, prompt: ChoicePrompt, key: Key): Step {
  const next = applyChoiceKey(prompt.at, listOptions(prompt), key)
  if (!next) return noEffects(state)
  return 'at' in next
    ? noEffects({ ...state, prompt: { ...prompt, at: next.at } })
    : applyChoice(state, prompt, next.taken)
}

function applyChoice(state: State, prompt: ChoicePrompt, at: number): Step {
  const { id } = prompt
  if (prompt.ask === 'policy') {
    const policy = prompt.options[at] ?? ''
    return startEffect(state, { act: 'decide', id, decision: 'approve', policy })
  }
  if (prompt.ask === 'access') {
    const choice = prompt.options[at] ?? 'until'
    if (choice === 'until') return noEffects({ ...state, prompt: { ask: 'until', id, text: '' } })
    return grantAccess(state, id, { choice })
  }
  if (prompt.ask === 'refusal') {
    const grant = at === 1 ? { grant: { choice: 'deny_always' as const } } : {}
    return noEffects({ ...state, prompt: { ask: 'reason', id, ...grant, text: '' } })
  }
  if (prompt.ask === 'type') {
    const type = overrideTypes[at] ?? 'agent_wrong'
    return noEffects({ ...state, prompt: { ask: 'severity', id, type, at: defaultSeverityIndex } })
  }
  const override: Override = { type: prompt.type, severity: severities[at] ?? 'medium' }
  return noEffects({ ...state, prompt: { ask: 'reason', id, override, text: '' } })
}

const grantAccess = (state: State, id: string, grant: GrantChoice): Step =>
  startEffect(state, { act: 'decide', id, decision: 'approve', grant })

function grantUntil(state: State, id: string, text: string): Step {
  try {
    return grantAccess(state, id, parseUntil(text, state.now))
  } catch (error) {
    const { message, hint = '' } = toProblem(error)
    return showMessage({ ...state, prompt: undefined }, sanitize(`${message} ${hint}`), 'bad')
  }
}

const handleTextKey = (state: State, prompt: TextPrompt, key: Key): Step =>
  // A pasted line break does not submit the text.
  key.name === 'enter' && !state.isPasting
    ? submitText(state, prompt)
    : noEffects({ ...state, prompt: { ...prompt, text: applyTextKey(prompt.text, key) } })

function submitText(state: State, prompt: TextPrompt): Step {
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
    return startEffect(state, { act: 'resolve', id, resolution, ...instructions })
  }
  if (prompt.ask === 'until') return grantUntil(state, id, text)
  const { override, grant } = prompt
  return startEffect(state, {
    act: 'decide',
    id,
    decision: 'reject',
    ...(text !== '' && { reason: text }),
    ...(override && { override }),
    ...(grant && { grant }),
  })
}

function handleConfirmKey(
  state: State,
  prompt: Extract<Prompt, { ask: 'changed' | 'conflict' }>,
  key: string,
): Step {
  const { id } = prompt
  const input =
    prompt.ask === 'conflict' ? { acknowledge: prompt.version } : { change: prompt.change }
  if (key === 'n') return showMessage({ ...state, prompt: undefined }, 'Canceled.')
  return key === 'y'
    ? startEffect(state, { act: 'decide', id, decision: 'approve', ...input })
    : noEffects(state)
}
