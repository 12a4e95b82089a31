import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import type { Risk } from '#approvals'
import { storedTrust } from './recorded.ts'
import type { Rules } from './rules/judge.ts'
import type { GovernanceStore } from './store.ts'
import {
  approved,
  checkedClean,
  current,
  dayMilliseconds,
  idleDays,
  newTrust,
  overridden,
  setByHand,
  touched,
} from './rules/trust.ts'
import type { Change, OverrideType, Severity, Trust } from './rules/trust.ts'

export type Override = {
  readonly type: OverrideType
  readonly severity: Severity
  readonly description: string
}

/** How trust moved, as people and the ledger read it. */
export type Moved = {
  readonly from: number
  readonly to: number
  readonly promoted?: true
  readonly demoted?: true
}

/** The row as stored from now on, for the entry of the change (L20). */
type Stored = ReturnType<typeof storedTrust>
type Written = Stored & { readonly trust: Moved }

export type Pair = { readonly agent: string; readonly domain: string }

export type Scores = ReturnType<typeof createScores>

/**
 * The only writer of trust. Every change locks its row, and commits with the decision that caused it and
 * its ledger entry (T10).
 */
export function createScores(store: GovernanceStore, rules: Rules, now: Clock) {
  /** Locked, from its first moment: there is no lock on what is not there yet. */
  async function load(tx: Tx, { agent, domain }: Pair, by = systemActor): Promise<Trust> {
    const known = await store.lock(tx, agent, domain)
    if (known) return known
    const fresh = newTrust(rules.trust, now())
    if ((await store.create(tx, agent, domain, fresh)) > 0)
      tx.append({
        type: 'trust.created',
        actor: by,
        domain,
        subject: agent,
        data: { trust: { to: fresh.score }, ...storedTrust({ agent, domain }, fresh, null) },
      })
    return (await store.lock(tx, agent, domain)) ?? fresh
  }

  async function write(
    tx: Tx,
    pair: Pair,
    change: Change,
    cause: string,
    before?: Trust,
  ): Promise<Written> {
    const { agent, domain } = pair
    await store.save(tx, agent, domain, change.trust)
    const { from, to, promoted, demoted } = change
    const turn = promoted ? ', promoted' : demoted ? ', demoted' : ''
    const point = { id: newId(), agent, domain, at: now(), score: to, cause: cause + turn }
    await store.point(tx, point)
    return {
      trust: { from, to, ...(promoted && { promoted }), ...(demoted && { demoted }) },
      ...storedTrust(pair, change.trust, before),
    }
  }

  return {
    load,
    async approve(tx: Tx, pair: Pair, risk: Risk, by: Actor): Promise<Written> {
      const isClaim = by.verified === false
      const before = await load(tx, pair)
      const change = approved(rules.trust, before, risk, now(), isClaim)
      return write(tx, pair, change, 'approved', before)
    },

    /** With its record, whether or not it answers a proposal (T5). */
    async override(
      tx: Tx,
      pair: Pair,
      risk: Risk,
      override: Override,
      about: { action: string; approval?: string; by: Actor },
    ): Promise<Written & { id: string; streak: number }> {
      const before = await load(tx, pair)
      const change = overridden(rules.trust, before, risk, override, now())
      const written = await write(tx, pair, change, override.type, before)
      const { from, to } = written.trust
      const id = newId()
      await store.override(tx, {
        id,
        agent: pair.agent,
        domain: pair.domain,
        approval: about.approval ?? null,
        action: about.action,
        type: override.type,
        severity: override.severity,
        description: override.description,
        change: Math.round((to - from) * 10_000) / 10_000,
        by: about.by.id,
        at: now(),
      })
      return { ...written, id, streak: change.trust.streak }
    },

    /** A spot check that found nothing wrong is evidence, never score (T14). */
    async clean(tx: Tx, pair: Pair, risk: Risk, by: Actor): Promise<Partial<Stored>> {
      if (by.verified === false) return {}
      const { agent, domain } = pair
      const before = await load(tx, pair)
      const trust = checkedClean(rules.trust, before, risk, now())
      await store.save(tx, agent, domain, trust)
      return storedTrust(pair, trust, before)
    },

    async set(tx: Tx, pair: Pair, score: number): Promise<Written> {
      const before = await load(tx, pair)
      const trust = setByHand(rules.trust, before, score, now())
      const { score: from } = current(rules.trust, before, now())
      const change = { trust, from, to: trust.score, promoted: false, demoted: false }
      return write(tx, pair, change, 'set by hand')
    },

    /** Loads it and starts its idle clock again (T9). Within a day nothing fades: that is one statement. */
    async begin(tx: Tx, pair: Pair): Promise<{ trust: Trust; faded?: Stored }> {
      const { agent, domain } = pair
      const at = now()
      const active = await store.touch(tx, { agent, domain, at, since: at - dayMilliseconds })
      if (active) return { trust: active }
      const before = await load(tx, pair)
      const trust = touched(rules.trust, before, at)
      await store.save(tx, agent, domain, trust)
      return { trust, faded: storedTrust(pair, trust, before) }
    },

    /** A proposal: the idle clock starts again (T9). Tells how many there were since. */
    async touch(
      tx: Tx,
      pair: Pair,
      before: Trust,
      since: number,
    ): Promise<{ used: number; faded?: Stored }> {
      const at = now()
      const after = touched(rules.trust, before, at)
      const used = await store.saveCounting(tx, pair.agent, pair.domain, after, since)
      return { used, ...(idleDays(before, at) > 0 && { faded: storedTrust(pair, after, before) }) }
    },

    save: (tx: Tx, { agent, domain }: Pair, trust: Trust) => store.save(tx, agent, domain, trust),
  }
}
