import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { appendLine } from '#base/atomic-file.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { parseJson } from '#base/json.ts'
import type { Log } from '#base/log.ts'
import { exportNames, readCheckpoints } from './sources.ts'

const tailBytes = 8192
/** A hanging disk must not delay the next checkpoint or the shutdown. */
const writeTimeoutMs = 1000
/** A newer checkpoint covers older ones, so the oldest pending ones can be discarded. */
const maxPending = 1000

const copyPath = (folder: string) => join(folder, exportNames.checkpoints)

/** Copies every checkpoint to every folder (L15). A folder that fails is logged once and retried with the next. */
export function createCheckpointCopies(folders: readonly string[], log: Log) {
  const writers = folders.map((folder) => createWriter(folder, log))
  return async (line: string): Promise<void> => {
    const timeout = new AbortController()
    const writes = Promise.all(writers.map((write) => write(line)))
    const timer = sleep(writeTimeoutMs, undefined, { signal: timeout.signal }).catch(
      () => undefined,
    )
    await Promise.race([writes, timer])
    timeout.abort()
  }
}

function createWriter(folder: string, log: Log) {
  let pending: string[] = []
  let busy: Promise<void> | undefined
  let isFailing = false

  async function flush() {
    while (pending.length > 0) {
      const lines = pending
      pending = []
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await appendLine(copyPath(folder), lines.join('\n'))
        if (isFailing) log.info('checkpoint copies resumed', { folder })
        isFailing = false
      } catch (error) {
        pending = [...lines, ...pending].slice(-maxPending)
        if (!isFailing) log.error('checkpoint copy failed', { folder, error: errorMessage(error) })
        isFailing = true
        return
      }
    }
  }

  return async (line: string): Promise<void> => {
    pending.push(line)
    busy ??= flush().finally(() => (busy = undefined))
    await busy
  }
}

export const readCheckpointCopies = (folders: readonly string[]) =>
  folders.flatMap((folder) => tryRead(() => readCheckpoints(copyPath(folder)), []))

/**
 * Refuses a store that is shorter than a signed checkpoint: entries were removed or lost, and a new checkpoint would
 * cover the gap (L7).
 */
export function assertNotTruncated(folders: readonly string[], size: number): void {
  for (const path of folders.map(copyPath)) {
    const signed = tryRead(() => readNewestSize(path), 0)
    if (signed <= size) continue
    throw new CoworkError(
      'ledger_cut',
      `The store has ${size} entries, but a checkpoint in ${path} was signed over ${signed}: entries are missing.`,
      {
        hint: 'Restore the newest backup with `cowork restore`. If you use an older store on purpose, move that file away.',
      },
    )
  }
}

function tryRead<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** Reads only the end of the file, which grows with the ledger. */
function readNewestSize(path: string): number {
  if (!existsSync(path)) return 0
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const tail = Buffer.alloc(Math.min(size, tailBytes))
    readSync(file, tail, 0, tail.length, size - tail.length)
    // The last line is partial after a crash.
    const lines = tail.toString('utf8').split('\n').slice(0, -1)
    return Math.max(0, ...lines.map(parseSize))
  } finally {
    closeSync(file)
  }
}

const parseSize = (line: string): number =>
  Number(((parseJson(line) ?? {}) as { size?: unknown }).size) || 0
