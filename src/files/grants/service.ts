import type { ApprovalKind, Approvals } from '#approvals'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db, Reader } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Identity } from '#identity'
import { createGrantStore } from '../grant-store.ts'
import type { Grant, Need } from '../model.ts'
import { closedBelow, decideGrant, isFor, isLive } from '../rules/grants.ts'
import type { GrantVerdict, Holder } from '../rules/grants.ts'
import type { Guard } from '../rules/guard.ts'
import type { Where } from '../rules/paths.ts'
import { createBook } from './book.ts'
import type { GrantListener } from './book.ts'
import { createChanges } from './changes.ts'
import type { EndReason, GrantChanges } from './changes.ts'
import { grantFromConfig } from './from-config.ts'
import { grantKind } from './kind.ts'
import type { Joined } from './kind.ts'
import { isInPlace } from './pin.ts'
import { createRequests } from './requests.ts'
import type { Requests } from './requests.ts'
import { createSeedCopy } from './seed-db.ts'
import { createUnused } from './unused.ts'

export type GrantsDeps = {
  readonly db: Db
  readonly config: Pick<Config, 'grants' | 'approvals' | 'authority'>
  readonly guard: Guard
  readonly where: Where
  /** The machine whose disk it is about; see `nodeName`. */
  readonly node: string
  /** Made after us, since it must know our kinds. */
  readonly approvals: () => Approvals
  readonly policyVersion: () => string
  readonly sessions: Pick<Identity['sessions'], 'has' | 'onEnd'>
  readonly now: Clock
  readonly log: Log
}

export type Grants = Requests & {
  /** To be registered with governance. */
  readonly kinds: readonly ApprovalKind[]
  /** Reads the store, config and the seed's database. Once, before the first call. */
  start(): Promise<void>
  /** Those of this node that count now, denials included; in memory. */
  live(): readonly Grant[]
  /** Everywhere, as stored, with the uses that are not written yet: for people. */
  list(): Promise<readonly Grant[]>
  /** Those that this caller can use now. */
  of(caller: Caller): readonly Grant[]
  /** The rule over what is in memory. */
  decide(caller: Caller, abs: string, need: Need): GrantVerdict
  /** The same; before a refusal it sees what was decided in this very moment. */
  decideNow(caller: Caller, abs: string, need: Need): Promise<GrantVerdict>
  /** Whether it opens anything: what was granted may be gone, or another in its place (PV9). Looks at the disk. */
  isInPlace(grant: Grant): Promise<boolean>
  /** For `Place.closed`: what below this grant the caller may not use so. */
  closedBelow(caller: Caller, grant: Grant, need: Need): readonly string[]
  /** Counts a use; written at most each second. */
  used(id: string): void
  /** In force once it is committed and read again: by itself, or at the latest by `refresh`. */
  readonly make: GrantChanges['make']
  readonly revoke: GrantChanges['revoke']
  find(reader: Reader, id: string): Promise<Grant | undefined>
  /** Reads again what is stored; resolves when every listener has dealt with what changed. */
  refresh(): Promise<void>
  /** Called after a change is committed: new roots for the worker, calls to end. */
  onChange(listener: GrantListener): () => void
  /** Ends what is over by time or whose session is gone, and asks about what nobody uses. */
  tidy(): Promise<void>
  close(): Promise<void>
}

const longestPause = 60_000

