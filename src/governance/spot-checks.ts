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
import { aloneIn, isAlone } from './autonomous-calls.ts'
import type { createAlone, DoneAlone } from './autonomous-calls.ts'
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
  readonly alone: ReturnType<typeof createAlone>
  readonly rules: Rules
  readonly policyVersion: () => string
  /** Secrets of the installation: which actions are drawn, and which come to a look-back. */
  readonly keys: { readonly draw: Buffer; readonly lot: Buffer }
  /** A test decides what chance says. */
  readonly draw?: ((id: string) => number) | undefined
  readonly now: Clock
  readonly log: Log
}

/** An action that trust let an agent do, in the transaction that does it. */
export type Doing = TrustKey & {
  readonly id: string
  readonly risk: Risk
  /** As it was when the action was judged. */
  readonly trust: Trust
  readonly client: string | undefined
}

/** Some time after the answer was sent: what is done about an action must not be felt by whoever waits for it. */
const openAfterMs = 100
/** Where the store did not take one. */
const retryAfterMs = 1000
/** An action that is not on record by then was not done. */
const mostTries = 30
/**
 * So long before the last entry an action may have been done whose check was not opened yet. What was done earlier was
 * drawn at the rate of then: at that of now, after a mistake, hundreds could be drawn that were not.
 */
const caughtUpMs = 10_000
const mostCaughtUp = 2000

export type SpotChecks = ReturnType<typeof createSpotChecks>

/**
 * A share of what agents do alone is checked by people afterwards (T14). Which actions, a keyed hash of their ids
 * decides; a check is opened after the answer, without an entry, so that nothing tells the agent of it.
 */
