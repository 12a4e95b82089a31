import { createCachedView } from '#base/cached-view.ts'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { formatInode } from '../confine/inode.ts'
import type { GrantStore } from '../grant-store.ts'
import type { Grant } from '../model.ts'
import { isActive } from '../rules/grants.ts'
import { isWithin } from '../rules/paths.ts'

type GrantChange = {
  readonly active: readonly Grant[]
  /** Ids of grants that ended; running calls under them must end as well. */
  readonly ended: readonly string[]
}
type GrantListener = (change: GrantChange) => Promise<void> | void

type Deps = {
  readonly db: Db
  readonly store: GrantStore
  readonly node: string
  readonly now: Clock
  readonly log: Log
}

const flushDelayMs = 1000

export type GrantCache = ReturnType<typeof createGrantCache>

/** Keeps the grants of this node in memory, so that calls do not read the store. */
export function createGrantCache({ db, store, node, now, log }: Deps) {
  /** Grant ids with the inode that was last announced to the listeners. */
  let announced: ReadonlyMap<string, string> = new Map()
  /** Grant ids with the inode that every listener has applied. */
  const applied = new Map<string, string>()
  /** Repinned grants, with the change of the view that contains the new pin and has not been read yet. */
  const repinning = new Map<string, number>()
  /** How often each grant was repinned, as far as it has been read. */
  const repinCounts = new Map<string, number>()
  let announcing: Promise<void> = Promise.resolve()
  /** Announcements that contain only repinned grants: most callers need not wait for them. */
  let announcingRepins: Promise<void> = Promise.resolve()
  const listeners = new Set<GrantListener>()
  const uses = new Map<string, { count: number; at: number }>()
  let flushTimer: NodeJS.Timeout | undefined
  const view = createCachedView<readonly Grant[]>({
    db,
    name: 'grants',
    initial: [],
    read: (tx) => store.listUnrevoked(tx, node),
    onRead(_, upTo) {
      for (const [id, change] of repinning)
        if (change <= upTo) {
          repinning.delete(id)
          repinCounts.set(id, getRepinCount(id) + 1)
        }
      announce()
    },
    log,
  })

  /** Lists the grants that calls may use: a new one once every listener has applied it, an ended one never. */
  const listActive = () =>
    view
      .latest()
      .filter(
        (grant) => isActive(grant, now()) && (applied.has(grant.id) || grant.permission === 'deny'),
      )

  const getRepinCount = (id: string) => repinCounts.get(id) ?? 0

  /**
   * Tells the listeners which grants are new and which have ended, also by time alone. The end of a grant does not wait
   * for listeners that still apply an earlier change.
   */
  function announce(): void {
    const next = view.latest().filter((grant) => isActive(grant, now()))
    const before = announced
    announced = new Map(next.map((grant) => [grant.id, formatInode(grant)]))
    const ended = [...before.keys()].filter((id) => !announced.has(id))
    const changed = next.filter((grant) => before.get(grant.id) !== formatInode(grant))
    for (const id of ended) {
      applied.delete(id)
      repinCounts.delete(id)
    }
    if (ended.length + changed.length === 0) return
    const notified = notifyListeners({ active: next, ended }, changed)
    if (ended.length === 0 && changed.every(({ id }) => applied.has(id)))
      announcingRepins = Promise.all([announcingRepins, notified]).then(() => undefined)
    else announcing = Promise.all([announcing, notified]).then(() => undefined)
  }

  async function notifyListeners(change: GrantChange, changed: readonly Grant[]): Promise<void> {
    for (const result of await Promise.allSettled(
      [...listeners].map(async (listener) => listener(change)),
    ))
      if (result.status === 'rejected')
        log.error('grant change not applied', { error: errorMessage(result.reason) })
    for (const grant of changed)
      if (announced.get(grant.id) === formatInode(grant)) applied.set(grant.id, formatInode(grant))
  }

  async function waitUntilCurrent(): Promise<void> {
    await view.current()
    await announcing
  }

  /** Waits until listeners have applied every change, including repinned grants. */
  async function waitForListeners(): Promise<void> {
    await waitUntilCurrent()
    await announcingRepins
  }

  /** Writes the use counts. They change no access, so they have no ledger entry. */
  async function flush(): Promise<void> {
    clearTimeout(flushTimer)
    flushTimer = undefined
    const used = [...uses]
    if (used.length === 0) return
    uses.clear()
    await db.transact(async (tx) => {
      for (const [id, { count, at }] of used) await store.addUses(tx, id, count, at)
    })
    const counted = new Map(used)
    view.update((grants) => grants.map((grant) => addPendingUses(grant, counted)))
  }

  return {
    listActive,
    /** Must be called inside a transaction that changes grants, before its outcome is known. */
    invalidate: () => void view.invalidate(),
    /** The same for a transaction that repins this grant. */
    invalidateRepinned: (id: string) => void repinning.set(id, view.invalidate()),
    /** Whether the worker may still use the previous pin of this grant. */
    isBeingRepinned: (grant: Grant) =>
      repinning.has(grant.id) || applied.get(grant.id) !== formatInode(grant),
    /** Changes whenever the grant is repinned. Inode numbers are reused, so comparing inodes is not enough. */
    getRepinCount,
    /** Returns all stored grants, or undefined while a change is pending. */
    getCurrent: () => (view.isCurrent() ? view.latest() : undefined),
    waitUntilCurrent,
    waitForListeners,
    /** Reads the grants again after all queued changes. */
    async refresh(): Promise<void> {
      await view.refresh()
      await waitForListeners()
    },
    onChange(listener: GrantListener): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    recordUse(id: string): void {
      const before = uses.get(id)
      uses.set(id, { count: (before?.count ?? 0) + 1, at: now() })
      flushTimer ??= setTimeout(() => void flush().catch(logFlushError), flushDelayMs).unref()
    },
    /** Adds the uses that are not stored yet. */
    withPendingUses: (grant: Grant): Grant => addPendingUses(grant, uses),
    flush,
    async close(): Promise<void> {
      view.close()
      await flush().catch(logFlushError)
    },
  }

  function logFlushError(error: unknown) {
    log.warn('grant use counts not stored', { error: errorMessage(error) })
  }
}

