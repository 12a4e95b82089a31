import {
  bold,
  splitGraphemes,
  displayWidth,
  truncateLine,
  dim,
  padToWidth,
  styled,
  wrapLine,
} from '../inbox/lines.ts'
import type { Line } from '../inbox/lines.ts'
import { sanitize } from '../output.ts'
import type { Message, Size } from './keys.ts'

const emptyLines = (count: number): Line[] =>
  Array.from({ length: Math.max(0, count) }, (): Line => [''])

/** The whole screen: as many lines as it has rows, none wider than its columns. */
export function frame(
  { rows, columns }: Size,
  least: Size,
  command: string,
  lines: () => readonly Line[],
): Line[] {
  const shown =
    rows < least.rows || columns < least.columns
      ? [['The window is too small.'], [`Enlarge it, or q and \`${command}\`.`]]
      : lines()
  return [...shown, ...emptyLines(rows - shown.length)]
    .slice(0, rows)
    .map((line) => truncateLine(line, columns))
}

export function headLine(
  name: string,
  facts: readonly string[],
  standing: string,
  isFault: boolean,
  columns: number,
): Line {
  const room = columns - name.length - displayWidth(standing) - 3
  return [
    bold(` ${name}`),
    padToWidth(` ${facts.join(' · ')}`, room),
    ' ',
    isFault ? styled('red', standing) : dim(standing),
  ]
}

/** What is shown, with the panel at the end of its room. */
export function bodyLines(contents: readonly Line[], panel: readonly Line[], room: number): Line[] {
  const lines = contents.slice(0, Math.max(0, room - panel.length))
  return [...lines, ...emptyLines(room - panel.length - lines.length), ...panel].slice(0, room)
}

/** Of many options those around the chosen one; the rest is a key away. */
export function choiceLines(
  options: readonly { readonly label: string; readonly beside?: string }[],
  chosen: number,
  room: number,
): Line[] {
  const top = Math.min(Math.max(0, chosen - room + 1), Math.max(0, options.length - room))
  return options.slice(top, top + room).map(({ label, beside = '' }, offset): Line => {
    const at = top + offset
    const text = `${at + 1} ${label}`
    return [at === chosen ? styled('cyan', ` ❯ ${text}`) : `   ${text}`, dim(beside)]
  })
}

export const choiceKeys = ' j/k or a number, Enter  Esc cancels'

const toneLook = { good: 'green', bad: 'red', calm: 'cyan' } as const
const maxMessageLines = 4

/** Whole, also where it does not fit one line: what went wrong names the next step at its end. */
export const messageLines = (message: Message | undefined, { columns }: Size): Line[] =>
  message
    ? wrapLine([styled(toneLook[message.tone], ` ${message.text}`)], columns - 1).slice(
        0,
        maxMessageLines,
      )
    : []

/** The end of what is written stays in sight. */
export function writingLine(label: string, text: string, columns: number): Line {
  const room = columns - displayWidth(label) - 3
  const chars = splitGraphemes(sanitize(text))
  while (displayWidth(chars.join('')) > room) chars.shift()
  return [' ', bold(label), chars.join(''), styled('inverse', ' ')]
}

export const keyLines = (keys: Readonly<Record<string, string>>, width: number): Line[] => [
  [bold(' Keys')],
  ...Object.entries(keys).map(([names, text]): Line => [
    '   ',
    styled('cyan', names.padEnd(width)),
    text,
  ]),
]
