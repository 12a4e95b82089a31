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

const oldPrice = 50
const deepest = -150
const atOnce = 200

/**
 * Turns the evidence of earlier versions into credit, once, with an entry for each row (T11). Whoever could act alone
 * still can, and is checked as often as a new agent.
 */
export async function convertEvidence({ db, store, kindOf, now }: Deps): Promise<void> {
  /** Actions that are spelled differently may be of one kind. */
  function kindsOf(pair: TrustKey, approved: Awaited<ReturnType<typeof store.approvedKinds>>) {
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
  const of = (risk: Risk) => convertedStanding(decayEvidence(evidence[risk], days))
  return {
    ...trust,
    vouched: trust.vouched && trust.score >= 0.8 && isFaultless,
    seenAt: at,
    standings: { low: of('low'), normal: of('normal'), high: of('high') },
  }
}

export function convertedStanding(evidence: OldEvidence): TrustStanding {
  const { good, bad } = evidence
  // A row that was edited by hand may hold anything; PostgreSQL stores NaN, too.
  if (![good, bad].every((amount) => Number.isFinite(amount) && amount >= 0)) return newStanding
  const owed = Math.floor(good) - oldPrice * Math.ceil(bad)
  const credit = wasOpen(evidence)
    ? creditToAct
    : Math.max(deepest, Math.min(creditToAct - 1, owed))
  return { credit, strikes: 0, clean: 0 }
}

/**
 * The evidence that earlier versions kept: actions found right, and wrong ones by weight. Rows that still have it are
 * converted once (T11).
 */
export type OldEvidence = { readonly good: number; readonly bad: number }

/** The rate of success that acting alone asked for. */
const wantedRate = 0.95
const wantedLevel = 0.8
const priorGood = 6.9536
const priorBad = 1
const mostEvidence = 100
const halfLifeDays = 17
/** By then evidence is worth 2⁻¹⁰⁰ of itself; beyond, a factor would in the end be zero. */
const longestIdleDays = 100 * halfLifeDays

const scaleEvidence = ({ good, bad }: OldEvidence, factor: number): OldEvidence => ({
  good: good * factor,
  bad: bad * factor,
})

export const decayEvidence = (evidence: OldEvidence, idleDays: number): OldEvidence =>
  scaleEvidence(evidence, 0.5 ** (Math.min(idleDays, longestIdleDays) / halfLifeDays))

const capped = (evidence: OldEvidence): OldEvidence =>
  scaleEvidence(evidence, Math.min(1, mostEvidence / (evidence.good + evidence.bad)))

/** Whether the gate of earlier versions was open. */
export const wasOpen = (evidence: OldEvidence): boolean => evidenceLevel(evidence) >= wantedLevel

/** How sure the evidence made us that the agent is right at least 95 times of 100. */
export function evidenceLevel(evidence: OldEvidence): number {
  const { good, bad } = capped(evidence)
  return shareBelow(1 - wantedRate, priorBad + bad, priorGood + good)
}

/**
 * P(X ≤ x) for X ~ Beta(a, b), the regularised incomplete beta function: its continued fraction
 * (DLMF 8.17.22), which converges fast below the mean; above it the mirrored one does. Against 40
 * digits of mpmath it is off by less than 1e-13 wherever evidence can be, in 0.2 µs.
 */
function shareBelow(x: number, a: number, b: number): number {
  if (x < (a + 1) / (a + b + 2)) return lowerShare(x, a, b)
  return Math.max(0, 1 - lowerShare(1 - x, b, a))
}

function lowerShare(x: number, a: number, b: number): number {
  const scale = a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)
  return Math.exp(scale) / (a * fraction(x, a, b))
}

/** Evaluated from the front (modified Lentz); neither part can vanish for 0 < x < mean. */
function fraction(x: number, a: number, b: number): number {
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

/** Stirling's series, good to 1e-14 from 10 on; smaller arguments are raised by Γ(z + 1) = zΓ(z). */
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
