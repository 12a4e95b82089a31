import type { Risk } from '#approvals'
import type { Config } from '#base/config/index.ts'
import type { OverrideType, Severity } from '#base/override.ts'
import type { Closed, TrustStanding, StandingRules, Unread } from './standing.ts'
import {
  applyCleanCheck,
  applyIdleDecay,
  applyRight,
  applyWrongAlone,
  gateClosed,
  newStanding,
  toStandingRules,
  uncheckedWorth,
} from './standing.ts'

/** Computes how trust is earned, lost and spent. Pure: time comes in, values go out. */

/** The trust of an agent in a domain, as of `activeAt`; `applyDecay` returns its current value. */
export type Trust = {
  readonly score: number
  /** Approvals by people; autonomous actions prove nothing. */
  readonly approvals: number
  /** Overrides that were the agent's fault (T5). */
  readonly overrides: number
  readonly streak: number
  /** Promoted since the last demotion (T7). */
  readonly promoted: boolean
  /** A person set the score to 0.8 or more, and no fault was found since (T16). */
  readonly vouched: boolean
  /** Unverified callers granted part of the score (A3). */
  readonly claimed: boolean
  readonly activeAt: number
  /** The last review by people. Credit decays from this time or from `activeAt`, whichever is later. */
  readonly seenAt: number
  readonly standings: Readonly<Record<Risk, TrustStanding>>
  readonly client: string | null
}

export type TrustRules = {
  readonly defaultLevel: number
  readonly approvalImpact: number
  readonly promoteAfter: number
  readonly promoteThreshold: number
  readonly demoteAfter: number
  readonly decayPerDay: number
  readonly gate: boolean | 'strict'
  readonly standing: StandingRules
}

export const toTrustRules = ({
  trust,
  feedback,
}: Pick<Config, 'trust' | 'feedback'>): TrustRules => ({
  defaultLevel: trust.default_level,
  approvalImpact: feedback.approval_trust_impact,
  promoteAfter: trust.auto_promote_after,
  promoteThreshold: trust.auto_promote_threshold,
  demoteAfter: trust.auto_demote_after,
  decayPerDay: trust.decay_per_day,
  gate: trust.evidence_gate,
  standing: toStandingRules({ trust }),
})

export { overrideTypes, severities } from '#base/override.ts'
export type { OverrideType, Severity }

export type OverrideKind = { readonly type: OverrideType; readonly severity: Severity }

const baseLoss: Record<OverrideType, number> = {
  agent_wrong: 0.08,
  missing_context: 0.03,
  edge_case: 0.02,
  human_preference: 0.01,
  policy_change: 0,
}
const severityFactor: Record<Severity, number> = { low: 0.5, medium: 1, high: 1.5, critical: 2.5 }

/** The score that an override costs, and its ratio to a plain mistake (T4, T11). */
const scoreLoss = ({ type, severity }: OverrideKind) => baseLoss[type] * severityFactor[severity]
export const overrideWeight = (kind: OverrideKind): number => scoreLoss(kind) / baseLoss.agent_wrong

export const isAgentFault = (type: OverrideType) =>
  type !== 'human_preference' && type !== 'policy_change'

/** The weight in credit: preferences and changed rules cost nothing (T11). */
export const creditWeight = (kind: OverrideKind): number =>
  isAgentFault(kind.type) ? overrideWeight(kind) : 0

const demotionLoss = 0.1
const promotedScore = 0.8
const vouchedScore = 0.8
const decayFloor = 0.1
export const msPerDay = 86_400_000

/** Twenty-five approvals of 0.02 must raise 0.3 to exactly 0.8 despite floating point. */
const round = (score: number) => Math.round(score * 10_000) / 10_000

/** The effect of a decision: `from` and `to` are the scores at that moment. */
export type Change = {
  readonly trust: Trust
  readonly from: number
  readonly to: number
  readonly promoted: boolean
  readonly demoted: boolean
}

export const initialTrust = (rules: TrustRules, at: number): Trust => ({
  score: round(rules.defaultLevel),
  approvals: 0,
  overrides: 0,
  streak: 0,
  promoted: false,
  vouched: false,
  claimed: false,
  activeAt: at,
  seenAt: at,
  standings: { low: newStanding, normal: newStanding, high: newStanding },
  client: null,
})

