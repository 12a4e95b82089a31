import type { Risk } from '#approvals'
import { risks } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { storedKind, storedTrust } from './recorded-tables.ts'
import { creditToAct, kindCreditToAct, newStanding } from './rules/standing.ts'
import type { TrustStanding } from './rules/standing.ts'
import { idleDays } from './rules/trust.ts'
import type { Trust } from './rules/trust.ts'
import type { TrustKey } from './trust-service.ts'
import type { GovernanceStore, KindRow } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: GovernanceStore
  readonly kindOf: (action: string) => string
  readonly now: Clock
}

const legacyPrice = 50
const minLegacyCredit = -150
const batchSize = 200

/**
 * Converts the evidence of earlier versions to credit, once, with an entry for each row (T11). An agent that could
 * act alone still can, and is checked as often as a new agent.
 */
export async function convertEvidence({ db, store, kindOf, now }: Deps): Promise<void> {
  /** Different spellings of an action may be one kind. */
  function toKindRows(pair: TrustKey, approved: Awaited<ReturnType<typeof store.approvedKinds>>) {
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
  for (let from = 0; from < pairs.length; from += batchSize)
    await db.transact(async (tx) => {
      for (const { agent, domain, trust: stored, evidence } of pairs.slice(
        from,
        from + batchSize,
      )) {
        const trust = convertTrust(stored, evidence, now())
        await store.save(tx, agent, domain, trust)
        const entry = { type: 'trust.converted', actor: systemActor, domain, subject: agent }
        tx.append({ ...entry, data: storedTrust({ agent, domain }, trust) })
        for (const row of toKindRows(
          { agent, domain },
          await store.approvedKinds(tx, agent, domain),
        )) {
          await store.saveKind(tx, row)
          tx.append({ ...entry, data: storedKind(row) })
        }
      }
    })
}

export function convertTrust(
  trust: Trust,
  evidence: Readonly<Record<Risk, OldEvidence>>,
  at: number,
): Trust {
  const isFaultless = risks.every((risk) => evidence[risk].bad === 0)
  const days = idleDays(trust, at)
  const convertRisk = (risk: Risk) => convertStanding(decayEvidence(evidence[risk], days))
  return {
    ...trust,
    vouched: trust.vouched && trust.score >= 0.8 && isFaultless,
    seenAt: at,
    standings: {
      low: convertRisk('low'),
      normal: convertRisk('normal'),
      high: convertRisk('high'),
    },
  }
}

export function convertStanding(evidence: OldEvidence): TrustStanding {
  const { good, bad } = evidence
  // A row that was edited by hand may contain anything; PostgreSQL stores NaN, too.
  if (![good, bad].every((amount) => Number.isFinite(amount) && amount >= 0)) return newStanding
  const owed = Math.floor(good) - legacyPrice * Math.ceil(bad)
  const credit = wasGateOpen(evidence)
    ? creditToAct
    : Math.max(minLegacyCredit, Math.min(creditToAct - 1, owed))
  return { credit, strikes: 0, clean: 0 }
}

/**
 * The evidence of earlier versions: correct actions, and wrong ones by weight. Rows that still have it are converted
 * once (T11).
 */
export type OldEvidence = { readonly good: number; readonly bad: number }

/** The success rate that acting alone required. */
const requiredRate = 0.95
const requiredLevel = 0.8
const priorGood = 6.9536
const priorBad = 1
const maxEvidence = 100
const halfLifeDays = 17
/** After this time evidence is worth 2⁻¹⁰⁰ of itself; a smaller factor would underflow to zero. */
const maxIdleDays = 100 * halfLifeDays

const scaleEvidence = ({ good, bad }: OldEvidence, factor: number): OldEvidence => ({
  good: good * factor,
  bad: bad * factor,
})

export const decayEvidence = (evidence: OldEvidence, idleDays: number): OldEvidence =>
  scaleEvidence(evidence, 0.5 ** (Math.min(idleDays, maxIdleDays) / halfLifeDays))

const capEvidence = (evidence: OldEvidence): OldEvidence =>
  scaleEvidence(evidence, Math.min(1, maxEvidence / (evidence.good + evidence.bad)))

/** True if the gate of earlier versions was open. */
export const wasGateOpen = (evidence: OldEvidence): boolean =>
  evidenceLevel(evidence) >= requiredLevel

/** Returns the probability that the agent is right in at least 95 of 100 actions. */
export function evidenceLevel(evidence: OldEvidence): number {
  const { good, bad } = capEvidence(evidence)
  return betaCdf(1 - requiredRate, priorBad + bad, priorGood + good)
}

/**
 * P(X ≤ x) for X ~ Beta(a, b), the regularized incomplete beta function: its continued fraction (DLMF 8.17.22), which
 * converges fast below the mean; above the mean the mirrored one does. The error against 40 digits of mpmath is below
 * 1e-13 for all possible evidence, in 0.2 µs.
 */
function betaCdf(x: number, a: number, b: number): number {
  if (x < (a + 1) / (a + b + 2)) return lowerBetaCdf(x, a, b)
  return Math.max(0, 1 - lowerBetaCdf(1 - x, b, a))
}

function lowerBetaCdf(x: number, a: number, b: number): number {
  const scale = a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)
  return Math.exp(scale) / (a * continuedFraction(x, a, b))
}

/** Evaluated from the front (modified Lentz); neither part can vanish for 0 < x < mean. */
function continuedFraction(x: number, a: number, b: number): number {
  let value = 1
  let above = 1
  let below = 0
  for (let term = 1; term < 1000; term++) {
    const half = Math.floor(term / 2)
    const part =
      term % 2 === 0
        ? (half * (b - half) * x) / ((a + term - 1) * (a + term))
        : (-(a + half) * (a + b + half) * x) / ((a + term - 1) * (a + term))
    below = 1 / (1 + part * below)
    above = 1 + part / above
    const step = above * below
    value *= step
    if (Math.abs(step - 1) < 1e-15) break
  }
  return value
}

/** Stirling's series, good to 1e-14 from 10 on; Γ(z + 1) = zΓ(z) raises smaller arguments. */
function logGamma(z: number): number {
  let raised = z
  let product = 1
  for (; raised < 10; raised++) product *= raised
  const inverse = 1 / raised
  const square = inverse * inverse
  const series =
    inverse *
    (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
  return (
    (raised - 0.5) * Math.log(raised) -
    raised +
    0.5 * Math.log(2 * Math.PI) +
    series -
    Math.log(product)
  )
}
