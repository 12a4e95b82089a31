import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '#base/db/port.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { follow } from './follow.ts'
import { createMirrorFile } from './mirror-file.ts'
import type { GetBody, MirrorLine } from './mirror-file.ts'
import type { Entry } from './model.ts'
import type { EntryRow, LedgerStore } from './store.ts'

export type MirrorOptions = {
  readonly path: string
  /** The size at which the file is rotated. */
  readonly maxBytes: number
  /** The folder for files of other ledgers at this path. Default: the folder of the mirror. */
  readonly quarantineDir?: string
  /**
   * Returns the lines of an entry, each with its seq and with `actor` or `timestamp` first; empty for an entry that the
   * mirror omits. Default: every entry as hashed. Must always return the same lines for the same entry.
   */
  readonly toLines?: (entry: Entry) => readonly MirroredEntry[]
}

export type MirroredEntry = Pick<Entry, 'seq'> & Readonly<Record<string, unknown>>

export type Mirror = ReturnType<typeof startMirror>

type Deps = { readonly db: Db; readonly store: LedgerStore; readonly log: Log }

const retryDelayMs = 2000
/** Delay between batches, so that a busy ledger is copied in larger batches. */
const batchDelayMs = 100
const pageSize = 500

/**
 * Follows the ledger and copies it to a file for people and tools (L9). On a write error the mirror logs the failure once
 * and retries; it never stops the daemon, because the ledger has every entry.
 */
export function startMirror({ db, store, log }: Deps, options: MirrorOptions) {
  const { path, maxBytes, quarantineDir, toLines } = options
  const stop = new AbortController()
  const { signal } = stop
  const onQuarantine = (aside: string) =>
    log.warn('file of another ledger quarantined', { path, aside })
  const file = createMirrorFile(path, maxBytes, onQuarantine, quarantineDir)
  const toLine = ({ seq, body }: EntryRow): MirrorLine | undefined => {
    if (!toLines) return { seq, body }
    const lines = toLines(JSON.parse(body) as Entry)
    if (lines.length === 0) return undefined
    return { seq, body: lines.map((line) => JSON.stringify(line)).join('\n') }
  }
  const getBody: GetBody = async (seq) => {
    const row = await store.entry(db, seq)
    return row && toLine(row)?.body
  }
  let isFailing = false

  async function write(rows: readonly EntryRow[]) {
    await file.append(rows.map(toLine).filter((line) => line !== undefined))
    if (isFailing) log.info('mirror writes resumed', { path })
    isFailing = false
  }

  /** Copies entries until the signal, or until another process changed the file and recovery must run again. */
  async function copy() {
    let lastSeq = await file.recover(getBody)
    for await (const rows of follow(db, store, lastSeq, signal)) {
      if (!(await file.isUnchanged())) return
      await write(rows)
      lastSeq = rows.at(-1)?.seq ?? lastSeq
      if (rows.length < pageSize)
        await sleep(batchDelayMs, undefined, { signal }).catch(() => undefined)
    }
    // Entries that were recorded during the shutdown.
    for (let rows; (rows = await store.page(db, lastSeq, pageSize)).length > 0;) {
      await write(rows)
      lastSeq = rows.at(-1)?.seq ?? lastSeq
    }
  }

  async function run() {
    while (!signal.aborted)
      try {
        await copy()
      } catch (error) {
        if (!isFailing)
          log.error('mirror write failed', {
            path,
            error: errorMessage(error),
          })
        isFailing = true
        await sleep(retryDelayMs, undefined, { signal }).catch(() => undefined)
      }
  }
  const running = run()

  return {
    async close() {
      stop.abort()
      await running
    },
  }
}
