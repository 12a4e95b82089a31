import { isCheck } from '../approvals.ts'
import type { Detail, Item } from '../approvals.ts'
import { plain } from '../plain.ts'
import { score } from './detail.ts'
import { bold, charsOf, columnsOf, dim, fit, looking, wrapped } from './lines.ts'
import type { Line } from './lines.ts'
import { isChoosing, optionsOf } from './prompts.ts'
import type { Choosing } from './prompts.ts'
import { bodyRows, selectedItem } from './state.ts'
import type { Message, Prompt, Size, State } from './state.ts'

/** What a question offers, above the line it is asked in. */
export function panelOf(state: State): Line[] {
  const { prompt, message, size } = state
  if (isChoosing(prompt)) return choices(state, prompt)
  return message && !prompt ? messageLines(message, size).slice(0, -1) : []
}

function choices({ detail, size }: State, prompt: Choosing): Line[] {
  const options = optionsOf(prompt)
  // Of many policies those around the chosen one; the rest is a key away.
  const room = Math.max(1, bodyRows(size) - 4)
  const top = Math.min(Math.max(0, prompt.at - room + 1), Math.max(0, options.length - room))
  const width = Math.max(...options.map((option) => columnsOf(plain(option))))
  const lines = options.slice(top, top + room).map((option, offset): Line => {
    const at = top + offset
    const to = detail?.id === prompt.id ? trustAfter(detail, prompt, option) : undefined
    const text = `${at + 1} ${fit(plain(option), width)}`
    return [
      at === prompt.at ? looking('cyan', ` ❯ ${text}`) : `   ${text}`,
      dim(to === undefined ? '' : `  trust ${score(to)}`),
    ]
  })
  const follows = detail?.id === prompt.id ? detail.check?.consequences.wrong : undefined
  const ahead: Line[] =
    follows === undefined ? [] : wrapped([dim(` ${plain(follows)}`)], size.columns - 1)
  return [[''], [bold(` ${questions[prompt.ask]}`)], ...ahead, ...lines]
}

const questions = {
  policy: 'Under which policy may it work there?',
  access: 'How much may it see, and for how long?',
  refusal: 'Deny it?',
  type: 'What was wrong?',
  severity: 'How serious is it?',
}

function trustAfter({ effect }: Detail, prompt: Choosing, option: string): number | undefined {
  if (prompt.ask !== 'type' && prompt.ask !== 'severity') return undefined
  const [type, severity] = prompt.ask === 'type' ? [option, 'medium'] : [prompt.type, option]
  return effect.overrides.find((one) => one.type === type && one.severity === severity)?.to
}

export function foot({ prompt, message, size }: State): Line {
  if (prompt?.ask === 'filter') return writing('/', prompt.text, size.columns)
  if (prompt?.ask === 'reason') return writing('Why? ', prompt.text, size.columns)
  if (prompt?.ask === 'resolution') return writing('Your answer: ', prompt.text, size.columns)
  if (prompt?.ask === 'instructions')
    return writing('Instructions, to hand it back: ', prompt.text, size.columns)
  if (prompt?.ask === 'until')
    return writing('Until when? (2h, 7d, 2027-03-01T18:00) ', prompt.text, size.columns)
  if (prompt?.ask === 'changed') return [bold(' Approve it as you changed it?')]
  if (prompt?.ask === 'conflict')
    return [looking('red', ` Blocked by the active policy: ${plain(prompt.why)} Approve anyway?`)]
  return (message && !prompt && messageLines(message, size).at(-1)) || ['']
}

const toneLook = { good: 'green', bad: 'red', calm: 'cyan' } as const
const mostMessageLines = 4

/** Whole, also where it does not fit one line: what went wrong names the next step at its end. */
const messageLines = ({ text, tone }: Message, { columns }: Size): Line[] =>
  wrapped([looking(toneLook[tone], ` ${text}`)], columns - 1).slice(0, mostMessageLines)

/** The end of what is written stays in sight. */
function writing(label: string, text: string, columns: number): Line {
  const room = columns - columnsOf(label) - 3
  const chars = charsOf(plain(text))
  while (columnsOf(chars.join('')) > room) chars.shift()
  return [' ', bold(label), chars.join(''), looking('inverse', ' ')]
}

export function keysLine(state: State): string {
  const { prompt, view } = state
  if (prompt) return promptKeys[prompt.ask]
  if (view === 'help') return ' any key goes back'
  const item = selectedItem(state)
  const acts = keysOf(item)
  if (view === 'detail') return ` j/k scroll  n/p next  ${acts}  Esc back  ? keys`
  // Four answers leave no room for the filter; the help has it.
  return ` j/k move  Enter read  ${acts}${item && isCheck(item) ? '' : '  / filter'}  ? keys  q leave`
}

function keysOf(item: Item | undefined): string {
  if (item?.kind === 'handoff') return 'r answer'
  return item && isCheck(item)
    ? 'a confirm  d wrong  o differently  x skip'
    : 'a approve  d deny  e edit'
}

const promptKeys: Record<Prompt['ask'], string> = {
  filter: ' Enter shows what has these words  Esc leaves it',
  policy: ' j/k or a number, Enter  Esc cancels',
  access: ' j/k or a number, Enter  Esc cancels',
  refusal: ' j/k or a number, Enter  Esc cancels',
  until: ' Enter allows it until then  Esc cancels',
  type: ' j/k or a number, Enter  Esc cancels',
  severity: ' j/k or a number, Enter  Esc cancels',
  reason: ' Enter decides; the reason may be empty  Esc cancels',
  changed: ' y approves  n or Esc cancels',
  conflict: ' y approves anyway  n or Esc cancels',
  resolution: ' Enter goes on: say what you did or decided  Esc cancels',
  instructions: ' Enter answers; left empty, it is not handed back  Esc cancels',
}

export const helpLines: Line[] = [
  [bold(' Keys')],
  ...[
    ['j k ↓ ↑', 'move, or scroll what you read'],
    ['Space PgUp g G', 'a page, the first, the last'],
    ['Enter', 'read, and back'],
    ['n p', 'while reading: the next, the previous'],
    ['a', 'approve; confirm a check, once you have read it'],
    ['d', 'deny, or mark a check as wrong: asks what was wrong, and why'],
    ['o x', 'a check: you would have done it differently; skip it, so that it counts for nothing'],
    ['e', 'edit the change in $VISUAL or $EDITOR, then approve'],
    ['s S', 'snooze until you leave; bring back what is snoozed'],
    ['z', 'undo a decision that is still held'],
    ['/', 'filter by words; Esc shows all again'],
    ['r', 'answer a handoff; on all others: read again at once'],
    ['q Ctrl-C', 'leave'],
  ].map(([keys = '', text = '']): Line => ['   ', looking('cyan', keys.padEnd(16)), text]),
  [''],
  [dim(' High risk is held a few seconds before it counts. A key held down decides once.')],
]