/** What people let agents do with their files: asked for, made, used, ended (GR1–GR10). */
export function createGrants(deps: GrantsDeps): Grants {
  const { db, config, node, sessions, now, log } = deps
  const store = createGrantStore(db.dialect)
  const book = createBook({ db, store, node, now, log })
  const seedCopy = createSeedCopy({ ...deps, store })
  const { make, end, revoke } = createChanges({ store, node, changing: book.changing, now })
  const unused = createUnused({ ...deps, end })
  const joined: Joined = new Map()
  let timer: NodeJS.Timeout | undefined
  let tidying = Promise.resolve()
  let isClosed = false

  const decide = (caller: Caller, path: string, need: Need): GrantVerdict =>
    decideGrant(book.live(), { holder: holderOf(caller), path, need, now: now() })

  async function decideNow(caller: Caller, path: string, need: Need): Promise<GrantVerdict> {
    const verdict = decide(caller, path, need)
    if (verdict.grant) return verdict
    await book.current()
    return decide(caller, path, need)
  }

  function of(caller: Caller): readonly Grant[] {
    const holder = holderOf(caller)
    return book
      .live()
      .filter((grant) => grant.permission !== 'deny' && isFor(grant, { holder, now: now() }))
      .toSorted(byPath)
      .map(book.counted)
  }

  /** Ends those of this node that are over, for whichever reason applies. */
  async function endThose(reasonFor: (grant: Grant) => EndReason | undefined): Promise<void> {
    const over = (await store.live(db, node)).filter((grant) => reasonFor(grant) !== undefined)
    if (over.length === 0) return
    await db.transact(async (tx) => {
      for (const grant of over) await end(tx, grant, reasonFor(grant) ?? 'expired', systemActor)
    })
    await book.current()
  }

  async function tidy(): Promise<void> {
    await endThose((grant) => {
      if (!isLive(grant, now())) return 'expired'
      const { session } = grant
      return session !== null && !sessions.has(session) ? 'session_ended' : undefined
    })
    await unused.ask(book.live().map(book.counted))
  }

  /** At the next end of a grant, and each minute for sessions that just fell silent. */
  function plan(grants: readonly Grant[]): void {
    if (isClosed) return
    const soonest = Math.min(...grants.map(({ expiresAt }) => expiresAt ?? Infinity))
    const pause = Math.min(longestPause, Math.max(0, soonest - now()))
    clearTimeout(timer)
    timer = setTimeout(() => {
      tidying = tidy()
        .catch((error: unknown) => log.error('grants were not tidied', { error: messageOf(error) }))
        .then(() => plan(book.live()))
    }, pause).unref()
  }

  const unfollow = sessions.onEnd((session) => {
    if (!book.live().some((grant) => grant.session === session)) return
    endThose((grant) => (grant.session === session ? 'session_ended' : undefined)).catch(
      (error: unknown) =>
        log.error('the grants of a session were not ended', { error: messageOf(error) }),
    )
  })
  const unplan = book.onChange(({ live }) => plan(live))
  const uncopy = book.onChange(({ live }) => seedCopy.write(live))

  return {
    kinds: [
      grantKind({
        ...deps,
        ttlMs: config.approvals.ttl,
        make,
        end,
        store,
        joined,
      }),
      unused.kind,
    ],
    async start() {
      await endThose(({ scope }) => (scope === 'session' ? 'restart' : undefined))
      await grantFromConfig({ ...deps, store, make, end })
      await seedCopy.read(make)
      await book.refresh()
      await tidy()
      await seedCopy.write(book.live())
      plan(book.live())
    },
    live: () => book.live(),
    async list() {
      const all = await store.live(db)
      return all
        .filter((grant) => isLive(grant, now()))
        .toSorted(byPath)
        .map(book.counted)
    },
    of,
    decide,
    decideNow,
    // A denial is for the path, and of another machine's disk nothing is known here.
    isInPlace: async (grant) =>
      grant.permission === 'deny' || grant.node !== node || isInPlace(grant),
    closedBelow: (caller, grant, need) =>
      closedBelow(book.live(), grant, { holder: holderOf(caller), need, now: now() }),
    used: book.used,
    make,
    revoke,
    find: (reader, id) => store.find(reader, id),
    refresh: book.refresh,
    onChange: book.onChange,
    tidy,
    ...createRequests({ ...deps, decideNow, refresh: book.refresh, of, joined }),
    async close() {
      isClosed = true
      clearTimeout(timer)
      unfollow()
      unplan()
      uncopy()
      await tidying
      await book.close()
      seedCopy.close()
    },
  }
}

const byPath = (one: Grant, other: Grant) =>
  Number(one.path > other.path) - Number(one.path < other.path)

const holderOf = (caller: Caller): Holder =>
  caller.kind === 'human'
    ? { kind: 'human' }
    : { kind: 'agent', agent: caller.id, session: caller.session }