/** Returns the current trust (T8). Do not store it: decay continues from the last activity. */
export function applyDecay(rules: TrustRules, trust: Trust, at: number): Trust {
  const days = idleDays(trust, at)
  if (days === 0) return trust
  const score = decayScore(rules, trust.score, days)
  return {
    ...trust,
    score,
    vouched: trust.vouched && score >= vouchedScore,
    standings: decayStandings(trust, at),
  }
}

/** Restarts the idle clock for a proposal, from the remaining score (T8, T9). */
export const markActive = (rules: TrustRules, trust: Trust, at: number): Trust => ({
  ...applyDecay(rules, trust, at),
  activeAt: Math.max(trust.activeAt, at),
})

/**
 * The value of an approval. With authentication off it changes only the score (A3). A change that a person edited,
 * or approved in bulk without opening it, does not prove a correct action.
 */
export type Worth = 'credit' | 'score' | 'claim'

export function applyApproval(
  rules: TrustRules,
  trust: Trust,
  risk: Risk,
  at: number,
  worth: Worth = 'credit',
): Change {
  const before = markActive(rules, trust, at)
  const after: Trust = {
    ...before,
    score: round(Math.min(1, before.score + rules.approvalImpact)),
    approvals: before.approvals + 1,
    streak: 0,
    ...(worth === 'claim' && { vouched: false, claimed: true }),
    ...(worth === 'credit' && applyReview(before, risk, at, (standing) => applyRight(standing))),
  }
  const promoted = earnsPromotion(rules, after)
  const to = promoted ? Math.max(after.score, promotedScore) : after.score
  return {
    trust: { ...after, score: to, promoted: after.promoted || promoted },
    from: before.score,
    to,
    promoted,
    demoted: false,
  }
}

function earnsPromotion(rules: TrustRules, trust: Trust): boolean {
  const accuracy = computeAccuracy(trust) ?? 0
  return (
    !trust.promoted && trust.approvals >= rules.promoteAfter && accuracy >= rules.promoteThreshold
  )
}

/**
 * Does not make an agent active, so decay continues: only the current score is reduced. `isAlone`: the mistake was in
 * an autonomous action.
 */
export function applyOverride(
  rules: TrustRules,
  trust: Trust,
  risk: Risk,
  kind: OverrideKind,
  at: number,
  isAlone = false,
): Change {
  const { type } = kind
  const loss = scoreLoss(kind)
  const streak = trust.streak + (isAgentFault(type) ? 1 : 0)
  const demoted = isAgentFault(type) && streak >= rules.demoteAfter
  const { score: from, vouched } = applyDecay(rules, trust, at)
  const to = round(Math.max(0, from - loss - (demoted ? demotionLoss : 0)))
  const weight = creditWeight(kind)
  const after: Trust = {
    ...trust,
    // Above the floor decay continues, so the decay so far must not be subtracted twice.
    score: to > decayFloor ? round(trust.score - (from - to)) : to,
    overrides: trust.overrides + (isAgentFault(type) ? 1 : 0),
    streak: demoted ? 0 : streak,
    promoted: trust.promoted && !demoted,
    vouched: vouched && !isAgentFault(type) && to >= vouchedScore,
    ...(isAlone &&
      weight > 0 &&
      applyReview(trust, risk, at, (standing) =>
        applyWrongAlone(rules.standing, standing, weight),
      )),
  }
  return { trust: after, from, to, promoted: false, demoted }
}

/** A clean spot check changes the standing and never the score (T14). */
export const applyCleanSpotCheck = (trust: Trust, risk: Risk, at: number): Trust => ({
  ...trust,
  ...applyReview(trust, risk, at, applyCleanCheck),
})

/** A clean check of a look-back, which is not random: it only adds credit (T14). */
export const applyCleanLookBack = (trust: Trust, risk: Risk, at: number): Trust => ({
  ...trust,
  ...applyReview(trust, risk, at, (standing) => applyRight(standing, uncheckedWorth)),
})

