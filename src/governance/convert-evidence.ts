import type { Risk } from '#approvals'
import { risks } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { storedKind, storedTrust } from './recorded.ts'
import { fadedEvidence, wasOpen } from './rules/old-evidence.ts'
import type { OldEvidence } from './rules/old-evidence.ts'
import { creditToAct, kindCreditToAct, newStanding } from './rules/standing.ts'
import type { Standing } from './rules/standing.ts'
import { idleDays } from './rules/trust.ts'
import type { Trust } from './rules/trust.ts'
import type { Pair } from './scores.ts'
import type { GovernanceStore, KindRow } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: GovernanceStore
  readonly kindOf: (action: string) => string
  readonly now: Clock
}

const oldPrice = 50
const deepest = -150
const atOnce = 200

/**
 * Turns the evidence of earlier versions into credit, once, with an entry for each row (T11). Whoever could act alone
 * still can, and is checked as often as a new agent.
 */
export async function convertEvidence({ db, store, kindOf, now }: Deps): Promise<void> {
  /** Actions that are spelled differently may be of one kind. */
  function kindsOf(pair: Pair, approved: Awaited<ReturnType<typeof store.approvedKinds>>) {
    const rows = new Map<string, KindRow>()
    for (const { risk, kind: action, count } of approved) {
      const kind = kindOf(action)
      const key = JSON.stringify([risk, kind])
      const credit = Math.min(kindCreditToAct, (rows.get(key)?.credit ?? 0) + Number(count))
      rows.set(key, { ...pair, risk, kind, credit })
    }
    return rows.values()
  }

  const pairs = await store.unconverted(db)
  for (let from = 0; from < pairs.length; from += atOnce)
    await db.transact(async (tx) => {
      for (const { agent, domain, trust: stored, evidence } of pairs.slice(from, from + atOnce)) {
        const trust = convertedTrust(stored, evidence, now())
        await store.save(tx, agent, domain, trust)
        const entry = { type: 'trust.converted', actor: systemActor, domain, subject: agent }
        tx.append({ ...entry, data: storedTrust({ agent, domain }, trust) })
        for (const row of kindsOf(
          { agent, domain },
          await store.approvedKinds(tx, agent, domain),
        )) {
          await store.saveKind(tx, row)
          tx.append({ ...entry, data: storedKind(row) })
        }
      }
    })
}

export function convertedTrust(
  trust: Trust,
  evidence: Readonly<Record<Risk, OldEvidence>>,
  at: number,
): Trust {
  const isFaultless = risks.every((risk) => evidence[risk].bad === 0)
  const days = idleDays(trust, at)
  const of = (risk: Risk) => convertedStanding(fadedEvidence(evidence[risk], days))
  return {
    ...trust,
    vouched: trust.vouched && trust.score >= 0.8 && isFaultless,
    seenAt: at,
    standings: { low: of('low'), normal: of('normal'), high: of('high') },
  }
}

export function convertedStanding(evidence: OldEvidence): Standing {
  const { good, bad } = evidence
  // A row that was edited by hand may hold anything; PostgreSQL stores NaN, too.
  if (![good, bad].every((amount) => Number.isFinite(amount) && amount >= 0)) return newStanding
  const owed = Math.floor(good) - oldPrice * Math.ceil(bad)
  const credit = wasOpen(evidence)
    ? creditToAct
    : Math.max(deepest, Math.min(creditToAct - 1, owed))
  return { credit, strikes: 0, clean: 0 }
}