function addPendingUses(
  grant: Grant,
  uses: ReadonlyMap<string, { count: number; at: number }>,
): Grant {
  const used = uses.get(grant.id)
  if (!used) return grant
  return { ...grant, accessCount: grant.accessCount + used.count, lastAccessed: used.at }
}

type PendingReplacement = { readonly folder: string; readonly queued: Promise<void> }

export type PendingReplacements = ReturnType<typeof createPendingReplacements>

/**
 * Tracks calls that replace files. Between the replacement on disk and the row that repins the grant, disk and store
 * disagree. A check that finds the file of a grant replaced waits here and checks again (PV9).
 */
export function createPendingReplacements({
  refresh,
  waitForListeners,
}: Pick<GrantCache, 'refresh' | 'waitForListeners'>) {
  const pending = new Set<PendingReplacement>()
  let queuedCount = 0
  let readCount = 0

  /**
   * Waits until the calls that may replace this file are queued for their commit. Never await this in a transaction:
   * transactions use the same queue.
   */
  async function waitUntilQueued(path: string): Promise<void> {
    const predecessors = [...pending].filter(({ folder }) => isWithin(path, folder))
    for (const { queued } of predecessors) await queued
  }

  return {
    /**
     * Must be called before a call can replace a file in this folder. `settled` ends when the rows of the call are
     * queued, or will never be.
     */
    track(folder: string, settled: Promise<unknown>): void {
      const done = () => {
        pending.delete(replacement)
        queuedCount++
      }
      const replacement = { folder, queued: settled.then(done, done) }
      pending.add(replacement)
    },
    waitUntilQueued,
    /** Also waits until the grants have been read again. */
    async waitUntilRead(path: string): Promise<void> {
      await waitUntilQueued(path)
      const upTo = queuedCount
      await (readCount < upTo ? refresh() : waitForListeners())
      readCount = Math.max(readCount, upTo)
    },
  }
}