export function createSpotChecks(deps: Deps) {
  const { db, store, scores, alone, rules, keys, now, log } = deps
  const draw = deps.draw ?? ((id: string) => computeDraw(keys.draw, id))
  type Waiting = Omit<Doing, 'trust'> & {
    readonly isDrawn: boolean
    /** Through another client than before. */
    readonly isOther: boolean
    readonly notedAt: number
    tries: number
  }
  const waiting = new Map<string, Waiting>()
  let timer: NodeJS.Timeout | undefined
  let opening: Promise<void> = Promise.resolve()

  const rateOf = (trust: Trust, risk: Risk) =>
    checkRate(rules.trust.standing, trust.standings[risk])

  /** Called in the transaction of the action, which may run twice or fail: what is not on record later is forgotten. */
  function note(doing: Doing): void {
    const { trust, ...rest } = doing
    const isOther = doing.client !== undefined && doing.client !== trust.client
    const counted = isOther
      ? initialTrust(rules.trust, now())
      : applyDecay(rules.trust, trust, now())
    const rate = rateOf(counted, doing.risk)
    const isDrawn = draw(doing.id) < rate
    if (!isDrawn && !isOther) return
    waiting.set(doing.id, { ...rest, isDrawn, isOther, notedAt: performance.now(), tries: 0 })
    openLater(openAfterMs)
  }

  const openLater = (ms: number) => {
    timer ??= setTimeout(() => void flush(openAfterMs), ms).unref()
  }

  /** Opens what was noted so long ago; one after the other, so that `close` waits for all. */
  function flush(minAgeMs = 0): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    opening = opening.then(() => openDue(minAgeMs))
    return opening
  }

  async function openDue(minAgeMs: number): Promise<void> {
    let isFailed = false
    for (const one of waiting.values()) {
      // Its answer may be on its way still, though another has waited long enough.
      if (performance.now() - one.notedAt < minAgeMs) continue
      await openNoted(one).catch((error: unknown) => {
        isFailed = true
        log.error('a spot check was not opened', { error: errorMessage(error) })
      })
    }
    if (waiting.size > 0) openLater(isFailed ? retryAfterMs : openAfterMs)
  }

  async function openNoted(one: Waiting): Promise<void> {
    const { id, isDrawn, isOther } = one
    const isDone = await alone.find(db, id)
    if (isDone)
      await db.transact(async (tx) => {
        if (isOther) await seeClient(tx, one)
        if (isDrawn) await open(tx, id)
      })
    if (isDone || ++one.tries >= mostTries) waiting.delete(id)
  }

  async function seeClient(tx: Tx, { agent, domain, client }: Waiting): Promise<void> {
    const told =
      client === undefined ? undefined : await scores.seenThrough(tx, { agent, domain }, client)
    if (told)
      tx.append({
        type: 'trust.client_seen',
        actor: systemActor,
        domain,
        subject: agent,
        data: told,
      })
  }

  /** Unless there is one of this action already: the lock on the pair lets one daemon at a time look. */
  async function open(tx: Tx, id: string, lookBack: string | null = null): Promise<boolean> {
    const done = await alone.find(tx, id)
    if (!done) return false
    const { agent, domain, risk, action, target, change, trustLevel, call, proposal } = done
    await scores.load(tx, { agent, domain })
    if (await isSettled(tx, done)) return false
    const approval = await deps.approvals().openHidden(
      tx,
      { id: agent, ...(done.client && { client: done.client }) },
      {
        id: newHiddenId(),
        kind: spotCheck,
        domain,
        action,
        target,
        summary: toSingleLine(`Done alone: ${action}${target && ` on ${target}`}`),
        mode: 'act',
        risk,
        digest: computeDigest({ agent, action, target, content: change }),
        policyVersion: deps.policyVersion(),
        trustLevel,
        confidence: null,
        group: lookBack ?? groupOf(agent),
        content: {
          change,
          why: plainWhy(rules.mode, lookBack === null ? drawnText : lookBackText),
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

  async function isSettled(reader: Reader, { id, proposal }: DoneAlone): Promise<boolean> {
    if (await store.checkOn(reader, id)) return true
    return proposal !== undefined && (await store.overrideOf(reader, proposal))?.isVerified === true
  }

  return {
    note,
    flush,
    /**
     * Counts the checks that are drawn and not stored yet: the gate counts them as unread. Call it before the stored
     * ones are counted: a check that is stored in between counts twice for a moment, and never not at all.
     */
    async unopened(reader: Reader, { agent, domain }: TrustKey, risk: Risk): Promise<number> {
      let count = 0
      for (const one of waiting.values()) {
        const isOfPair = one.agent === agent && one.domain === domain && one.risk === risk
        if (one.isDrawn && isOfPair && !(await store.checkOn(reader, one.id))) count++
      }
      return count
    },

    /**
     * A mistake was found in what it did alone: others that nobody has looked at come to the inbox as one (T14).
     * Gives how many.
     */
    async lookBack(tx: Tx, pair: TrustKey, risk: Risk, found?: string): Promise<number> {
      const id = newId()
      const unseen: string[] = []
      for (const act of await alone.lately(tx, pair, risk)) {
        if (unseen.length >= lookBackWindow) break
        const done = act.id === found ? undefined : await alone.find(tx, act.id)
        if (done && !(await isSettled(tx, done))) unseen.push(act.id)
      }
      const lots = unseen.map((act) => computeDraw(keys.lot, `${id} ${act}`))
      let count = 0
      for (const act of selectLookBack(unseen, lots)) if (await open(tx, act, id)) count++
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
      (await alone.lately(tx, pair))[0]?.risk,

    /** After a crash: actions of the last seconds whose checks were not opened. The same are drawn again. */
    async catchUp(ledger: Pick<Ledger, 'find'>, lastAt: number): Promise<void> {
      const entries = await ledger.find({
        types: ['proposal.created', 'call.started', 'call.done'],
        since: lastAt - caughtUpMs,
        limit: mostCaughtUp,
        newestFirst: true,
      })
      for (const { id, agent, domain, risk } of entries.filter(isAlone).map(aloneIn)) {
        const known = await store.trust(db, agent, domain)
        const trust = known && applyDecay(rules.trust, known, now())
        if (trust && draw(id) < rateOf(trust, risk)) await db.transact((tx) => open(tx, id))
      }
    },

    async close(): Promise<void> {
      clearTimeout(timer)
      await flush()
      clearTimeout(timer)
    },
  }
}

const drawnText =
  'You are asked because a share of what an agent does alone is checked afterwards. It is done already.'
const lookBackText =
  'You are asked because a mistake was found in what this agent did alone: others that nobody has looked at are checked too. It is done already.'

/** All checks of one agent can be answered together. */
const groupOf = (agent: string) => sha256Hex(canonicalJson([spotCheck, agent])).slice(0, 16)
