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
  standingRulesOf,
  uncheckedWorth,
} from './standing.ts'

/** How trust is earned, lost and spent. Pure: time comes in, values go out. */

/** Of one agent in one domain, as of `activeAt`: what it is worth now, `current` says. */
export type Trust = {
  readonly score: number
  /** By people; what an agent did by itself proves nothing. */
  readonly approvals: number
  /** Those that were the agent's fault (T5). */
  readonly overrides: number
  readonly streak: number
  /** Since the last demotion (T7). */
  readonly promoted: boolean
  /** A person set the score to 0.8 or more, and nothing speaks against it since (T16). */
  readonly vouched: boolean
  /** Some of the score was given by callers that nobody knows (A3). */
  readonly claimed: boolean
  readonly activeAt: number
  /** When people last judged its work. Credit fades from then or from `activeAt`, whichever is later. */
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
  standing: standingRulesOf({ trust }),
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

/** What an override costs, and how that compares with being plainly wrong (T4, T11). */
const lossOf = ({ type, severity }: OverrideKind) => baseLoss[type] * severityFactor[severity]
export const overrideWeight = (kind: OverrideKind): number => lossOf(kind) / baseLoss.agent_wrong

export const isAgentFault = (type: OverrideType) =>
  type !== 'human_preference' && type !== 'policy_change'

/** What it costs in credit: what is a matter of taste, or of rules that changed, costs nothing (T11). */
export const creditWeightOf = (kind: OverrideKind): number =>
  isAgentFault(kind.type) ? overrideWeight(kind) : 0

const demotionLoss = 0.1
const promotedScore = 0.8
const vouchedScore = 0.8
const decayFloor = 0.1
export const msPerDay = 86_400_000

/** Twenty-five approvals of 0.02 must carry 0.3 to 0.8, not to one bit short of it. */
const rounded = (score: number) => Math.round(score * 10_000) / 10_000

/** What a decision did: `from` and `to` are the scores as read at that moment. */
export type Change = {
  readonly trust: Trust
  readonly from: number
  readonly to: number
  readonly promoted: boolean
  readonly demoted: boolean
}

export const initialTrust = (rules: TrustRules, at: number): Trust => ({
  score: rounded(rules.defaultLevel),
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

/** As read now (T8). Not to be stored: its clock still runs from when the agent was last active. */
export function applyDecay(rules: TrustRules, trust: Trust, at: number): Trust {
  const days = idleDays(trust, at)
  if (days === 0) return trust
  const score = decayed(rules, trust.score, days)
  return {
    ...trust,
    score,
    vouched: trust.vouched && score >= vouchedScore,
    standings: fadedStandings(trust, at),
  }
}

/** A proposal: the clock starts again, from what was left (T8, T9). */
export const markActive = (rules: TrustRules, trust: Trust, at: number): Trust => ({
  ...applyDecay(rules, trust, at),
  activeAt: Math.max(trust.activeAt, at),
})

/**
 * What an approval counts for. Everyone in open mode moves the score, and nothing else (A3). What a person changed
 * before they approved it, or approved among many without opening it, was not seen right.
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
    score: rounded(Math.min(1, before.score + rules.approvalImpact)),
    approvals: before.approvals + 1,
    streak: 0,
    ...(worth === 'claim' && { vouched: false, claimed: true }),
    ...(worth === 'credit' && judged(before, risk, at, (standing) => applyRight(standing))),
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
 * Does not make an agent active, so the clock runs on: only the score as read now loses. `isAlone`: it was found in
 * what the agent had done without asking.
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
  const loss = lossOf(kind)
  const streak = trust.streak + (isAgentFault(type) ? 1 : 0)
  const demoted = isAgentFault(type) && streak >= rules.demoteAfter
  const { score: from, vouched } = applyDecay(rules, trust, at)
  const to = rounded(Math.max(0, from - loss - (demoted ? demotionLoss : 0)))
  const weight = creditWeightOf(kind)
  const after: Trust = {
    ...trust,
    // Above the floor decay goes on being taken off, so what it took is not taken twice.
    score: to > decayFloor ? rounded(trust.score - (from - to)) : to,
    overrides: trust.overrides + (isAgentFault(type) ? 1 : 0),
    streak: demoted ? 0 : streak,
    promoted: trust.promoted && !demoted,
    vouched: vouched && !isAgentFault(type) && to >= vouchedScore,
    ...(isAlone &&
      weight > 0 &&
      judged(trust, risk, at, (standing) => applyWrongAlone(rules.standing, standing, weight))),
  }
  return { trust: after, from, to, promoted: false, demoted }
}

/** A spot check that found nothing wrong counts for the standing and never for the score (T14). */
export const applyCleanSpotCheck = (trust: Trust, risk: Risk, at: number): Trust => ({
  ...trust,
  ...judged(trust, risk, at, applyCleanCheck),
})

/** The same in a look-back, which is no check by lot: it only pays (T14). */
export const lookedBackClean = (trust: Trust, risk: Risk, at: number): Trust => ({
  ...trust,
  ...judged(trust, risk, at, (standing) => applyRight(standing, uncheckedWorth)),
})

/** A person forgives: strikes and debts are gone; credit that was earned stays (T16). */
export const forgiven = (trust: Trust, risk: Risk, at: number): Trust => ({
  ...trust,
  ...judged(trust, risk, at, ({ credit, clean }) => ({
    credit: Math.max(0, credit),
    strikes: 0,
    clean,
  })),
})

/** The agent was revoked: whoever has its name later has its strikes and debts, and nothing that it earned (I4). */
export const parted = (trust: Trust): Trust => ({
  ...trust,
  vouched: false,
  client: null,
  standings: eachStanding(trust.standings, ({ credit, strikes }) => ({
    credit: Math.min(0, credit),
    strikes,
    clean: 0,
  })),
})

/** Another client acts under the name: it is checked as often as a new one (T14). */
export const seenThrough = (trust: Trust, client: string): Trust => ({
  ...trust,
  client,
  ...(trust.client !== null && {
    standings: eachStanding(trust.standings, (standing) => ({ ...standing, clean: 0 })),
  }),
})

/** Counts from now, or a long idle agent would not have the score it was given (T16). */
export function setScore(rules: TrustRules, trust: Trust, score: number, at: number): Trust {
  const given = rounded(Math.min(1, Math.max(0, score)))
  return {
    ...markActive(rules, trust, at),
    score: given,
    streak: 0,
    vouched: given >= vouchedScore,
    claimed: false,
  }
}

/** What the gate looks at besides: the credit of the kind of action, and the checks that nobody has answered. */
export type Proof = { readonly kind: number; readonly unread: Unread }

/** Why an agent may not act alone in this class of risk, if so (T11, T13, T16). `trust` as read now. */
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

/** As it counts for who asks: among callers that nobody knows, what any of them gave counts. */
export const trustForCaller = ({ verified }: { readonly verified: boolean }, trust: Trust): Trust =>
  verified ? trust : { ...trust, claimed: false }

/** The share of approvals among people's decisions about the agent's own work (T7, G5). */
export function computeAccuracy({ approvals, overrides }: Trust): number | null {
  return approvals + overrides === 0 ? null : approvals / (approvals + overrides)
}

function decayed(rules: TrustRules, score: number, days: number): number {
  if (score <= decayFloor) return score
  return rounded(Math.max(decayFloor, score - days * rules.decayPerDay))
}

/** Whole days; a clock that goes back makes none. */
const daysBetween = (from: number, to: number): number =>
  Math.max(0, Math.floor((to - from) / msPerDay))

export const idleDays = ({ activeAt }: Trust, at: number): number => daysBetween(activeAt, at)

const eachStanding = (
  { low, normal, high }: Trust['standings'],
  change: (standing: TrustStanding) => TrustStanding,
): Trust['standings'] => ({ low: change(low), normal: change(normal), high: change(high) })

function fadedStandings({ standings, activeAt, seenAt }: Trust, at: number): Trust['standings'] {
  const days = daysBetween(Math.max(activeAt, seenAt), at)
  return days === 0
    ? standings
    : eachStanding(standings, (standing) => applyIdleDecay(standing, days))
}

/** People saw something of its work today: what they saw counts in full, and fades from now on. */
function judged(
  trust: Trust,
  risk: Risk,
  at: number,
  change: (standing: TrustStanding) => TrustStanding,
): Pick<Trust, 'standings' | 'seenAt'> {
  const standings = fadedStandings(trust, at)
  return {
    standings: { ...standings, [risk]: change(standings[risk]) },
    seenAt: Math.max(trust.seenAt, at),
  }
}
