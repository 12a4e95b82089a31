import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan' | 'inverse'

/** Part of a line: plain, or with a style that adds no meaning. */
export type Span = string | { readonly style: Style; readonly text: string }

/** A line of the screen. Untrusted text has been sanitized. */
export type Line = readonly Span[]

export const bold = (text: string): Span => ({ style: 'bold', text })
export const dim = (text: string): Span => ({ style: 'dim', text })
export const styled = (style: Style, text: string): Span => ({ style, text })

export const lineText = (line: Line): string =>
  line.map((span) => (typeof span === 'string' ? span : span.text)).join('')

/** Respects NO_COLOR, FORCE_COLOR and whether the stream is a terminal. */
export const renderLine = (line: Line, stream: NodeJS.WritableStream): string =>
  line
    .map((span) => (typeof span === 'string' ? span : styleText(span.style, span.text, { stream })))
    .join('')

/** Wraps to the width of the terminal; leaves lines unchanged elsewhere. */
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

const charWidth = (char: string) => (isMark.test(char) ? 0 : isWide.test(char) ? 2 : 1)

export const displayWidth = (text: string): number =>
  isAscii.test(text)
    ? text.length
    : splitGraphemes(text).reduce((sum, char) => sum + charWidth(char), 0)

/** Shortens text to a width, with an ellipsis. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  if (columns < 1) return ''
  return `${takeColumns(splitGraphemes(text), columns - 1)}…`
}

export const padToWidth = (text: string, columns: number): string => {
  const short = truncate(text, columns)
  return short + ' '.repeat(Math.max(0, columns - displayWidth(short)))
}

export function truncateLine(line: Line, columns: number): Line {
  let remaining = columns
  const spans: Span[] = []
  for (const span of line) {
    const text = typeof span === 'string' ? span : span.text
    const short = truncate(text, remaining)
    spans.push(typeof span === 'string' ? short : { ...span, text: short })
    remaining -= displayWidth(short)
    if (short !== text) break
  }
  return spans
}

/** Wraps a line at spaces and keeps its indentation. */
export function wrapLine(line: Line, columns: number): Line[] {
  const text = lineText(line)
  if (displayWidth(text) <= columns) return [line]
  const [first] = line
  // Lines with several styles are short: headings and labels.
  const style = line.length === 1 && typeof first === 'object' ? first.style : undefined
  const [indent = ''] = /^[ │+-]*/.exec(text) ?? []
  const width = Math.max(columns - displayWidth(indent), 10)
  return breakText(text.slice(indent.length), width).map((part, index) => {
    const full = (index === 0 ? indent : indent.replaceAll(/[+-]/g, ' ')) + part
    return [style ? { style, text: full } : full]
  })
}

function breakText(text: string, columns: number): string[] {
  const parts: string[] = []
  let rest = text
  while (displayWidth(rest) > columns) {
    // At least one character, so that the loop ends on a narrow screen.
    const head = takeColumns(splitGraphemes(rest), columns) || (splitGraphemes(rest)[0] ?? '')
    const space = rest[head.length] === ' ' ? head.length : head.lastIndexOf(' ')
    const end = space > columns / 3 ? space : head.length
    parts.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...parts, rest]
}

function takeColumns(chars: readonly string[], columns: number): string {
  let remaining = columns
  const end = chars.findIndex((char) => (remaining -= charWidth(char)) < 0)
  return (end === -1 ? chars : chars.slice(0, end)).join('')
}

const msPerMinute = 60_000
const units: readonly (readonly [size: number, name: string])[] = [
  [24 * 60 * msPerMinute, 'd'],
  [60 * msPerMinute, 'h'],
  [msPerMinute, 'm'],
  [1000, 's'],
]

/** Formats a duration in its largest unit: `3m`. */
export function formatDuration(milliseconds: number): string {
  const [size, name] = units.find(([unit]) => milliseconds >= unit) ?? [1000, 's']
  return `${Math.max(0, Math.floor(milliseconds / size))}${name}`
}

/** Formats the remaining time, rounded up. */
export const formatTimeLeft = (milliseconds: number): string => formatDuration(milliseconds + 999)
