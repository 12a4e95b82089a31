import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { GrantStore } from '../grant-store.ts'
import type { Grant } from '../model.ts'
import { isLive } from '../rules/grants.ts'

/** What has changed about the grants of this node. */
type GrantChange = {
  readonly live: readonly Grant[]
  /** Ids of those that ended: what works under them ends, too. */
  readonly ended: readonly string[]
}
export type GrantListener = (change: GrantChange) => Promise<void> | void

type Deps = {
  readonly db: Db
  readonly store: GrantStore
  readonly node: string
  readonly now: Clock
  readonly log: Log
}

const flushMs = 1000

/** The grants of this node in memory, so that no call has to ask the store for them. */
export function createBook({ db, store, node, now, log }: Deps) {
  let stored: readonly Grant[] = []
  /** Ids that listeners were told of, and of those the ones that every listener has dealt with. */
  let told: ReadonlySet<string> = new Set()
  const followed = new Set<string>()
  /** All that is being told now. */
  let telling: Promise<void> = Promise.resolve()
  // As identity does it: `asked` grows inside every transaction that changes grants, `read` follows.
  let asked = 1
  let read = 0
  let reading: Promise<void> | undefined
  const listeners = new Set<GrantListener>()
  const uses = new Map<string, { count: number; at: number }>()
  let flushing: NodeJS.Timeout | undefined

  /** Those calls may go by: a new one only once every listener knows of it, an ended one not a moment longer. */
  const live = () =>
    stored.filter(
      (grant) => isLive(grant, now()) && (followed.has(grant.id) || grant.permission === 'deny'),
    )

  /** Through `transact`, whose bodies run in turn: it stands behind the change that asked for it. */
  async function readAgain(): Promise<void> {
    const seen = await db.transact(async (tx) => {
      const upTo = asked
      return { upTo, rows: await store.live(tx, node) }
    })
    stored = seen.rows
    read = seen.upTo
    telling = Promise.all([telling, announce()]).then(() => undefined)
  }

  /**
   * Tells who follows what is new and what has ended, also by time alone. What has ended does not wait for those who
   * still deal with what was new before.
   */
  async function announce(): Promise<void> {
    const next = stored.filter((grant) => isLive(grant, now()))
    const before = told
    told = new Set(next.map(({ id }) => id))
    const ended = [...before].filter((id) => !told.has(id))
    const fresh = next.filter(({ id }) => !before.has(id))
    for (const id of ended) followed.delete(id)
    if (ended.length + fresh.length === 0) return
    for (const one of await Promise.allSettled(
      [...listeners].map(async (listener) => listener({ live: next, ended })),
    ))
      if (one.status === 'rejected')
        log.error('a change of grants was not followed', { error: messageOf(one.reason) })
    for (const { id } of fresh) if (told.has(id)) followed.add(id)
  }

  async function current(): Promise<void> {
    while (read !== asked) {
      reading ??= readAgain().finally(() => (reading = undefined))
      await reading
    }
    await telling
  }

  // A decision in the console takes effect at once and not only with the next call.
  const unfollow = db.onGrowth(() => {
    if (read !== asked)
      current().catch((error: unknown) =>
        log.warn('grants could not be read again', { error: messageOf(error) }),
      )
  })

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
    stored = stored.map((grant) => withUse(grant, counted))
  }

  return {
    live,
    /** Said inside a transaction that changes grants, before it is known whether it commits. */
    changing: () => void asked++,
    current,
    async refresh(): Promise<void> {
      asked++
      await current()
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
      unfollow()
      await flush().catch(complain)
    },
  }

  function complain(error: unknown) {
    log.warn('the use of grants could not be counted', { error: messageOf(error) })
  }
}

function withUse(grant: Grant, uses: ReadonlyMap<string, { count: number; at: number }>): Grant {
  const used = uses.get(grant.id)
  if (!used) return grant
  return { ...grant, accessCount: grant.accessCount + used.count, lastAccessed: used.at }
}
