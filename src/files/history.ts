import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import type { Call } from '#base/tool.ts'
import type { HistoryStore, Trashed } from './history-store.ts'
import type { Kept } from './worker/protocol.ts'

/** What a call changed on disk, for the rows that commit with the entry that ends it. */
export type Change = {
  /** The tool's name. */
  readonly operation: string
  /** Made or changed. */
  readonly made?: string
  /** Where another content was before, and which. */
  readonly replaced?: { readonly path: string; readonly before: Kept } | undefined
  readonly moved?: { readonly from: string; readonly to: string }
  readonly trashed?: Omit<Trashed, 'by' | 'call'>
  /** Taken out of the trash, or purged. */
  readonly untrashed?: readonly string[]
}

export type History = ReturnType<typeof createHistory>

/**
 * Between the disk and the store: the worker has acted, the rows about it are not written yet. They wait at the
 * call's output, so that nothing has to be cleaned up when the call does not get that far.
 */
export function createHistory(store: HistoryStore, now: Clock) {
  const changes = new WeakMap<object, Change>()
  const listeners = new Set<() => void>()
  /** Contents that rows are about to name: they must not go for being unknown. */
  const expected = new Map<string, number>()
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

  return {
    /** Ties a change to the output of its call. */
    changed<T extends object>(output: T, change: Change): T {
      changes.set(output, change)
      if (change.replaced) expect(change.replaced.before.sha256)
      for (const tell of listeners) tell()
      return output
    },
    /** `settle` of every tool that changes files. */
    async settle(tx: Tx, output: unknown, call: Call): Promise<void> {
      const change = changes.get(output as object)
      if (!change) return
      const { operation, made, replaced, moved, trashed, untrashed = [] } = change
      const by = call.caller.id
      const at = now()
      if (moved) await store.move(tx, moved.from, moved.to)
      if (made !== undefined) await store.keepMade(tx, made, by, at)
      if (replaced) {
        const { path, before } = replaced
        await store.keepVersion(tx, {
          id: newId(),
          path,
          ...before,
          at,
          by,
          operation,
          call: call.id,
        })
      }
      if (trashed) {
        await store.keepTrash(tx, { ...trashed, by, call: call.id })
        await store.dropMade(tx, trashed.path)
      }
      for (const id of untrashed) await store.dropTrash(tx, id)
    },
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    /** For what may keep a content: never while contents are being dropped. */
    async writing<T>(body: () => Promise<T>): Promise<T> {
      await cleaning
      writers++
      try {
        return await body()
      } finally {
        if (--writers === 0) onIdle?.()
      }
    },
    /** The other way round. Gives the body what it must spare. */
    async cleaning(body: (spared: (sha256: string) => boolean) => Promise<void>): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      cleaning = promise
      try {
        if (writers > 0) await new Promise<void>((idle) => (onIdle = idle))
        await body((sha256) => expected.has(sha256))
      } finally {
        cleaning = onIdle = undefined
        resolve()
      }
    },
  }
}

/** Longer than any call waits for its commit. */
const expectedMs = 10 * 60_000
