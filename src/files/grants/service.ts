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
  readonly pathContext: PathContext
  /** The id of the machine whose disk is granted. */
  readonly node: string
  /** A function, because approvals are created after the grants: they need `kinds`. */
  readonly approvals: () => Approvals
  readonly policyVersion: () => string
  readonly agents: Pick<Identity, 'isRevoked' | 'onRevoked'>
  readonly sessions: Pick<Identity['sessions'], 'has' | 'onEnd'>
  readonly now: Clock
  readonly log: Log
}

export type Grants = ReturnType<typeof createGrants>

const maxIntervalMs = 60_000

/** Manages grants: requests, creation, use and end (GR1–GR10). */
export function createGrants(deps: GrantsDeps) {
  const { db, config, node, sessions, now, log } = deps
  const store = createGrantStore(db.dialect)
  const cache = createGrantCache({ db, store, node, now, log })
  const dbMirror = createGrantsDbMirror({ ...deps, store })
  const { make, end, endForAgent, latestInode, repin, revoke } = createGrantWriter({
    ...cache,
    store,
    node,
    now,
  })
  const unused = createUnusedGrantReview({ ...deps, end })
  const joined: JoinedSessions = new Map()
  let skipped: readonly SkippedGrant[] = []

  const pendingReplacements = createPendingReplacements(cache)
  const replacedTarget = createReplacedTargetCheck({ ...deps, latestInode, pendingReplacements })
  const accessDecision = createAccessDecision({ cache, pendingReplacements, node, now })
  const { decideNow, isInPlace } = accessDecision

  /** Lists the grants that this caller can use now, after pending changes. */
  async function listFor(caller: Caller): Promise<readonly Grant[]> {
    await cache.waitUntilCurrent()
    const holder = toHolder(caller)
    return cache
      .listActive()
      .filter((grant) => grant.permission !== 'deny' && appliesTo(grant, { holder, now: now() }))
      .toSorted(byPath)
      .map(cache.withPendingUses)
  }

  /** Pins a path. Waits for calls that replaced the file before, so that their rows are queued first. */
  async function resolveTarget(requestedPath: string, permission: Permission): Promise<TimedPin> {
    const pinnedAt = now()
    const pin = await resolveGrantTarget(requestedPath, permission, deps)
    await pendingReplacements.waitUntilQueued(pin.path)
    return { ...pin, pinnedAt }
  }

  /** Ends the grants of this node for which `reasonFor` returns a reason. */
  async function endWhere(reasonFor: (grant: Grant) => EndReason | undefined): Promise<void> {
    const ended = (await store.listUnrevoked(db, node)).filter(
      (grant) => reasonFor(grant) !== undefined,
    )
    if (ended.length === 0) return
    await db.transact(async (tx) => {
      for (const grant of ended) await end(tx, grant, reasonFor(grant) ?? 'expired', systemActor)
    })
    await cache.waitUntilCurrent()
  }

  /** Ends expired grants and those of ended sessions, and opens reviews of unused grants. */
  async function cleanUp(): Promise<void> {
    await endWhere((grant) => {
      if (!isActive(grant, now())) return 'expired'
      const { session } = grant
      return session !== null && !sessions.has(session) ? 'session_ended' : undefined
    })
    await unused.openReviews(cache.listActive().map(cache.withPendingUses))
  }

  /** Runs when the next grant expires, and every minute for sessions that ended without notice. */
  const cleanupTask = startPeriodicTask({
    intervalMs: maxIntervalMs,
    async run() {
      await cleanUp()
      return untilNextEnd(cache.listActive())
    },
    failure: 'grant cleanup failed',
    log,
    runsAtStart: false,
  })

  function untilNextEnd(grants: readonly Grant[]): number {
    const soonest = Math.min(...grants.map(({ expiresAt }) => expiresAt ?? Infinity))
    return Math.min(maxIntervalMs, Math.max(0, soonest - now()))
  }

  async function endSessionGrants(session: string): Promise<void> {
    await cache.waitUntilCurrent()
    if (cache.listActive().some((grant) => grant.session === session))
      await endWhere((grant) => (grant.session === session ? 'session_ended' : undefined))
  }

  const unfollow = sessions.onEnd((session) => {
    endSessionGrants(session).catch((error: unknown) =>
      log.error('session grants not ended', { error: errorMessage(error) }),
    )
  })
  const unfollowAgents = deps.agents.onRevoked(async (tx, agent, call) => {
    await endForAgent(tx, agent, call)
    await deps.approvals().withdrawAll(tx, { kind: 'grant', requester: agent }, call)
  })
  const stopScheduling = cache.onChange(({ active }) => cleanupTask.runWithin(untilNextEnd(active)))
  const stopMirroring = cache.onChange(({ active }) => dbMirror.exportGrants(active))

  return {
    /** Must be registered with governance. */
    kinds: [
      grantApprovalKind({
        ...deps,
        ttlMs: config.approvals.ttl,
        make,
        end,
        replacedTarget,
        store,
        joined,
      }),
      unused.kind,
    ],
    /** Reads the store, the configuration and `grants.db`. Must run once, before the first call. */
    async start(): Promise<void> {
      await endWhere(({ scope }) => (scope === 'session' ? 'restart' : undefined))
      skipped = await syncConfigGrants({ ...deps, store, make, end })
      await dbMirror.importGrants(make)
      await cache.refresh()
      await cleanUp()
      await dbMirror.exportGrants(cache.listActive())
    },
    listSkipped: () => skipped,
    inspectReplaced: replacedTarget.inspect,
    /** Lists the active grants of this node from memory, denials included. */
    listActive: cache.listActive,
    /** Lists the active grants of all nodes from the store, for people. */
    async list(): Promise<readonly Grant[]> {
      const all = await store.listUnrevoked(db)
      return all
        .filter((grant) => isActive(grant, now()))
        .toSorted(byPath)
        .map(cache.withPendingUses)
    },
    listFor,
    /** Lists all grants that ever blocked this caller from reading something on this node. */
    listBlocking: (caller: Caller) => store.listBlocking(db, node, caller.id),
    ...accessDecision,
    recordUse: cache.recordUse,
    /** The grant is active after the commit and the next read; `refresh` waits for both. */
    make,
    revoke,
    repin,
    trackReplacement: pendingReplacements.track,
    resolveTarget,
    withTemporaryGrant: createTemporaryGrants({
      ...deps,
      make,
      end,
      decideNow,
      isInPlace,
      resolveTarget,
      refresh: cache.refresh,
    }),
    refresh: cache.refresh,
    /** Calls the listener after each committed change. */
    onChange: cache.onChange,
    cleanUp,
    request: createRequest({
      ...deps,
      decideNow,
      isInPlace,
      refresh: cache.refresh,
      listFor,
      joined,
    }),
    async close(): Promise<void> {
      unfollow()
      unfollowAgents()
      stopScheduling()
      stopMirroring()
      await cleanupTask.close()
      await cache.close()
      dbMirror.close()
    },
  }
}

const byPath = (one: Grant, other: Grant) =>
  Number(one.path > other.path) - Number(one.path < other.path)
