import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '#base/db/port.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { follow } from './follow.ts'
import { createMirrorFile } from './mirror-file.ts'
import type { BodyOf, MirrorLine } from './mirror-file.ts'
import type { Entry } from './model.ts'
import type { EntryRow, LedgerStore } from './store.ts'

export type MirrorOptions = {
  readonly path: string
  /** It is rotated before it grows beyond this. */
  readonly maxBytes: number
  /** The folder for what is found at its path and does not belong there; beside it where absent. */
  readonly asideIn?: string
  /**
   * The lines of an entry, each with its seq and with `actor` or `timestamp` first; none for an entry that it does not
   * hold. All entries as they were hashed where absent. The answer for an entry must never change.
   */
  readonly shows?: (entry: Entry) => readonly MirroredEntry[]
}

export type MirroredEntry = Pick<Entry, 'seq'> & Readonly<Record<string, unknown>>

export type Mirror = ReturnType<typeof startMirror>

type Deps = { readonly db: Db; readonly store: LedgerStore; readonly log: Log }

const retryAfter = 2000
/** A busy ledger is copied in larger pieces. */
const pause = 100
const pageSize = 500

/**
 * Follows the ledger and copies it to a file for people and tools (L9). A mirror that cannot be written is
 * said and tried again, and never stops the daemon: the ledger itself has every entry.
 */
export function startMirror({ db, store, log }: Deps, options: MirrorOptions) {
  const { path, maxBytes, asideIn, shows } = options
  const stop = new AbortController()
  const { signal } = stop
  const onAside = (aside: string) =>
    log.warn('a file that does not continue this ledger was set aside', { path, aside })
  const file = createMirrorFile(path, maxBytes, onAside, asideIn)
  const lineOf = ({ seq, body }: EntryRow): MirrorLine | undefined => {
    if (!shows) return { seq, body }
    const lines = shows(JSON.parse(body) as Entry)
    if (lines.length === 0) return undefined
    return { seq, body: lines.map((line) => JSON.stringify(line)).join('\n') }
  }
  const bodyOf: BodyOf = async (seq) => {
    const row = await store.entry(db, seq)
    return row && lineOf(row)?.body
  }
  let isBroken = false

  async function write(rows: readonly EntryRow[]) {
    await file.append(rows.map(lineOf).filter((line) => line !== undefined))
    if (isBroken) log.info('the mirror of the ledger is written again', { path })
    isBroken = false
  }

  /** Until the end, or until somebody else touched the file and its place must be found again. */
  async function copy() {
    let seen = await file.recover(bodyOf)
    for await (const rows of follow(db, store, seen, signal)) {
      if (!(await file.isAsLeft())) return
      await write(rows)
      seen = rows.at(-1)?.seq ?? seen
      if (rows.length < pageSize) await sleep(pause, undefined, { signal }).catch(() => undefined)
    }
    // What was recorded on the way to the end.
    for (let rows; (rows = await store.page(db, seen, pageSize)).length > 0;) {
      await write(rows)
      seen = rows.at(-1)?.seq ?? seen
    }
  }

  async function run() {
    while (!signal.aborted)
      try {
        await copy()
      } catch (error) {
        if (!isBroken)
          log.error('the mirror of the ledger cannot be written', {
            path,
            error: errorMessage(error),
          })
        isBroken = true
        await sleep(retryAfter, undefined, { signal }).catch(() => undefined)
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
