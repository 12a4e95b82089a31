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

const largest = 10 * 1024 * 1024
const kept = 5

/** For a program that is handed the file as its stderr: appended to, never cut. */
export function openLogFile(path: string): number {
  rotate(path, largest)
  return openSync(path, 'a', 0o600)
}

/** The daemon's log: a file of at most 10 MB, and the five before it as `.1` to `.5` (SV3). */
export function createLogFile(path: string, most = largest): (text: string) => void {
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size
  return (text) => {
    if (size > most) {
      closeSync(file)
      rotate(path, most)
      file = openSync(path, 'a', 0o600)
      size = 0
    }
    size += writeSync(file, text)
  }
}

function rotate(path: string, most: number): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= most) return
  for (let age = kept; age > 0; age--) {
    const younger = age === 1 ? path : `${path}.${age - 1}`
    if (statSync(younger, { throwIfNoEntry: false })) renameSync(younger, `${path}.${age}`)
  }
}

export type LogsOptions = { readonly lines: number; readonly follow?: boolean }

/** The daemon's log: its newest lines, then, if asked for, what it writes from now on. */
export async function logs({ paths, out }: Context, { lines, follow = false }: LogsOptions) {
  if (!existsSync(paths.log))
    throw new CoworkError('not_found', `There is no log at ${paths.log}.`, {
      hint: 'It is written by `cowork up`.',
    })
  const show = (line: string) =>
    out.data(parsed(line) ?? { message: line }, () => [formatLogLine(line)])
  const file = openSync(paths.log, 'r')
  const content = readFileSync(file)
  const end = content.lastIndexOf(10) + 1
  const whole = content.toString('utf8', 0, end).split('\n').slice(0, -1)
  for (const line of lines === 0 ? [] : whole.slice(-lines)) show(line)
  if (follow) for await (const line of followLines(paths.log, file, end)) show(line)
}

/** One JSON object of the log as a person reads it; whatever else a crash left there as it is. */
export function formatLogLine(line: string): string {
  const { at, level, scope, message, ...fields } = parsed(line) ?? {}
  if (typeof at !== 'string' || !isLevel(level)) return safe(line)
  let text = ''
  const write = (plain: string) => (text = plain.trimEnd())
  const settings = { level, write, json: false, now: () => Date.parse(at) }
  createLog(settings, typeof scope === 'string' ? scope : undefined)[level](String(message), fields)
  return safe(text)
}

const levels: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies Level[]
const isLevel = (value: unknown): value is Level =>
  typeof value === 'string' && levels.includes(value)

/** A stack has lines of its own. */
const safe = (text: string) => text.split('\n').map(sanitizeForTerminal).join('\n')

function parsed(line: string): Record<string, unknown> | undefined {
  const value = parseJson(line)
  return typeof value === 'object' && value !== null ? { ...value } : undefined
}

/** Goes on in the next file when the log is rotated, after the rest of this one. */
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
    // Asked before the last read: what is written in between is then read too.
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
