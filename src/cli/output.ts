import { styleText } from 'node:util'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import { toProblem } from './exit.ts'

/** Text of agents as one terminal line: nothing in it can move, reorder, hide or imitate text (A13). */
export const sanitize = (text: string): string => sanitizeText(text)

/** Sanitizes each line of a text. */
export const sanitizeLines = (text: string): string[] =>
  text.split(/\r\n|\n/).map((line) => sanitize(line.replaceAll('\t', '    ')))

/** Formats a value as JSON for an editor, with deceptive characters escaped. */
export const editableJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? 'null').replaceAll(/[^\n]/gu, (char) =>
    sanitize(char) === char ? char : (toSafeJson(char) ?? '').slice(1, -1),
  )

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Formats a number of bytes for people: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let at = 0
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000
    at++
  }
  return `${at === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[at] ?? 'TB'}`
}

/** Formats a time for people: `2027-03-01 18:00`. */
export const formatMinute = (at: string): string => at.slice(0, 16).replace('T', ' ')

export const pluralize = (count: number, one: string): string =>
  `${count} ${one}${count === 1 ? '' : 's'}`

/** Exits when a reader such as `head` closes the pipe: this is not an error. */
export function exitOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green'
type Stream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

const schemaVersion = 1

const clearLine = '\r\u001b[K'
/** Terminals whose last line shows progress. */
const inProgress = new WeakSet<Stream>()

export type Output = ReturnType<typeof createOutput>

/** Creates the output: data on stdout, the rest on stderr; with `--json`, data as one object per line (K2). */
export function createOutput(options: {
  readonly json: boolean
  readonly stdout?: Stream
  readonly stderr?: Stream
  /** The command as people type it, such as `npx cowork`. */
  readonly command?: string
}) {
  const { json, stdout = process.stdout, stderr = process.stderr, command = 'cowork' } = options
  const withCommandName = (text: string) => text.replaceAll('`cowork ', `\`${command} `)
  // Respects NO_COLOR, FORCE_COLOR and whether the stream is a terminal.
  const style = (name: Style, text: string) => styleText(name, text, { stream: stdout })
  const write = (stream: Stream, text: string | Buffer) => {
    if (inProgress.delete(stderr)) stderr.write(clearLine)
    stream.write(text)
  }
  const line = (text: string) => write(stdout, `${text}\n`)
  const writeError = (text: string) => write(stderr, `${text}\n`)
  /** Serializes with characters escaped that could control a terminal (A13). */
  const toJson = (value: object) => toSafeJson({ schemaVersion, ...value }) ?? ''
  const object = (value: object) => line(toJson(value))

  return {
    style,
    /** Replaces `cowork` in a text by the command as people type it. */
    withCommandName,
    /** Prints a note on stderr; nothing in `--json`. */
    note: (text: string) =>
      json ? undefined : writeError(sanitizeForTerminal(withCommandName(text))),
    /** Prints a result, or one of many: the value for programs, the lines for people. */
    data(value: object, lines: () => readonly string[]): void {
      if (json) object(value)
      else for (const text of lines()) line(text)
    },
    /** Prints content byte for byte, without additions. */
    content(value: object, content: string | Buffer): void {
      if (json) object(value)
      else write(stdout, content)
    },
    problem(error: unknown): void {
      const problem = toProblem(error)
      if (json) return writeError(toJson({ error: problem }))
      for (const text of `cowork: ${problem.message}\n${problem.hint ?? ''}`.trimEnd().split('\n'))
        writeError(sanitizeForTerminal(withCommandName(text)))
    },
    /** Shows progress on a terminal, until the next output; prints nothing elsewhere. */
    progress(text: string): void {
      if (!stderr.isTTY || json) return
      inProgress.add(stderr)
      stderr.write(clearLine + text.slice(0, (stderr.columns ?? 80) - 1))
    },
  }
}

/** Parses JSON; returns undefined for other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Pads each column to its widest cell, except the last. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | number | undefined)[])[],
): string[] {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) => sanitizeForTerminal(String(cell ?? ''))),
  )
  const widths = head.map((_, at) => Math.max(...cells.map((row) => textLength(row[at] ?? ''))))
  return cells.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - textLength(cell) + 2))
      .join('')
      .trimEnd(),
  )
}

/** Formats one row per item and one column per name, with sanitized cells; `none` if there are no items. */
export const formatRows = <Item>(
  items: readonly Item[],
  none: string,
  columns: Readonly<Record<string, (item: Item) => string | number | undefined>>,
): string[] =>
  items.length === 0
    ? [none]
    : formatTable(
        Object.keys(columns),
        items.map((item) =>
          Object.values(columns).map((cell) => sanitize(String(cell(item) ?? ''))),
        ),
      )

/** Formats `key: value` lines with aligned values; leaves out undefined values. */
export function formatFields(values: Record<string, string | number | undefined>): string[] {
  const present = Object.entries(values).filter(([, value]) => value !== undefined)
  const width = Math.max(...present.map(([key]) => key.length)) + 1
  return present.map(
    ([key, value]) => `${`${key}:`.padEnd(width)} ${sanitizeForTerminal(String(value))}`,
  )
}

const maxWidth = 80

/** Wraps text at words; text between backticks is one word. */
export function wrapText(text: string, width = maxWidth): string[] {
  const lines: string[] = []
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const line = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && textLength(line) <= width) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines
}

/** Replaces characters in agents' text that could move the cursor or reorder the line. */
export const sanitizeForTerminal = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\u{FFFD}')

const textLength = (text: string) => [...text].length
