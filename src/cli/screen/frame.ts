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

/** Fills the screen: as many lines as rows, none wider than the columns. */
export function frame(
  { rows, columns }: Size,
  minSize: Size,
  command: string,
  lines: () => readonly Line[],
): Line[] {
  const shown =
    rows < minSize.rows || columns < minSize.columns
      ? [['The window is too small.'], [`Enlarge it, or press q and run \`${command}\`.`]]
      : lines()
  return [...shown, ...emptyLines(rows - shown.length)]
    .slice(0, rows)
    .map((line) => truncateLine(line, columns))
}

export function headerLine(
  name: string,
  facts: readonly string[],
  status: string,
  isError: boolean,
  columns: number,
): Line {
  const room = columns - name.length - displayWidth(status) - 3
  return [
    bold(` ${name}`),
    padToWidth(` ${facts.join(' · ')}`, room),
    ' ',
    isError ? styled('red', status) : dim(status),
  ]
}

/** Joins the content with the panel below it, in `height` lines. */
export function bodyLines(
  contents: readonly Line[],
  panel: readonly Line[],
  height: number,
): Line[] {
  const lines = contents.slice(0, Math.max(0, height - panel.length))
  return [...lines, ...emptyLines(height - panel.length - lines.length), ...panel].slice(0, height)
}

/** Shows the options around the selected one. */
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

const toneStyle = { good: 'green', bad: 'red', calm: 'cyan' } as const
const maxMessageLines = 4

/** Wraps the message: an error ends with the next step. */
export const messageLines = (message: Message | undefined, { columns }: Size): Line[] =>
  message
    ? wrapLine([styled(toneStyle[message.tone], ` ${message.text}`)], columns - 1).slice(
        0,
        maxMessageLines,
      )
    : []

/** Scrolls the input so that its end is visible. */
export function inputLine(label: string, text: string, columns: number): Line {
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
