import type { Caller } from '#base/caller.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import type { Risk } from '#approvals'
import { storedCredit, storedKind, storedTrust } from './recorded-tables.ts'
import type { KindChange } from './recorded-tables.ts'
import type { Rules } from './rules/mode-decision.ts'
import {
  applyRightOfKind,
  applyWrongAloneOfKind,
  applyWrongAsked,
  creditToAct,
  uncheckedWorth,
} from './rules/standing.ts'
import type { GovernanceStore } from './store.ts'
import type { TrustMove } from './wire/trust.ts'
import {
  applyApproval,
  applyCleanSpotCheck,
  creditWeight,
  applyDecay,
  msPerDay,
  applyForgiveness,
  idleDays,
  applyCleanLookBack,
  initialTrust,
  applyOverride,
  applyRevocation,
  applyClient,
  setScore,
  markActive,
} from './rules/trust.ts'
import type { Change, OverrideType, Severity, Trust, Worth } from './rules/trust.ts'

export type Override = {
  readonly type: OverrideType
  readonly severity: Severity
  readonly description: string
}

/** The new row, for the entry of the change (L20). */
type Stored = ReturnType<typeof storedTrust>
type TrustUpdate = Stored & { readonly trust: TrustMove }
type TrustPoint = {
  readonly score: number
  readonly cause: string
  readonly risk: Risk
  readonly mark: Mark | undefined
}

/** The result of an override; `needsLookBack` requests a review of other actions (T14). */
export type OverrideResult = {
  readonly update: TrustUpdate
  readonly id: string
  readonly streak: number
  readonly needsLookBack: boolean
}

export type TrustKey = { readonly agent: string; readonly domain: string }

/** A judged action: its risk class and, if known, its kind (T13). */
export type JudgedAction = { readonly risk: Risk; readonly kind?: string }

/** Gate event of a risk class, for the trust history. */
export type Mark = 'opened' | 'closed' | 'look_back' | 'forgiven'

export type TrustService = ReturnType<typeof createTrustService>

/**
 * The only writer of trust. Every change locks its row and commits with the decision that caused it and its ledger
 * entry (T10).
 */
