import type { Approvals } from '#approvals'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { Identity } from '#identity'
import { createGrantStore } from '../grant-store.ts'
import type { Grant, Permission } from '../model.ts'
import { appliesTo, isActive } from '../rules/grants.ts'
import type { Guard } from '../rules/guard.ts'
import type { PathContext } from '../rules/paths.ts'
import { createGrantCache, createPendingReplacements } from './grant-cache.ts'
import { createGrantWriter } from './grant-writer.ts'
import type { EndReason } from './grant-writer.ts'
import { createAccessDecision, toHolder } from './access-decision.ts'
import { syncConfigGrants } from './config-grants.ts'
import type { SkippedGrant } from './config-grants.ts'
import { resolveGrantTarget } from './pin.ts'
import type { TimedPin } from './pin.ts'
import { createTemporaryGrants } from './temporary-grants.ts'
import { grantApprovalKind } from './kind.ts'
import type { JoinedSessions } from './kind.ts'
import { createReplacedTargetCheck } from './replaced-target.ts'
import { createRequest } from './requests.ts'
import { createGrantsDbMirror } from './grants-db-mirror.ts'
import { createUnusedGrantReview } from './unused-grants.ts'

export type GrantsDeps = {
  readonly db: Db
  readonly config: Pick<Config, 'grants' | 'approvals' | 'authority'>
  readonly guard: Guard
  readonly where: PathContext
  /** The machine whose disk it is about; see `nodeName`. */
  readonly node: string
  /** Made after us, since it must know our kinds. */
  readonly approvals: () => Approvals
  readonly policyVersion: () => string
  readonly agents: Pick<Identity, 'isRevoked' | 'onRevoked'>
  readonly sessions: Pick<Identity['sessions'], 'has' | 'onEnd'>
  readonly now: Clock
  readonly log: Log
}

export type Grants = ReturnType<typeof createGrants>

const longestPause = 60_000

/** What people let agents do with their files: asked for, made, used, ended (GR1–GR10). */
export function createGrants(deps: GrantsDeps) {
  const { db, config, node, sessions, now, log } = deps
  const store = createGrantStore(db.dialect)
  const book = createGrantCache({ db, store, node, now, log })
  const seedCopy = createGrantsDbMirror({ ...deps, store })
  const { make, end, endOf, latest, follow, revoke } = createGrantWriter({
    ...book,
    store,
    node,
    now,
  })
  const unused = createUnusedGrantReview({ ...deps, end })
  const joined: JoinedSessions = new Map()
  let leftOut: readonly SkippedGrant[] = []

  const underWay = createPendingReplacements(book)
  const replaced = createReplacedTargetCheck({ ...deps, latest, underWay })
  const deciding = createAccessDecision({ book, underWay, node, now })
  const { decideNow, opens } = deciding

  /** Those that this caller can use now, with what was decided in this very moment. */
  async function of(caller: Caller): Promise<readonly Grant[]> {
    await book.current()
    const holder = toHolder(caller)
    return book
      .live()
      .filter((grant) => grant.permission !== 'deny' && appliesTo(grant, { holder, now: now() }))
      .toSorted(byPath)
      .map(book.counted)
  }

  /** With the rows of whoever replaced it before it was looked at ahead of those that are asked for next. */
  async function pinFor(given: string, permission: Permission): Promise<TimedPin> {
    const pinnedAt = now()
    const pin = await resolveGrantTarget(given, permission, deps)
    await underWay.inLine(pin.path)
    return { ...pin, pinnedAt }
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

  /** Ends what is over by time or whose session is gone, and asks about what nobody uses. */
  async function tidy(): Promise<void> {
    await endThose((grant) => {
      if (!isActive(grant, now())) return 'expired'
      const { session } = grant
      return session !== null && !sessions.has(session) ? 'session_ended' : undefined
    })
    await unused.ask(book.live().map(book.counted))
  }

  /** At the next end of a grant, and each minute for sessions that just fell silent. */
  const tidying = startPeriodicTask({
    intervalMs: longestPause,
    async run() {
      await tidy()
      return untilNextEnd(book.live())
    },
    failure: 'grants were not tidied',
    log,
    runsAtStart: false,
  })

  function untilNextEnd(grants: readonly Grant[]): number {
    const soonest = Math.min(...grants.map(({ expiresAt }) => expiresAt ?? Infinity))
    return Math.min(longestPause, Math.max(0, soonest - now()))
  }

  async function endOfSession(session: string): Promise<void> {
    await book.current()
    if (book.live().some((grant) => grant.session === session))
      await endThose((grant) => (grant.session === session ? 'session_ended' : undefined))
  }

  const unfollow = sessions.onEnd((session) => {
    endOfSession(session).catch((error: unknown) =>
      log.error('the grants of a session were not ended', { error: errorMessage(error) }),
    )
  })
  const unfollowAgents = deps.agents.onRevoked(async (tx, agent, call) => {
    await endOf(tx, agent, call)
    await deps.approvals().withdrawAll(tx, { kind: 'grant', requester: agent }, call)
  })
  const unplan = book.onChange(({ live }) => tidying.runWithin(untilNextEnd(live)))
  const uncopy = book.onChange(({ live }) => seedCopy.write(live))

  return {
    /** To be registered with governance. */
    kinds: [
      grantApprovalKind({
        ...deps,
        ttlMs: config.approvals.ttl,
        make,
        end,
        replaced,
        store,
        joined,
      }),
      unused.kind,
    ],
    /** Reads the store, config and the seed's database. Once, before the first call. */
    async start(): Promise<void> {
      await endThose(({ scope }) => (scope === 'session' ? 'restart' : undefined))
      leftOut = await syncConfigGrants({ ...deps, store, make, end })
      await seedCopy.read(make)
      await book.refresh()
      await tidy()
      await seedCopy.write(book.live())
    },
    leftOut: () => leftOut,
    look: replaced.look,
    /** Those of this node that count now, denials included; in memory. */
    live: book.live,
    /** Everywhere, as stored, with the uses that are not written yet: for people. */
    async list(): Promise<readonly Grant[]> {
      const all = await store.live(db)
      return all
        .filter((grant) => isActive(grant, now()))
        .toSorted(byPath)
        .map(book.counted)
    },
    of,
    /** All that ever kept this caller from reading something here, over or not. */
    closing: (caller: Caller) => store.closing(db, node, caller.id),
    ...deciding,
    isInPlace: opens,
    used: book.used,
    /** In force once it is committed and read again: by itself, or at the latest by `refresh`. */
    make,
    revoke,
    follow,
    replacing: underWay.replacing,
    grantable: pinFor,
    lend: createTemporaryGrants({
      ...deps,
      make,
      end,
      decideNow,
      opens,
      grantable: pinFor,
      refresh: book.refresh,
    }),
    refresh: book.refresh,
    /** Called after a change is committed: new roots for the worker, calls to end. */
    onChange: book.onChange,
    tidy,
    request: createRequest({ ...deps, decideNow, opens, refresh: book.refresh, of, joined }),
    async close(): Promise<void> {
      unfollow()
      unfollowAgents()
      unplan()
      uncopy()
      await tidying.close()
      await book.close()
      seedCopy.close()
    },
  }
}

const byPath = (one: Grant, other: Grant) =>
  Number(one.path > other.path) - Number(one.path < other.path)
