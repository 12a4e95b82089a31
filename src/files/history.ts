import { setImmediate } from 'node:timers/promises'
import type { Clock } from '#base/clock.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import type { Call } from '#base/tool.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { createEntryLookup } from '#ledger'
import type { Entry } from '#ledger'
import type { Grants } from './grants/service.ts'
import { createHistoryStore } from './history-store.ts'
import type { HistoryStore, TrashItem } from './history-store.ts'
import type { StoredVersion } from './worker/protocol.ts'
import { lastSegment } from './rules/paths.ts'

/** What a call changed on disk, for the rows that commit with the entry that ends it. */
export type Change = {
  readonly operation: string
  readonly made?: string
  readonly replaced?: { readonly path: string; readonly before: StoredVersion } | undefined
  readonly moved?: { readonly from: string; readonly to: string }
  readonly trashed?: Omit<TrashItem, 'by' | 'call'>
  readonly restored?: { readonly id: string; readonly path: string }
  readonly purged?: readonly string[]
}

export type History = ReturnType<typeof createHistory>

/** Between the disk and the store: the worker has acted, the rows about it are not written yet. */
export function createHistory(
  store: HistoryStore,
  now: Clock,
  maxPerFile: number,
  follow?: Grants['follow'],
) {
  const listeners = new Set<() => void>()
  /** Contents that rows are about to name: they must not go for being unknown. */
  const expected = new Map<string, number>()
  /** Contents of versions that went because there were too many of one file; perhaps nothing names them now. */
  const surplus = new Set<string>()
  let addedBytes = 0
  let writers = 0
  let cleaning: Promise<void> | undefined
  let onIdle: (() => void) | undefined

  /** In order of time, so that those that are over come first. */
  function expect(sha256: string): void {
    expected.delete(sha256)
    expected.set(sha256, now())
    for (const [known, at] of expected)
      if (now() - at > expectedMs) expected.delete(known)
      else break
  }

  const isExpected = (sha256: string) => now() - (expected.get(sha256) ?? -Infinity) <= expectedMs

  async function write(tx: Tx, call: Call, change: Change): Promise<void> {
    const { operation, made, replaced, moved, trashed, restored, purged = [] } = change
    const by = call.caller.id
    const at = now()
    if (moved) await store.move(tx, moved.from, moved.to)
    if (restored) await store.takeFromTrash(tx, restored.id, restored.path)
    if (made !== undefined) await store.keepMade(tx, made, by, at)
    if (replaced) {
      const { path } = replaced
      const { swap, ...before } = replaced.before
      if (swap) await follow?.(tx, { path, ...swap }, call)
      const id = newId()
      // By this the call can be undone.
      call.addDetails({ data: { replaced: id } })
      await store.keepVersion(tx, { id, path, ...before, at, by, operation, call: call.id })
      for (const sha256 of await store.dropBeyond(tx, path, maxPerFile)) surplus.add(sha256)
    }
    if (trashed) await store.keepTrash(tx, { ...trashed, by, call: call.id })
    for (const id of purged) await store.dropTrash(tx, id)
  }

  return {
    /** Gives what writes the rows about a change, for the transaction that records the end of its call. */
    changed(call: Call, change: Change): (tx: Tx) => Promise<void> {
      if (change.replaced) {
        const { sha256, size } = change.replaced.before
        expect(sha256)
        addedBytes += size
      }
      for (const tell of listeners) tell()
      return (tx) => write(tx, call, change)
    },
    /** What has come and gone since it was asked last; equal contents are counted each time. */
    takeGrowth(): { readonly bytes: number; readonly surplus: readonly string[] } {
      const growth = { bytes: addedBytes, surplus: [...surplus] }
      addedBytes = 0
      surplus.clear()
      return growth
    },
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    /** For what may keep a content: never while contents are being dropped. */
    async writing<T>(body: () => Promise<T>): Promise<T> {
      while (cleaning) await cleaning
      writers++
      try {
        return await body()
      } finally {
        if (--writers === 0) onIdle?.()
      }
    },
    /** The other way round. Gives the body what it must spare. */
    async cleaning(body: (spared: (sha256: string) => boolean) => Promise<void>): Promise<void> {
      while (cleaning) await cleaning
      const { promise, resolve } = Promise.withResolvers<void>()
      cleaning = promise
      try {
        if (writers > 0) await new Promise<void>((idle) => (onIdle = idle))
        // The last of them has its answer and is about to say what it expects.
        await setImmediate()
        await body(isExpected)
      } finally {
        cleaning = onIdle = undefined
        resolve()
      }
    },
  }
}

/** Longer than any call waits for its commit. */
const expectedMs = 10 * 60_000

/** How what a call did to a file is taken back; told by the entry that ended the call (TR1, TR3). */
export function createUndo(dialect: Dialect, node: string) {
  const store = createHistoryStore(dialect, node)
  const lookup = createEntryLookup(dialect)

  return {
    async find(reader: Reader, done: Entry) {
      const { trash, version } = keptBy(done)
      if (trash !== undefined) {
        const item = await store.trashed(reader, trash)
        return (
          item && {
            tool: 'trash_restore',
            arguments: { trash_id: trash },
            text: `Restore ${shown(item.path)} from the trash`,
          }
        )
      }
      const before = version === undefined ? undefined : await store.version(reader, version)
      // What lies in the trash has no path.
      if (!before || before.path.startsWith('trash:')) return undefined
      return {
        tool: 'file_restore_version',
        arguments: { path: before.path, version_id: before.id },
        text: `Put back ${shown(before.path)} as it was before`,
      }
    },
    async isDone(reader: Reader, done: Entry): Promise<boolean> {
      const { trash, version } = keptBy(done)
      const before = version === undefined ? undefined : await store.version(reader, version)
      const subject = trash ?? before?.path
      if (subject === undefined) return false
      const later = await lookup.listCompletedSince(reader, subject, done.seq)
      return later.some(
        ({ actor, data }) =>
          actor.kind === 'human' &&
          (trash === undefined ? data?.['version'] === version : data?.['trash'] === trash),
      )
    },
  }
}

function keptBy({ data }: Entry): { trash?: string; version?: string } {
  const { tool, trash, replaced } = data ?? {}
  if (tool === 'delete_file' && typeof trash === 'string') return { trash }
  return typeof replaced === 'string' ? { version: replaced } : {}
}

const shown = (path: string) => sanitizeText(lastSegment(path) ?? path, 100)
