import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { CoworkError } from '#base/errors.ts'
import { createLog } from '#base/log.ts'
import type { Level } from '#base/log.ts'
import type { Context } from './context.ts'
import { parseJson, sanitizeForTerminal } from './output.ts'

const maxLogBytes = 10 * 1024 * 1024
const rotatedFileCount = 5

/** Opens the log for a process that gets it as its stderr: appends only. */
export function openLogFile(path: string): number {
  rotate(path, maxLogBytes)
  return openSync(path, 'a', 0o600)
}

/** Writes the daemon log: a file of at most 10 MB, and five older ones as `.1` to `.5` (SV3). */
export function createLogFile(path: string, maxBytes = maxLogBytes): (text: string) => void {
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size
  return (text) => {
    if (size > maxBytes) {
      closeSync(file)
      rotate(path, maxBytes)
      file = openSync(path, 'a', 0o600)
      size = 0
    }
    size += writeSync(file, text)
  }
}

function rotate(path: string, maxBytes: number): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= maxBytes) return
  for (let age = rotatedFileCount; age > 0; age--) {
    const younger = age === 1 ? path : `${path}.${age - 1}`
    if (statSync(younger, { throwIfNoEntry: false })) renameSync(younger, `${path}.${age}`)
  }
}

export type LogsOptions = { readonly lines: number; readonly follow?: boolean }

/** Prints the newest lines of the daemon log, then new lines if following. */
export async function logs({ paths, out }: Context, { lines, follow = false }: LogsOptions) {
  if (!existsSync(paths.log))
    throw new CoworkError('not_found', `Log not found: ${paths.log}.`, {
      hint: 'Start the daemon with `cowork up`.',
    })
  const show = (line: string) =>
    out.data(parseLine(line) ?? { message: line }, () => [formatLogLine(line)])
  const file = openSync(paths.log, 'r')
  const content = readFileSync(file)
  const end = content.lastIndexOf(10) + 1
  const lineTexts = content.toString('utf8', 0, end).split('\n').slice(0, -1)
  for (const line of lines === 0 ? [] : lineTexts.slice(-lines)) show(line)
  if (follow) for await (const line of followLines(paths.log, file, end)) show(line)
}

/** Formats a JSON log line for people; other text, for example after a crash, stays unchanged. */
export function formatLogLine(line: string): string {
  const { at, level, scope, message, ...fields } = parseLine(line) ?? {}
  if (typeof at !== 'string' || !isLevel(level)) return sanitizeText(line)
  let text = ''
  const write = (value: string) => (text = value.trimEnd())
  const settings = { level, write, json: false, now: () => Date.parse(at) }
  createLog(settings, typeof scope === 'string' ? scope : undefined)[level](String(message), fields)
  return sanitizeText(text)
}

const levels: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies Level[]
const isLevel = (value: unknown): value is Level =>
  typeof value === 'string' && levels.includes(value)

/** Sanitizes each line: a stack has several. */
const sanitizeText = (text: string) => text.split('\n').map(sanitizeForTerminal).join('\n')

function parseLine(line: string): Record<string, unknown> | undefined {
  const value = parseJson(line)
  return typeof value === 'object' && value !== null ? { ...value } : undefined
}

/** Yields new lines. After a rotation it reads the rest of the old file, then the new one. */
export async function* followLines(
  path: string,
  opened: number,
  from: number,
): AsyncGenerator<string, void> {
  let file = opened
  let position = from
  let rest = Buffer.alloc(0)
  const chunk = Buffer.alloc(64 * 1024)
  for (;;) {
    // Checked before the last read, so that lines written in between are read too.
    const isRotated = statSync(path, { throwIfNoEntry: false })?.ino !== fstatSync(file).ino
    for (let size; (size = readSync(file, chunk, 0, chunk.length, position)) > 0; position += size)
      rest = Buffer.concat([rest, chunk.subarray(0, size)])
    const end = rest.lastIndexOf(10) + 1
    yield* rest.toString('utf8', 0, end).split('\n').slice(0, -1)
    rest = rest.subarray(end)
    if (isRotated && existsSync(path)) {
      closeSync(file)
      file = openSync(path, 'r')
      position = 0
    } else {
      await sleep(100)
    }
  }
}
