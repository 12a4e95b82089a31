import { styleText } from 'node:util'

type Look = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan' | 'inverse'

/** A stretch of a line: as it is, or with a look that says nothing the words do not say. */
export type Span = string | { readonly look: Look; readonly text: string }

/** What is shown in one line. Its text has gone through `plain` where it is not ours. */
export type Line = readonly Span[]

export const bold = (text: string): Span => ({ look: 'bold', text })
export const dim = (text: string): Span => ({ look: 'dim', text })
export const styled = (look: Look, text: string): Span => ({ look, text })

export const lineText = (line: Line): string =>
  line.map((span) => (typeof span === 'string' ? span : span.text)).join('')

/** Respects NO_COLOR, FORCE_COLOR and whether anyone looks. */
export const renderLine = (line: Line, stream: NodeJS.WritableStream): string =>
  line
    .map((span) => (typeof span === 'string' ? span : styleText(span.look, span.text, { stream })))
    .join('')

/** As wide as the terminal; whole where nobody looks. */
export const fitToTerminal = (
  lines: readonly Line[],
  stream: NodeJS.WriteStream = process.stdout,
): string[] =>
  lines
    .flatMap((line) => (stream.isTTY ? wrapLine(line, stream.columns) : [line]))
    .map((line) => renderLine(line, stream))

export const section = (name: string, lines: readonly Line[]): Line[] =>
  lines.length === 0 ? [] : [[''], [bold(name)], ...lines.map((line) => ['  ', ...line])]

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const isAscii = /^[ -~]*$/
const isMark = /^\p{M}+$/u
const isWide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

export const splitGraphemes = (text: string): string[] =>
  isAscii.test(text) ? [...text] : [...graphemes.segment(text)].map(({ segment }) => segment)

const columnsOfChar = (char: string) => (isMark.test(char) ? 0 : isWide.test(char) ? 2 : 1)

export const displayWidth = (text: string): number =>
  isAscii.test(text)
    ? text.length
    : splitGraphemes(text).reduce((sum, char) => sum + columnsOfChar(char), 0)

/** As much of the text as fits, with an ellipsis where there is more. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  if (columns < 1) return ''
  return `${taken(splitGraphemes(text), columns - 1)}…`
}

export const padToWidth = (text: string, columns: number): string => {
  const short = truncate(text, columns)
  return short + ' '.repeat(Math.max(0, columns - displayWidth(short)))
}

export function truncateLine(line: Line, columns: number): Line {
  let left = columns
  const kept: Span[] = []
  for (const span of line) {
    const text = typeof span === 'string' ? span : span.text
    const short = truncate(text, left)
    kept.push(typeof span === 'string' ? short : { ...span, text: short })
    left -= displayWidth(short)
    if (short !== text) break
  }
  return kept
}

/** One line as several, broken at spaces, each going on where the first began. */
export function wrapLine(line: Line, columns: number): Line[] {
  const whole = lineText(line)
  if (displayWidth(whole) <= columns) return [line]
  const [first] = line
  // Lines with several looks are short by nature: headings and labels.
  const look = line.length === 1 && typeof first === 'object' ? first.look : undefined
  const [indent = ''] = /^[ │+-]*/.exec(whole) ?? []
  const room = Math.max(columns - displayWidth(indent), 10)
  return chunks(whole.slice(indent.length), room).map((text, at) => {
    const full = (at === 0 ? indent : indent.replaceAll(/[+-]/g, ' ')) + text
    return [look ? { look, text: full } : full]
  })
}

function chunks(text: string, columns: number): string[] {
  const found: string[] = []
  let rest = text
  while (displayWidth(rest) > columns) {
    // At least one character, or a narrow screen would be wrapped for ever.
    const head = taken(splitGraphemes(rest), columns) || (splitGraphemes(rest)[0] ?? '')
    const space = rest[head.length] === ' ' ? head.length : head.lastIndexOf(' ')
    const end = space > columns / 3 ? space : head.length
    found.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...found, rest]
}

function taken(chars: readonly string[], columns: number): string {
  let left = columns
  const end = chars.findIndex((char) => (left -= columnsOfChar(char)) < 0)
  return (end === -1 ? chars : chars.slice(0, end)).join('')
}

const minute = 60_000
const units: readonly (readonly [size: number, name: string])[] = [
  [24 * 60 * minute, 'd'],
  [60 * minute, 'h'],
  [minute, 'm'],
  [1000, 's'],
]

/** A span of time in its largest unit: `3m`. */
export function formatDuration(milliseconds: number): string {
  const [size, name] = units.find(([one]) => milliseconds >= one) ?? [1000, 's']
  return `${Math.max(0, Math.floor(milliseconds / size))}${name}`
}

/** The same until a moment: the last second still counts. */
export const formatTimeLeft = (milliseconds: number): string => formatDuration(milliseconds + 999)
