import { styleText } from 'node:util'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import { toProblem } from './exit.ts'

/** Text of agents on one line of a terminal: nothing in it can move, reorder, hide or imitate (A13). */
export const sanitize = (text: string): string => sanitizeText(text)

/** The same for text that may have lines of its own. */
export const sanitizeLines = (text: string): string[] =>
  text.split(/\r\n|\n/).map((line) => sanitize(line.replaceAll('\t', '    ')))

/** JSON to be edited: the same value, with whatever could deceive written as an escape. */
export const editableJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? 'null').replaceAll(/[^\n]/gu, (char) =>
    sanitize(char) === char ? char : (toSafeJson(char) ?? '').slice(1, -1),
  )

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A number of bytes as people say it: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let at = 0
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000
    at++
  }
  return `${at === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[at] ?? 'TB'}`
}

/** A moment as people read it: `2027-03-01 18:00`. */
export const formatMinute = (at: string): string => at.slice(0, 16).replace('T', ' ')

export const pluralize = (count: number, one: string): string =>
  `${count} ${one}${count === 1 ? '' : 's'}`

/** A reader such as `head` that has seen enough is no fault of ours. */
export function exitOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green'
type Stream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

const schemaVersion = 1

const clear = '\r\u001b[K'
/** Terminals whose last line tells how far something is. */
const inProgress = new WeakSet<Stream>()

export type Output = ReturnType<typeof createOutput>

/** stdout is data, stderr the rest; `--json` says the data as one object a line (K2). */
export function createOutput(options: {
  readonly json: boolean
  readonly stdout?: Stream
  readonly stderr?: Stream
  /** What a person writes for `cowork` here. */
  readonly command?: string
}) {
  const { json, stdout = process.stdout, stderr = process.stderr, command = 'cowork' } = options
  const callable = (text: string) => text.replaceAll('`cowork ', `\`${command} `)
  // Respects NO_COLOR, FORCE_COLOR and whether anyone looks.
  const style = (name: Style, text: string) => styleText(name, text, { stream: stdout })
  const write = (stream: Stream, text: string | Buffer) => {
    if (inProgress.delete(stderr)) stderr.write(clear)
    stream.write(text)
  }
  const line = (text: string) => write(stdout, `${text}\n`)
  const tell = (text: string) => write(stderr, `${text}\n`)
  /** The same value, with what could steer a terminal written as an escape (A13). */
  const jsonOf = (value: object) => toSafeJson({ schemaVersion, ...value }) ?? ''
  const object = (value: object) => line(jsonOf(value))

  return {
    style,
    /** A next step with the commands in it as they are called here. */
    callable,
    /** A word beside the data: never on stdout, and none in `--json`, where nobody reads along. */
    note: (text: string) => (json ? undefined : tell(sanitizeForTerminal(callable(text)))),
    /** The answer of a command, or one of many: the value for programs, the lines for people. */
    data(value: object, lines: () => readonly string[]): void {
      if (json) object(value)
      else for (const text of lines()) line(text)
    },
    /** What something holds, to the byte: nothing is added to it. */
    content(value: object, content: string | Buffer): void {
      if (json) object(value)
      else write(stdout, content)
    },
    problem(error: unknown): void {
      const problem = toProblem(error)
      if (json) return tell(jsonOf({ error: problem }))
      for (const text of `cowork: ${problem.message}\n${problem.hint ?? ''}`.trimEnd().split('\n'))
        tell(sanitizeForTerminal(callable(text)))
    },
    /** Overwritten on a terminal by whatever comes next, and silent elsewhere. */
    progress(text: string): void {
      if (!stderr.isTTY || json) return
      inProgress.add(stderr)
      stderr.write(clear + text.slice(0, (stderr.columns ?? 80) - 1))
    },
  }
}

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Columns as wide as their widest cell; the last one runs free. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | number | undefined)[])[],
): string[] {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) => sanitizeForTerminal(String(cell ?? ''))),
  )
  const widths = head.map((_, at) => Math.max(...cells.map((row) => lengthOf(row[at] ?? ''))))
  return cells.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - lengthOf(cell) + 2))
      .join('')
      .trimEnd(),
  )
}

/** One row for each item, one column for each name, every cell made plain; a sentence where there are none. */
export const tableOf = <Item>(
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

/** `key: value` lines with their values in one column; what is undefined is left out. */
export function formatFields(values: Record<string, string | number | undefined>): string[] {
  const present = Object.entries(values).filter(([, value]) => value !== undefined)
  const width = Math.max(...present.map(([key]) => key.length)) + 1
  return present.map(
    ([key, value]) => `${`${key}:`.padEnd(width)} ${sanitizeForTerminal(String(value))}`,
  )
}

const widest = 80

/** Lines that fit a terminal, as far as words allow it; what stands between backticks is one word. */
export function wrapText(text: string, width = widest): string[] {
  const lines: string[] = []
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const line = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && lengthOf(line) <= width) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines
}

/** Text from agents on a terminal: nothing in it may move the cursor or turn the line around. */
export const sanitizeForTerminal = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\u{FFFD}')

const lengthOf = (text: string) => [...text].length
