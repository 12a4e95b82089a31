import { charsOf } from '../../inbox/lines.ts'
import type { Key } from '../../inbox/state.ts'
import { plain } from '../../plain.ts'
import { calling, keepingPlace, only, put, say, shifted } from './moves.ts'
import type { Prompt, State, Step } from './state.ts'

export type Choosing = Extract<Prompt, { at: number }>
type Writing = Exclude<Prompt, Choosing>

export const isChoosing = (prompt: Prompt | undefined): prompt is Choosing =>
  prompt !== undefined && 'at' in prompt

/** One key into the question at the foot of the screen. */
export function answered(state: State, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape')
    return say({ ...state, prompt: undefined }, isLook(prompt) ? '' : 'Nothing was changed.')
  if (!isChoosing(prompt)) return written(state, prompt, key)
  return state.isPasting ? only(state) : chosen(state, prompt, key)
}

/** It only asks what to show. */
const isLook = ({ ask }: Prompt) => ask === 'filter' || ask === 'sprint' || ask === 'project'

function chosen(state: State, prompt: Choosing, { name }: Key): Step {
  const { length } = prompt.options
  const at = (next: number) =>
    only({ ...state, prompt: { ...prompt, at: (next + length) % length } })
  if (name === 'j' || name === 'down') return at(prompt.at + 1)
  if (name === 'k' || name === 'up') return at(prompt.at - 1)
  const picked = name === 'enter' ? prompt.at : Number(name) - 1
  const option = prompt.options[picked]
  return option ? picking({ ...state, prompt: undefined }, prompt, option.to) : only(state)
}

function picking(state: State, { id }: Choosing, to: Choosing['options'][number]['to']): Step {
  if ('show' in to) return shifted(state, { sprint: to.show })
  if ('project' in to) return shifted(state, { project: to.project, sprint: undefined })
  const story = state.stories.find((one) => one.id === id)
  if (!story) return say(state, 'That story is not here any more.')
  if ('status' in to) return put(state, story, to.status)
  return calling(state, {
    tool: 'worksync_move',
    args: { story_id: story.id, sprint_id: to.sprint, expect_rev: story.rev },
    text: `${plain(story.id)} is in ${plain(to.sprint)}.`,
  })
}

const longest = 500

function written(state: State, prompt: Writing, key: Key): Step {
  const { text } = prompt
  // What is pasted has its ends of lines taken for spaces.
  if (key.name === 'enter' && !state.isPasting) return finished(state, prompt, text.trim())
  const next =
    key.name === 'backspace'
      ? charsOf(text).slice(0, -1).join('')
      : key.name === 'ctrl-u'
        ? ''
        : text + (key.name === 'enter' ? ' ' : (key.text ?? ''))
  return only({ ...state, prompt: { ...prompt, text: next.slice(0, longest) } })
}

function finished(state: State, prompt: Writing, text: string): Step {
  const next: State = { ...state, prompt: undefined }
  switch (prompt.ask) {
    case 'filter':
      return only(keepingPlace(state, { ...next, filter: text }))
    case 'title':
      if (text === '' || state.sprint === undefined) return say(next, 'Nothing was added.')
      return calling(next, {
        tool: 'worksync_add_story',
        args: { sprint_id: state.sprint, title: text },
        text: 'The story is there.',
      })
    case 'comment':
      if (text === '') return say(next, 'Nothing was said.')
      return calling(next, {
        tool: 'worksync_comment',
        args: { story_id: prompt.id, text },
        text: `You said it about ${plain(prompt.id)}.`,
      })
    case 'done':
      return calling(next, {
        tool: 'worksync_done',
        args: { story_id: prompt.id, ...(text !== '' && { summary: text }) },
        text: `${plain(prompt.id)} is done.`,
      })
  }
}
