import { computeDigest, toSingleLine, spotCheck } from '#approvals'
import type { Approvals, Risk } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Db, Reader, Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { errorMessage } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { newHiddenId, newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Ledger } from '#ledger'
import { toAutonomousKey, isAutonomous } from './autonomous-calls.ts'
import type { createAutonomousCalls, AutonomousCall } from './autonomous-calls.ts'
import { plainWhy } from './rules/mode-decision.ts'
import type { Rules } from './rules/mode-decision.ts'
import { checkRate, computeDraw, lookBackWindow, selectLookBack } from './rules/standing.ts'
import { applyDecay, initialTrust } from './rules/trust.ts'
import type { Trust } from './rules/trust.ts'
import type { TrustKey, TrustService } from './trust-service.ts'
import type { GovernanceStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: GovernanceStore
  readonly approvals: () => Pick<Approvals, 'openHidden'>
  readonly scores: Pick<TrustService, 'load' | 'lookBack' | 'seenThrough'>
  readonly autonomousCalls: ReturnType<typeof createAutonomousCalls>
  readonly rules: Rules
  readonly policyVersion: () => string
  /** Secrets of the installation: one draws checks, one selects actions for look-backs. */
  readonly keys: { readonly draw: Buffer; readonly lot: Buffer }
  /** Replaces the random draw in tests. */
  readonly draw?: ((id: string) => number) | undefined
  readonly now: Clock
  readonly log: Log
}

/** An autonomous action, noted in the transaction that does it. */
export type NotedAction = TrustKey & {
  readonly id: string
  readonly risk: Risk
  /** As it was when the action was authorized. */
  readonly trust: Trust
  readonly client: string | undefined
}

/** Delay after the reply: opening a check must not change the latency that the agent measures. */
const openAfterMs = 100
/** Delay after a store error. */
const retryAfterMs = 1000
/** An action that is not in the ledger after this many attempts was not done. */
const maxAttempts = 30
/**
 * Actions this long before the last entry may have a check that was not opened yet. Earlier actions were drawn with
 * the rate of that time: with the current rate, after a mistake, hundreds more could be drawn.
 */
const catchUpMs = 10_000
const maxCatchUp = 2000

export type SpotChecks = ReturnType<typeof createSpotChecks>

/**
 * Selects a share of autonomous actions for review by people (T14). A keyed hash of the id draws an action; its check
 * is opened after the reply, without an entry, so that the agent cannot detect it.
 */
