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
  readonly live: readonly Grant[]
  /** Ids of those that ended: what works under them ends, too. */
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

const flushMs = 1000

export type GrantCache = ReturnType<typeof createGrantCache>

/** The grants of this node in memory, so that no call has to ask the store for them. */
export function createGrantCache({ db, store, node, now, log }: Deps) {
  /** What listeners were told of, by id with the file it is for; and what of it every listener has dealt with. */
  let told: ReadonlyMap<string, string> = new Map()
  const followed = new Map<string, string>()
  /** Grants that go on for another file, by the change that says so and is not read yet. */
  const moving = new Map<string, number>()
  /** How often each has gone on for another, as far as it is read. */
  const moves = new Map<string, number>()
  /** All that is being told now; and where grants only go on for another file, which is of no concern to most. */
  let telling: Promise<void> = Promise.resolve()
  let following: Promise<void> = Promise.resolve()
  const listeners = new Set<GrantListener>()
  const uses = new Map<string, { count: number; at: number }>()
  let flushing: NodeJS.Timeout | undefined
  const view = createCachedView<readonly Grant[]>({
    db,
    name: 'grants',
    initial: [],
    read: (tx) => store.live(tx, node),
    onRead(_, upTo) {
      for (const [id, change] of moving)
        if (change <= upTo) {
          moving.delete(id)
          moves.set(id, movesOf(id) + 1)
        }
      announce()
    },
    log,
  })

  /** Those calls may go by: a new one only once every listener knows of it, an ended one not a moment longer. */
  const live = () =>
    view
      .latest()
      .filter(
        (grant) =>
          isActive(grant, now()) && (followed.has(grant.id) || grant.permission === 'deny'),
      )

  const movesOf = (id: string) => moves.get(id) ?? 0

  /**
   * Tells who follows what is new and what has ended, also by time alone. What has ended does not wait for those who
   * still deal with what was new before.
   */
  function announce(): void {
    const next = view.latest().filter((grant) => isActive(grant, now()))
    const before = told
    told = new Map(next.map((grant) => [grant.id, formatInode(grant)]))
    const ended = [...before.keys()].filter((id) => !told.has(id))
    const fresh = next.filter((grant) => before.get(grant.id) !== formatInode(grant))
    for (const id of ended) {
      followed.delete(id)
      moves.delete(id)
    }
    if (ended.length + fresh.length === 0) return
    const said = tell({ live: next, ended }, fresh)
    if (ended.length === 0 && fresh.every(({ id }) => followed.has(id)))
      following = Promise.all([following, said]).then(() => undefined)
    else telling = Promise.all([telling, said]).then(() => undefined)
  }

  async function tell(change: GrantChange, fresh: readonly Grant[]): Promise<void> {
    for (const one of await Promise.allSettled(
      [...listeners].map(async (listener) => listener(change)),
    ))
      if (one.status === 'rejected')
        log.error('a change of grants was not followed', { error: errorMessage(one.reason) })
    for (const grant of fresh)
      if (told.get(grant.id) === formatInode(grant)) followed.set(grant.id, formatInode(grant))
  }

  async function current(): Promise<void> {
    await view.current()
    await telling
  }

  /** With all that moves. */
  async function settled(): Promise<void> {
    await current()
    await following
  }

  /** Bookkeeping: how often and when last is no act that the ledger explains. */
  async function flush(): Promise<void> {
    clearTimeout(flushing)
    flushing = undefined
    const used = [...uses]
    if (used.length === 0) return
    uses.clear()
    await db.transact(async (tx) => {
      for (const [id, { count, at }] of used) await store.use(tx, id, count, at)
    })
    const counted = new Map(used)
    view.update((grants) => grants.map((grant) => withUse(grant, counted)))
  }

  return {
    live,
    /** Said inside a transaction that changes grants, before it is known whether it commits. */
    changing: () => void view.invalidate(),
    /** The same, where one of them is for another file from now on. */
    moving: (id: string) => void moving.set(id, view.invalidate()),
    /** Whether the worker may still know it by the file that it was for before. */
    isMoving: (grant: Grant) =>
      moving.has(grant.id) || followed.get(grant.id) !== formatInode(grant),
    /** Another number where it went on for another file meanwhile: those are numbered anew, and may come back. */
    movesOf,
    /** All that is stored, where nothing is being changed. */
    known: () => (view.isCurrent() ? view.latest() : undefined),
    current,
    settled,
    /** Reads them again behind changes that are only in line. */
    async refresh(): Promise<void> {
      await view.refresh()
      await settled()
    },
    onChange(listener: GrantListener): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    used(id: string): void {
      const before = uses.get(id)
      uses.set(id, { count: (before?.count ?? 0) + 1, at: now() })
      flushing ??= setTimeout(() => void flush().catch(complain), flushMs).unref()
    },
    /** With the uses that are not written yet. */
    counted: (grant: Grant): Grant => withUse(grant, uses),
    flush,
    async close(): Promise<void> {
      view.close()
      await flush().catch(complain)
    },
  }

  function complain(error: unknown) {
    log.warn('the use of grants could not be counted', { error: errorMessage(error) })
  }
}

function withUse(grant: Grant, uses: ReadonlyMap<string, { count: number; at: number }>): Grant {
  const used = uses.get(grant.id)
  if (!used) return grant
  return { ...grant, accessCount: grant.accessCount + used.count, lastAccessed: used.at }
}

type Replacing = { readonly folder: string; readonly over: Promise<void> }

export type PendingReplacements = ReturnType<typeof createPendingReplacements>

/**
 * Files that calls put in the place of others. Between that and the row by which a grant goes on for the new one,
 * what the disk says of now does not go with what is known of before: whoever finds a grant's file replaced waits
 * here, and looks again (PV9).
 */
export function createPendingReplacements({
  refresh,
  settled,
}: Pick<GrantCache, 'refresh' | 'settled'>) {
  const ahead = new Set<Replacing>()
  /** How many came in line, and how many of them are read. */
  let came = 0
  let read = 0

  /** What may replace that file is in line for its commit. Never to be waited for in a transaction: those have a line. */
  async function inLine(path: string): Promise<void> {
    const before = [...ahead].filter(({ folder }) => isWithin(path, folder))
    for (const { over } of before) await over
  }

  return {
    /**
     * Said before a call can replace anything in that folder. `standing` ends when its rows are in line, or will never
     * be; a call waits for none of this between the two.
     */
    replacing(folder: string, standing: Promise<unknown>): void {
      const done = () => {
        ahead.delete(mine)
        came++
      }
      const mine = { folder, over: standing.then(done, done) }
      ahead.add(mine)
    },
    inLine,
    /** And what it came to is known. */
    async over(path: string): Promise<void> {
      await inLine(path)
      const upTo = came
      await (read < upTo ? refresh() : settled())
      read = Math.max(read, upTo)
    },
  }
}