export function createTrustService(store: GovernanceStore, rules: Rules, now: Clock) {
  /** Creates the record first if needed, because a missing row cannot be locked. */
  async function load(tx: Tx, { agent, domain }: TrustKey, by = systemActor): Promise<Trust> {
    const existing = await store.lock(tx, agent, domain)
    if (existing) return existing
    const fresh = initialTrust(rules.trust, now())
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
    pair: TrustKey,
    change: Change,
    cause: string,
    { risk, before, kind }: { risk?: Risk; before?: Trust; kind?: KindChange | undefined } = {},
  ): Promise<TrustUpdate> {
    const { agent, domain } = pair
    await store.save(tx, agent, domain, change.trust)
    const { from, to, promoted, demoted } = change
    const suffix = promoted ? ', promoted' : demoted ? ', demoted' : ''
    const mark =
      risk && before && findMark(applyDecay(rules.trust, before, now()), change.trust, risk)
    await point(tx, pair, { score: to, cause: cause + suffix, risk, mark })
    return {
      trust: { from, to, ...(promoted && { promoted }), ...(demoted && { demoted }) },
      ...storedCredit(pair, change.trust, before, kind),
    }
  }

  const point = (
    tx: Tx,
    { agent, domain }: TrustKey,
    { score, cause, risk, mark }: Omit<TrustPoint, 'risk'> & { risk?: Risk | undefined },
  ) =>
    store.point(tx, {
      id: newId(),
      agent,
      domain,
      at: now(),
      score,
      cause,
      mark: mark ?? null,
      risk: mark && risk ? risk : null,
    })

  async function kindChange(
    tx: Tx,
    pair: TrustKey,
    { risk, kind }: JudgedAction,
    change: (credit: number) => number,
  ): Promise<KindChange | undefined> {
    if (kind === undefined) return undefined
    const from = await store.kind(tx, { ...pair, risk, kind })
    const credit = change(from ?? 0)
    if (credit === (from ?? 0)) return undefined
    const row = { ...pair, risk, kind, credit }
    await store.saveKind(tx, row)
    return { row, from }
  }

  return {
    load,
    async approve(
      tx: Tx,
      pair: TrustKey,
      judged: JudgedAction,
      by: Actor,
      worth: Worth,
    ): Promise<TrustUpdate> {
      const counted = by.verified === false ? 'claim' : worth
      const before = await load(tx, pair)
      const change = applyApproval(rules.trust, before, judged.risk, now(), counted)
      const kind =
        counted === 'credit'
          ? await kindChange(tx, pair, judged, (credit) => applyRightOfKind(credit))
          : undefined
      return write(tx, pair, change, 'approved', { risk: judged.risk, before, kind })
    },

    /**
     * With its record, whether or not it answers a proposal (T5). `isAlone`: it was done without asking. `needsLookBack`
     * in the answer: others that it did alone are to be looked at (T14).
     */
    async override(
      tx: Tx,
      pair: TrustKey,
      judged: JudgedAction,
      override: Override,
      about: { action: string; approval?: string; by: Actor; isAlone: boolean },
    ): Promise<OverrideResult> {
      const { by } = about
      const isKnown = by.verified !== false
      const isAlone = isKnown && about.isAlone
      const weight = isKnown ? creditWeight(override) : 0
      const before = await load(tx, pair)
      const change = applyOverride(rules.trust, before, judged.risk, override, now(), isAlone)
      const kind = await kindChange(tx, pair, judged, (credit) =>
        isAlone
          ? applyWrongAloneOfKind(credit, weight)
          : applyWrongAsked(rules.trust.standing, credit, weight),
      )
      const written = await write(tx, pair, change, override.type, {
        risk: judged.risk,
        before,
        kind,
      })
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
        by: by.id,
        at: now(),
      })
      return {
        update: written,
        id,
        streak: change.trust.streak,
        needsLookBack: isAlone && weight > 0,
      }
    },

    /** A clean check changes the standing, never the score (T14). */
    async clean(
      tx: Tx,
      pair: TrustKey,
      judged: JudgedAction,
      isLookBack: boolean,
    ): Promise<Stored> {
      const { agent, domain } = pair
      const { risk } = judged
      const before = await load(tx, pair)
      const trust = (isLookBack ? applyCleanLookBack : applyCleanSpotCheck)(before, risk, now())
      const kind = await kindChange(tx, pair, judged, (credit) =>
        applyRightOfKind(credit, uncheckedWorth),
      )
      await store.save(tx, agent, domain, trust)
      const was = applyDecay(rules.trust, before, now())
      const mark = findMark(was, trust, risk)
      if (mark) await point(tx, pair, { score: was.score, cause: 'checked', risk, mark })
      return storedCredit(pair, trust, before, kind)
    },

    /** Records a look-back in the trust history. */
    async lookBack(tx: Tx, pair: TrustKey, risk: Risk): Promise<void> {
      const { score } = applyDecay(rules.trust, await load(tx, pair), now())
      await point(tx, pair, { score, cause: 'look-back', risk, mark: 'look_back' })
    },

    /** Clears strikes and debts in a risk class (T16). */
    async forgive(tx: Tx, pair: TrustKey, risk: Risk): Promise<Stored[]> {
      const before = await load(tx, pair)
      const trust = applyForgiveness(before, risk, now())
      await store.save(tx, pair.agent, pair.domain, trust)
      const { score } = applyDecay(rules.trust, before, now())
      await point(tx, pair, { score, cause: 'forgiven', risk, mark: 'forgiven' })
      const kinds = await store.kinds(tx, pair.agent, pair.domain)
      const debts = kinds.filter((kind) => kind.risk === risk && kind.credit < 0)
      const paid = debts.map((kind) => ({ ...kind, credit: 0 }))
      for (const row of paid) await store.saveKind(tx, row)
      return [storedTrust(pair, trust, before), ...paid.map(storedKind)]
    },

    /** Removes what a revoked agent earned, in all its domains (I4). */
    async part(tx: Tx, agent: string): Promise<{ domain: string; stored: Stored }[]> {
      const changes = []
      for (const { domain } of await store.all(tx, { agent })) {
        const before = await load(tx, { agent, domain })
        const trust = applyRevocation(before)
        await store.save(tx, agent, domain, trust)
        changes.push({ domain, stored: storedTrust({ agent, domain }, trust, before) })
        const kinds = await store.kinds(tx, agent, domain)
        for (const kind of kinds.filter(({ credit }) => credit > 0)) {
          const row = { ...kind, credit: 0 }
          await store.saveKind(tx, row)
          changes.push({ domain, stored: storedKind(row) })
        }
      }
      return changes
    },

    /** Records the client of autonomous actions; a new client is checked as often as a new agent (T14). */
    async seenThrough(tx: Tx, pair: TrustKey, client: string): Promise<Stored | undefined> {
      const before = await load(tx, pair)
      if (before.client === client) return undefined
      const trust = applyClient(before, client)
      await store.save(tx, pair.agent, pair.domain, trust)
      return storedTrust(pair, trust, before)
    },

    async set(tx: Tx, pair: TrustKey, score: number): Promise<TrustUpdate> {
      const before = await load(tx, pair)
      const trust = setScore(rules.trust, before, score, now())
      const { score: from } = applyDecay(rules.trust, before, now())
      const change = { trust, from, to: trust.score, promoted: false, demoted: false }
      return write(tx, pair, change, 'set by hand')
    },

    /** Loads trust and restarts its idle clock (T9). Within a day nothing decays, so one statement is enough. */
    async begin(tx: Tx, pair: TrustKey): Promise<{ trust: Trust; faded?: Stored }> {
      const { agent, domain } = pair
      const at = now()
      const active = await store.touch(tx, { agent, domain, at, since: at - msPerDay })
      if (active) return { trust: active }
      const before = await load(tx, pair)
      const trust = markActive(rules.trust, before, at)
      await store.save(tx, agent, domain, trust)
      return { trust, faded: storedTrust(pair, trust, before) }
    },

    /** Autonomous actions keep an agent active, too (T9); after more than an idle day it would not act alone. */
    async stayActive(tx: Tx, { agent, domain }: TrustKey, { activeAt }: Trust): Promise<void> {
      const at = now()
      if (at - activeAt < msPerDay / 2) return
      await store.touch(tx, { agent, domain, at, since: at - msPerDay })
    },

    /** Restarts the idle clock for a proposal (T9). Returns the number of requests since that time. */
    async touch(
      tx: Tx,
      pair: TrustKey,
      before: Trust,
      since: number,
    ): Promise<{ used: number; faded?: Stored }> {
      const at = now()
      const after = markActive(rules.trust, before, at)
      const used = await store.saveCounting(tx, pair.agent, pair.domain, after, since)
      return { used, ...(idleDays(before, at) > 0 && { faded: storedTrust(pair, after, before) }) }
    },

    save: (tx: Tx, { agent, domain }: TrustKey, trust: Trust) =>
      store.save(tx, agent, domain, trust),
  }
}

function findMark(before: Trust, after: Trust, risk: Risk): Mark | undefined {
  const [was, is] = [before.standings[risk], after.standings[risk]]
  if (was.credit < creditToAct && is.credit === creditToAct) return 'opened'
  if (was.credit === creditToAct && is.credit < creditToAct) return 'closed'
  return is.strikes < was.strikes ? 'forgiven' : undefined
}

/** Causes of points without a score change, which reveal checks: for people only (T14). */
const ofChecks = ['checked', 'look-back']

export const pointsFor = <P extends { readonly cause: string }>(
  { kind }: Pick<Caller, 'kind'>,
  points: readonly P[],
): readonly P[] =>
  kind === 'human' ? points : points.filter(({ cause }) => !ofChecks.includes(cause))