export function createSpotChecks(deps: Deps) {
  const { db, store, scores, autonomousCalls, rules, keys, now, log } = deps
  const draw = deps.draw ?? ((id: string) => computeDraw(keys.draw, id))
  type Waiting = Omit<NotedAction, 'trust'> & {
    readonly isDrawn: boolean
    /** Through another client than before. */
    readonly isNewClient: boolean
    readonly notedAt: number
    tries: number
  }
  const pending = new Map<string, Waiting>()
  let timer: NodeJS.Timeout | undefined
  let opening: Promise<void> = Promise.resolve()

  const getRate = (trust: Trust, risk: Risk) =>
    checkRate(rules.trust.standing, trust.standings[risk])

  /**
   * Called in the transaction of the action, which may run twice or fail: an action that is not in the ledger later
   * is dropped.
   */
  function note(doing: NotedAction): void {
    const { trust, ...rest } = doing
    const isNewClient = doing.client !== undefined && doing.client !== trust.client
    const counted = isNewClient
      ? initialTrust(rules.trust, now())
      : applyDecay(rules.trust, trust, now())
    const rate = getRate(counted, doing.risk)
    const isDrawn = draw(doing.id) < rate
    if (!isDrawn && !isNewClient) return
    pending.set(doing.id, { ...rest, isDrawn, isNewClient, notedAt: performance.now(), tries: 0 })
    scheduleOpen(openAfterMs)
  }

  const scheduleOpen = (ms: number) => {
    timer ??= setTimeout(() => void flush(openAfterMs), ms).unref()
  }

  /** Opens the checks noted at least this long ago, one after the other, so that `close` waits for all. */
  function flush(minAgeMs = 0): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    opening = opening.then(() => openDue(minAgeMs))
    return opening
  }

  async function openDue(minAgeMs: number): Promise<void> {
    let isFailed = false
    for (const one of pending.values()) {
      // Its reply may still be in transit, although another check is due.
      if (performance.now() - one.notedAt < minAgeMs) continue
      await openNoted(one).catch((error: unknown) => {
        isFailed = true
        log.error('could not open spot check', { error: errorMessage(error) })
      })
    }
    if (pending.size > 0) scheduleOpen(isFailed ? retryAfterMs : openAfterMs)
  }

  async function openNoted(one: Waiting): Promise<void> {
    const { id, isDrawn, isNewClient } = one
    const isDone = await autonomousCalls.find(db, id)
    if (isDone)
      await db.transact(async (tx) => {
        if (isNewClient) await recordClient(tx, one)
        if (isDrawn) await open(tx, id)
      })
    if (isDone || ++one.tries >= maxAttempts) pending.delete(id)
  }

  async function recordClient(tx: Tx, { agent, domain, client }: Waiting): Promise<void> {
    const stored =
      client === undefined ? undefined : await scores.seenThrough(tx, { agent, domain }, client)
    if (stored)
      tx.append({
        type: 'trust.client_seen',
        actor: systemActor,
        domain,
        subject: agent,
        data: stored,
      })
  }

  /** Skips an action that has a check: the lock on the trust record serializes daemons. */
  async function open(tx: Tx, id: string, lookBack: string | null = null): Promise<boolean> {
    const done = await autonomousCalls.find(tx, id)
    if (!done) return false
    const { agent, domain, risk, action, target, change, trustLevel, call, proposal } = done
    await scores.load(tx, { agent, domain })
    if (await isReviewed(tx, done)) return false
    const approval = await deps.approvals().openHidden(
      tx,
      { id: agent, ...(done.client && { client: done.client }) },
      {
        id: newHiddenId(),
        kind: spotCheck,
        domain,
        action,
        target,
        summary: toSingleLine(`Autonomous action: ${action}${target && ` on ${target}`}`),
        mode: 'act',
        risk,
        digest: computeDigest({ agent, action, target, content: change }),
        policyVersion: deps.policyVersion(),
        trustLevel,
        confidence: null,
        group: lookBack ?? toGroup(agent),
        content: {
          change,
          why: plainWhy(rules.mode, lookBack === null ? drawnReason : lookBackReason),
          extra: {
            ...(call !== undefined && { call }),
            ...(proposal !== undefined && { proposal }),
            ...(lookBack !== null && { look_back: lookBack }),
          },
        },
      },
    )
    await store.openCheck(tx, {
      act: id,
      approval: approval.id,
      agent,
      domain,
      risk,
      look_back: lookBack,
      opened_at: approval.createdAt,
      read_at: null,
    })
    return true
  }

  async function isReviewed(reader: Reader, { id, proposal }: AutonomousCall): Promise<boolean> {
    if (await store.findCheck(reader, id)) return true
    return proposal !== undefined && (await store.overrideOf(reader, proposal))?.isVerified === true
  }

  return {
    note,
    flush,
    /**
     * Counts drawn checks that are not stored yet: the gate counts them as unread. Call this before counting the
     * stored ones: a check that is stored in between counts twice for a moment, and never zero times.
     */
    async unopened(reader: Reader, { agent, domain }: TrustKey, risk: Risk): Promise<number> {
      let count = 0
      for (const one of pending.values()) {
        const isOfPair = one.agent === agent && one.domain === domain && one.risk === risk
        if (one.isDrawn && isOfPair && !(await store.findCheck(reader, one.id))) count++
      }
      return count
    },

    /**
     * After a mistake in an autonomous action, opens checks of other unreviewed ones as one group (T14). Returns
     * their number.
     */
    async lookBack(tx: Tx, pair: TrustKey, risk: Risk, mistakeId?: string): Promise<number> {
      const id = newId()
      const unreviewed: string[] = []
      for (const act of await autonomousCalls.listRecent(tx, pair, risk)) {
        if (unreviewed.length >= lookBackWindow) break
        const done = act.id === mistakeId ? undefined : await autonomousCalls.find(tx, act.id)
        if (done && !(await isReviewed(tx, done))) unreviewed.push(act.id)
      }
      const lots = unreviewed.map((act) => computeDraw(keys.lot, `${id} ${act}`))
      let count = 0
      for (const act of selectLookBack(unreviewed, lots)) if (await open(tx, act, id)) count++
      if (count === 0) return 0
      await scores.lookBack(tx, pair, risk)
      tx.append({
        type: 'look_back.opened',
        actor: systemActor,
        domain: pair.domain,
        subject: pair.agent,
        data: { look_back: id, risk, count },
      })
      return count
    },

    lastRisk: async (tx: Tx, pair: TrustKey): Promise<Risk | undefined> =>
      (await autonomousCalls.listRecent(tx, pair))[0]?.risk,

    /** After a crash, opens checks for the actions of the last seconds. The same actions are drawn again. */
    async catchUp(ledger: Pick<Ledger, 'find'>, lastAt: number): Promise<void> {
      const entries = await ledger.find({
        types: ['proposal.created', 'call.started', 'call.done'],
        since: lastAt - catchUpMs,
        limit: maxCatchUp,
        newestFirst: true,
      })
      for (const { id, agent, domain, risk } of entries.filter(isAutonomous).map(toAutonomousKey)) {
        const known = await store.trust(db, agent, domain)
        const trust = known && applyDecay(rules.trust, known, now())
        if (trust && draw(id) < getRate(trust, risk)) await db.transact((tx) => open(tx, id))
      }
    },

    async close(): Promise<void> {
      clearTimeout(timer)
      await flush()
      clearTimeout(timer)
    },
  }
}

const drawnReason =
  'You are asked because a share of autonomous actions is checked afterwards. The action is already done.'
const lookBackReason =
  'You are asked because an autonomous action of this agent was wrong, so other unreviewed ones are checked too. The action is already done.'

/** All checks of an agent can be answered together. */
const toGroup = (agent: string) => sha256Hex(canonicalJson([spotCheck, agent])).slice(0, 16)