/** Clears strikes and debts; earned credit stays (T16). */
export const applyForgiveness = (trust: Trust, risk: Risk, at: number): Trust => ({
  ...trust,
  ...applyReview(trust, risk, at, ({ credit, clean }) => ({
    credit: Math.max(0, credit),
    strikes: 0,
    clean,
  })),
})

/** Applies a revocation: a later agent with the name has the strikes and debts, and no earned credit (I4). */
export const applyRevocation = (trust: Trust): Trust => ({
  ...trust,
  vouched: false,
  client: null,
  standings: eachStanding(trust.standings, ({ credit, strikes }) => ({
    credit: Math.min(0, credit),
    strikes,
    clean: 0,
  })),
})

/** Records the client of the agent: a new client is checked as often as a new agent (T14). */
export const applyClient = (trust: Trust, client: string): Trust => ({
  ...trust,
  client,
  ...(trust.client !== null && {
    standings: eachStanding(trust.standings, (standing) => ({ ...standing, clean: 0 })),
  }),
})

/** Counts from now; otherwise decay would reduce the new score of a long idle agent (T16). */
export function setScore(rules: TrustRules, trust: Trust, score: number, at: number): Trust {
  const clamped = round(Math.min(1, Math.max(0, score)))
  return {
    ...markActive(rules, trust, at),
    score: clamped,
    streak: 0,
    vouched: clamped >= vouchedScore,
    claimed: false,
  }
}

/** Inputs of the gate besides trust: the credit of the kind of action, and the unread checks. */
export type Proof = { readonly kind: number; readonly unread: Unread }

/** Returns why an agent may not act alone in this risk class (T11, T13, T16). `trust` is the current trust. */
export function closedGate(
  rules: TrustRules,
  trust: Trust,
  risk: Risk,
  { kind, unread }: Proof,
): Closed | undefined {
  if (rules.gate === false && !trust.claimed) return undefined
  const standing = trust.standings[risk]
  const isUnproven = standing.credit >= 0 && standing.strikes === 0 && kind >= 0
  const isVouched = trust.vouched && risk !== 'high' && rules.gate !== 'strict' && isUnproven
  const proven = isVouched ? applyRight(standing, Infinity) : standing
  return gateClosed(rules.standing, proven, isVouched ? Infinity : kind, unread)
}

/** Returns the trust that counts for a caller: among unverified callers, claims count. */
export const trustForCaller = ({ verified }: { readonly verified: boolean }, trust: Trust): Trust =>
  verified ? trust : { ...trust, claimed: false }

/** Returns the share of approvals among decisions about the agent's own work (T7, G5). */
export function computeAccuracy({ approvals, overrides }: Trust): number | null {
  return approvals + overrides === 0 ? null : approvals / (approvals + overrides)
}

function decayScore(rules: TrustRules, score: number, days: number): number {
  if (score <= decayFloor) return score
  return round(Math.max(decayFloor, score - days * rules.decayPerDay))
}

/** Whole days; a clock that moves back yields zero. */
const daysBetween = (from: number, to: number): number =>
  Math.max(0, Math.floor((to - from) / msPerDay))

export const idleDays = ({ activeAt }: Trust, at: number): number => daysBetween(activeAt, at)

const eachStanding = (
  { low, normal, high }: Trust['standings'],
  change: (standing: TrustStanding) => TrustStanding,
): Trust['standings'] => ({ low: change(low), normal: change(normal), high: change(high) })

function decayStandings({ standings, activeAt, seenAt }: Trust, at: number): Trust['standings'] {
  const days = daysBetween(Math.max(activeAt, seenAt), at)
  return days === 0
    ? standings
    : eachStanding(standings, (standing) => applyIdleDecay(standing, days))
}

/** Applies a review: existing credit is decayed to today, then the change counts in full. */
function applyReview(
  trust: Trust,
  risk: Risk,
  at: number,
  change: (standing: TrustStanding) => TrustStanding,
): Pick<Trust, 'standings' | 'seenAt'> {
  const standings = decayStandings(trust, at)
  return {
    standings: { ...standings, [risk]: change(standings[risk]) },
    seenAt: Math.max(trust.seenAt, at),
  }
}
