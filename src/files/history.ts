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

/** A change that a call made on disk; its rows commit with the entry that ends the call. */
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

/** Tracks changes between the worker's write and the commit of their rows. */
export function createHistory(
  store: HistoryStore,
  now: Clock,
  maxPerFile: number,
  repin?: Grants['repin'],
) {
  const listeners = new Set<() => void>()
  /** Hashes of contents whose rows are not committed yet; the cleanup must keep them. */
  const expected = new Map<string, number>()
  /** Hashes of contents whose versions were deleted by the limit per file; other rows may still use them. */
  const surplus = new Set<string>()
  let addedBytes = 0
  let writers = 0
  let withCleanupLock: Promise<void> | undefined
  let onIdle: (() => void) | undefined

  /** Keeps the map in order of time, so that expired hashes come first. */
  function markExpected(sha256: string): void {
    expected.delete(sha256)
    expected.set(sha256, now())
    for (const [known, at] of expected)
      if (now() - at > expectedTtlMs) expected.delete(known)
      else break
  }

  const isExpected = (sha256: string) =>
    now() - (expected.get(sha256) ?? -Infinity) <= expectedTtlMs

  async function write(tx: Tx, call: Call, change: Change): Promise<void> {
    const { operation, made, replaced, moved, trashed, restored, purged = [] } = change
    const by = call.caller.id
    const at = now()
    if (moved) await store.move(tx, moved.from, moved.to)
    if (restored) await store.restoreFromTrash(tx, restored.id, restored.path)
    if (made !== undefined) await store.recordMade(tx, made, by, at)
    if (replaced) {
      const { path } = replaced
      const { swap, ...before } = replaced.before
      if (swap) await repin?.(tx, { path, ...swap }, call)
      const id = newId()
      // Undo finds the version by this id.
      call.addDetails({ data: { replaced: id } })
      await store.addVersion(tx, { id, path, ...before, at, by, operation, call: call.id })
      for (const sha256 of await store.deleteVersionsBeyond(tx, path, maxPerFile))
        surplus.add(sha256)
    }
    if (trashed) await store.keepTrash(tx, { ...trashed, by, call: call.id })
    for (const id of purged) await store.deleteTrashItem(tx, id)
  }

  return {
    /** Returns a function that writes the rows of a change in the transaction that ends the call. */
    recordChange(call: Call, change: Change): (tx: Tx) => Promise<void> {
      if (change.replaced) {
        const { sha256, size } = change.replaced.before
        markExpected(sha256)
        addedBytes += size
      }
      for (const notify of listeners) notify()
      return (tx) => write(tx, call, change)
    },
    /** Returns bytes and surplus hashes since the last call; equal contents are counted each time. */
    takeAdded(): { readonly bytes: number; readonly surplus: readonly string[] } {
      const growth = { bytes: addedBytes, surplus: [...surplus] }
      addedBytes = 0
      surplus.clear()
      return growth
    },
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    /** Runs a write that may store a content; never concurrent with a cleanup. */
    async withWriteLock<T>(body: () => Promise<T>): Promise<T> {
      while (withCleanupLock) await withCleanupLock
      writers++
      try {
        return await body()
      } finally {
        if (--writers === 0) onIdle?.()
      }
    },
    /** Runs a cleanup without concurrent writes. The body must keep the contents for which `isExpected` is true. */
    async withCleanupLock(
      body: (spared: (sha256: string) => boolean) => Promise<void>,
    ): Promise<void> {
      while (withCleanupLock) await withCleanupLock
      const { promise, resolve } = Promise.withResolvers<void>()
      withCleanupLock = promise
      try {
        if (writers > 0) await new Promise<void>((idle) => (onIdle = idle))
        // The last writer has its reply and is about to mark its content as expected.
        await setImmediate()
        await body(isExpected)
      } finally {
        withCleanupLock = onIdle = undefined
        resolve()
      }
    },
  }
}

/** Longer than any call takes to commit. */
const expectedTtlMs = 10 * 60_000

/** Finds the tool call that undoes a file change, from the entry that ended the call (TR1, TR3). */
export function createUndo(dialect: Dialect, node: string) {
  const store = createHistoryStore(dialect, node)
  const lookup = createEntryLookup(dialect)

  return {
    async find(reader: Reader, done: Entry) {
      const { trash, version } = getUndoSource(done)
      if (trash !== undefined) {
        const item = await store.findTrashItem(reader, trash)
        return (
          item && {
            tool: 'trash_restore',
            arguments: { trash_id: trash },
            text: `Restore ${displayName(item.path)} from the trash`,
          }
        )
      }
      const before = version === undefined ? undefined : await store.findVersion(reader, version)
      // A file in the trash has no path.
      if (!before || before.path.startsWith('trash:')) return undefined
      return {
        tool: 'file_restore_version',
        arguments: { path: before.path, version_id: before.id },
        text: `Restore the previous version of ${displayName(before.path)}`,
      }
    },
    async isDone(reader: Reader, done: Entry): Promise<boolean> {
      const { trash, version } = getUndoSource(done)
      const before = version === undefined ? undefined : await store.findVersion(reader, version)
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

function getUndoSource({ data }: Entry): { trash?: string; version?: string } {
  const { tool, trash, replaced } = data ?? {}
  if (tool === 'delete_file' && typeof trash === 'string') return { trash }
  return typeof replaced === 'string' ? { version: replaced } : {}
}

const displayName = (path: string) => sanitizeText(lastSegment(path) ?? path, 100)
