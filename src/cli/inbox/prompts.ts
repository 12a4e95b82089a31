import { overrideTypes, severities } from '../choices.ts'
import { problemOf } from '../exit.ts'
import { choiceLabels, untilOf } from '../grant-choice.ts'
import type { GrantChoice } from '../grant-choice.ts'
import { plain } from '../plain.ts'
import { charsOf } from './lines.ts'
import { filtered, only, say } from './moves.ts'
import type { Key, Override, Prompt, State, Step } from './state.ts'

export type Choosing = Extract<Prompt, { at: number }>
type Writing = Extract<Prompt, { text: string }>

/** One key into the question at the foot of the screen. */
export function answered(state: State, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape')
    return say(
      { ...state, prompt: undefined },
      prompt.ask === 'filter' ? '' : 'Nothing was decided.',
    )
  switch (prompt.ask) {
    case 'filter':
    case 'reason':
    case 'resolution':
    case 'instructions':
    case 'until':
      return written(state, prompt, key)
    case 'policy':
    case 'access':
    case 'refusal':
    case 'type':
    case 'severity':
      return state.isPasting ? only(state) : chosen(state, prompt, key)
    case 'changed':
    case 'conflict':
      return state.isPasting ? only(state) : confirmed(state, prompt, key.name)
  }
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

function chosen(state: State, prompt: Choosing, { name }: Key): Step {
  const { length } = optionsOf(prompt)
  const at = (next: number) =>
    only({ ...state, prompt: { ...prompt, at: (next + length) % length } })
  if (name === 'j' || name === 'down') return at(prompt.at + 1)
  if (name === 'k' || name === 'up') return at(prompt.at - 1)
  const picked = name === 'enter' ? prompt.at : Number(name) - 1
  return picked >= 0 && picked < length ? picking(state, prompt, picked) : only(state)
}

function picking(state: State, prompt: Choosing, at: number): Step {
  const { id } = prompt
  if (prompt.ask === 'policy') {
    const policy = prompt.options[at] ?? ''
    const effects = [{ act: 'decide', id, decision: 'approve', policy }] as const
    return { state: { ...state, prompt: undefined, isBusy: true }, effects }
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

const allowing = (state: State, id: string, grant: GrantChoice): Step => ({
  state: { ...state, prompt: undefined, isBusy: true },
  effects: [{ act: 'decide', id, decision: 'approve', grant }],
})

function allowedUntil(state: State, id: string, text: string): Step {
  try {
    return allowing(state, id, untilOf(text, state.now))
  } catch (error) {
    const { message, hint = '' } = problemOf(error)
    return say({ ...state, prompt: undefined }, plain(`${message} ${hint}`), 'bad')
  }
}

function written(state: State, prompt: Writing, { name, text }: Key): Step {
  const write = (next: string) => only({ ...state, prompt: { ...prompt, text: next } })
  if (name === 'backspace') return write(charsOf(prompt.text).slice(0, -1).join(''))
  if (name === 'ctrl-u') return write('')
  // A line break that was pasted is no answer.
  if (name === 'enter' && !state.isPasting) return submitted(state, prompt)
  return text === undefined || /\p{Cc}/u.test(text) ? only(state) : write(prompt.text + text)
}

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
    return {
      state: { ...state, prompt: undefined, isBusy: true },
      effects: [{ act: 'resolve', id, resolution, ...instructions }],
    }
  }
  if (prompt.ask === 'until') return allowedUntil(state, id, text)
  const { override, grant } = prompt
  return {
    state: { ...state, prompt: undefined, isBusy: true },
    effects: [
      {
        act: 'decide',
        id,
        decision: 'reject',
        ...(text !== '' && { reason: text }),
        ...(override && { override }),
        ...(grant && { grant }),
      },
    ],
  }
}

function confirmed(
  state: State,
  prompt: Extract<Prompt, { ask: 'changed' | 'conflict' }>,
  key: string,
): Step {
  const { id } = prompt
  const more =
    prompt.ask === 'conflict' ? { acknowledge: prompt.version } : { change: prompt.change }
  const left = { ...state, prompt: undefined }
  if (key === 'n') return say(left, 'Nothing was decided.')
  if (key !== 'y') return only(state)
  return {
    state: { ...left, isBusy: true },
    effects: [{ act: 'decide', id, decision: 'approve', ...more }],
  }
}
