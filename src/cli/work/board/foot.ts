import { bold, charsOf, columnsOf as widthOf, looking, wrapped } from '../../inbox/lines.ts'
import type { Line } from '../../inbox/lines.ts'
import type { Message, Size } from '../../inbox/state.ts'
import { plain } from '../../plain.ts'
import { isChoosing } from './prompts.ts'
import type { Choosing } from './prompts.ts'
import { bodyRows } from './state.ts'
import type { Prompt, State } from './state.ts'

const questions = {
  move: 'Where to?',
  sprint: 'Which sprint?',
  project: 'Which project?',
}

/** What a question offers, above the line it is asked in. */
export function panelOf(state: State): Line[] {
  const { prompt, message, size } = state
  if (isChoosing(prompt)) return choices(state, prompt)
  return message && !prompt ? messageLines(message, size).slice(0, -1) : []
}

function choices({ size }: State, { ask, options, at }: Choosing): Line[] {
  // Of many those around the chosen one; the rest is a key away.
  const room = Math.max(1, bodyRows(size) - 3)
  const top = Math.min(Math.max(0, at - room + 1), Math.max(0, options.length - room))
  const lines = options.slice(top, top + room).map(({ label }, offset): Line => {
    const text = `${top + offset + 1} ${label}`
    return [top + offset === at ? looking('cyan', ` ❯ ${text}`) : `   ${text}`]
  })
  return [[''], [bold(` ${questions[ask]}`)], ...lines]
}

const labels = {
  filter: '/',
  title: 'A new story: ',
  comment: 'Say: ',
  done: 'What was done? ',
}

export function foot({ prompt, message, size }: State): Line {
  if (isChoosing(prompt)) return ['']
  if (prompt) return writing(labels[prompt.ask], prompt.text, size.columns)
  return (message && messageLines(message, size).at(-1)) || ['']
}

const toneLook = { good: 'green', bad: 'red', calm: 'cyan' } as const

const mostMessageLines = 4

/** Whole, also where it does not fit one line: what went wrong names the next step at its end. */
const messageLines = ({ text, tone }: Message, { columns }: Size): Line[] =>
  wrapped([looking(toneLook[tone], ` ${text}`)], columns - 1).slice(0, mostMessageLines)

/** The end of what is written stays in sight. */
function writing(label: string, text: string, columns: number): Line {
  const room = columns - widthOf(label) - 3
  const chars = charsOf(plain(text))
  while (widthOf(chars.join('')) > room) chars.shift()
  return [' ', bold(label), chars.join(''), looking('inverse', ' ')]
}

export function keysLine({ prompt, view }: State): string {
  if (prompt) return promptKeys[prompt.ask]
  if (view === 'help') return ' any key goes back'
  return view === 'detail'
    ? ' j/k scroll  </> column  m move  d done  c claim  t comment  Esc back  ? keys'
    : ' h/j/k/l  Enter read  </> column  m move  d done  c claim  a add  s sprint  ? keys'
}

const promptKeys: Record<Prompt['ask'], string> = {
  filter: ' Enter shows what has these words  Esc leaves it',
  title: ' Enter adds it  Esc cancels',
  comment: ' Enter says it  Esc cancels',
  done: ' Enter finishes it; left empty, the history has its title  Esc cancels',
  move: ' j/k or a number, Enter  Esc cancels',
  sprint: ' j/k or a number, Enter  Esc cancels',
  project: ' j/k or a number, Enter  Esc cancels',
}

export const helpLines: Line[] = [
  [bold(' Keys')],
  ...[
    ['h j k l ← ↓ ↑ →', 'move about'],
    ['Space PgUp g G', 'a page, the first, the last of a column'],
    ['Enter', 'read a story, and back'],
    ['< > H L', 'the story into the column beside it'],
    ['m', 'move it: any column, another sprint'],
    ['d', 'done: asks what to write into the history'],
    ['c C', 'claim it, or keep it longer; give it back'],
    ['a', 'add a story'],
    ['t', 'say something about it'],
    ['s p', 'another sprint, another project'],
    ['/ r', 'filter by words (Esc shows all); read again'],
    ['q Ctrl-C', 'leave'],
  ].map(([keys = '', text = '']): Line => ['   ', looking('cyan', keys.padEnd(17)), text]),
]
