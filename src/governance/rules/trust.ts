import type { Risk } from '#approvals'
import type { Config } from '#base/config/index.ts'
import type { OverrideType, Severity } from '#base/override.ts'
import type { Evidence } from './evidence.ts'
import {
  evidenceLevel,
  fadedEvidence,
  moreEvidence,
  noEvidence,
  remaining,
  scaled,
} from './evidence.ts'

/** How trust is earned, lost and spent. Pure: time comes in, values go out. */

/** Of one agent in one domain, as of `activeAt`: what it is worth now, `current` says. */
export type Trust = {
  readonly score: number
  /** By people; what an agent did by itself proves nothing. */
  readonly approvals: number
  /** Those that were the agent's fault (T5). */
  readonly overrides: number
  /** consecutive_overrides */
  readonly streak: number
  /** Since the last demotion (T7). */
  readonly promoted: boolean
  /** The score was set by hand or imported, not earned here. */
  readonly vouched: boolean
  /** Some of the score was given by callers that nobody knows (A3). */
  readonly claimed: boolean
  readonly activeAt: number
  readonly evidence: Readonly<Record<Risk, Evidence>>
}

export type TrustRules = {
  readonly defaultLevel: number
  readonly approvalImpact: number
  readonly promoteAfter: number
  readonly promoteThreshold: number
  readonly demoteAfter: number
  readonly decayPerDay: number
  readonly gate: boolean | 'strict'
}

export const trustRulesOf = ({
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
export const weightOf = (kind: OverrideKind): number => lossOf(kind) / baseLoss.agent_wrong

export const isFault = (type: OverrideType) =>
  type !== 'human_preference' && type !== 'policy_change'

const demotionLoss = 0.1
const promotedScore = 0.8
const decayFloor = 0.1
const wantedEvidence = 0.8
export const dayMilliseconds = 86_400_000

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

export const newTrust = (rules: TrustRules, at: number): Trust => ({
  score: rounded(rules.defaultLevel),
  approvals: 0,
  overrides: 0,
  streak: 0,
  promoted: false,
  vouched: false,
  claimed: false,
  activeAt: at,
  evidence: { low: noEvidence, normal: noEvidence, high: noEvidence },
})

/** As read now (T8). Not to be stored: its clock still runs from when the agent was last active. */
export function current(rules: TrustRules, trust: Trust, at: number): Trust {
  const days = idleDays(trust, at)
  if (days === 0) return trust
  const { low, normal, high } = trust.evidence
  return {
    ...trust,
    score: decayed(rules, trust.score, days),
    evidence: {
      low: fadedEvidence(low, days),
      normal: fadedEvidence(normal, days),
      high: fadedEvidence(high, days),
    },
  }
}

/** A proposal: the clock starts again, from what was left (T8, T9). */
export const touched = (rules: TrustRules, trust: Trust, at: number): Trust => ({
  ...current(rules, trust, at),
  activeAt: Math.max(trust.activeAt, at),
})

/** Whoever calls in open mode may move the score; evidence comes from people (A3, T11). */
export function approved(
  rules: TrustRules,
  trust: Trust,
  risk: Risk,
  at: number,
  isClaim = false,
): Change {
  const before = touched(rules, trust, at)
  const after: Trust = {
    ...before,
    score: rounded(Math.min(1, before.score + rules.approvalImpact)),
    approvals: before.approvals + 1,
    streak: 0,
    ...(isClaim
      ? { vouched: false, claimed: true }
      : { evidence: withEvidence(before, risk, { good: 1, bad: 0 }, at) }),
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
  const accuracy = accuracyOf(trust) ?? 0
  return (
    !trust.promoted && trust.approvals >= rules.promoteAfter && accuracy >= rules.promoteThreshold
  )
}

/** Does not make an agent active, so the clock runs on: only the score as read now loses. */
export function overridden(
  rules: TrustRules,
  trust: Trust,
  risk: Risk,
  kind: OverrideKind,
  at: number,
): Change {
  const { type } = kind
  const loss = lossOf(kind)
  const streak = trust.streak + (isFault(type) ? 1 : 0)
  const demoted = isFault(type) && streak >= rules.demoteAfter
  const from = current(rules, trust, at).score
  const to = rounded(Math.max(0, from - loss - (demoted ? demotionLoss : 0)))
  const after: Trust = {
    ...trust,
    // Above the floor decay goes on being taken off, so what it took is not taken twice.
    score: to > decayFloor ? rounded(trust.score - (from - to)) : to,
    overrides: trust.overrides + (isFault(type) ? 1 : 0),
    streak: demoted ? 0 : streak,
    promoted: trust.promoted && !demoted,
    evidence: withEvidence(trust, risk, { good: 0, bad: weightOf(kind) }, at),
  }
  return { trust: after, from, to, promoted: false, demoted }
}

/** A spot check that found nothing wrong is evidence and never score (T14). */
export const checkedClean = (_rules: TrustRules, trust: Trust, risk: Risk, at: number): Trust => ({
  ...trust,
  evidence: withEvidence(trust, risk, { good: 1, bad: 0 }, at),
})

/** Counts from now, or a long idle agent would not have the score it was given (T16). */
export const setByHand = (rules: TrustRules, trust: Trust, score: number, at: number): Trust => ({
  ...touched(rules, trust, at),
  score: rounded(Math.min(1, Math.max(0, score))),
  streak: 0,
  vouched: true,
  claimed: false,
})

/** Whether evidence lets an agent act in this class of risk (T11, T13). `trust` as read now. */
export function gateOpen(rules: TrustRules, trust: Trust, risk: Risk): boolean {
  if (rules.gate === false && !trust.claimed) return true
  const evidence = trust.evidence[risk]
  const isUnproven = evidence.good + evidence.bad === 0
  if (isUnproven && trust.vouched && rules.gate !== 'strict') return true
  return evidenceLevel(evidence) >= wantedEvidence
}

/** As it counts for who asks: among callers that nobody knows, what any of them gave counts. */
export const countedFor = ({ verified }: { readonly verified: boolean }, trust: Trust): Trust =>
  verified ? trust : { ...trust, claimed: false }

/** The share of approvals among people's decisions about the agent's own work (T7, G5). */
export function accuracyOf({ approvals, overrides }: Trust): number | null {
  return approvals + overrides === 0 ? null : approvals / (approvals + overrides)
}

function decayed(rules: TrustRules, score: number, days: number): number {
  if (score <= decayFloor) return score
  return rounded(Math.max(decayFloor, score - days * rules.decayPerDay))
}

/** Whole days; a clock that went back makes nobody idle. */
/** Whole days; a clock that goes back makes none. */
export const idleDays = (trust: Trust, at: number): number =>
  Math.max(0, Math.floor((at - trust.activeAt) / dayMilliseconds))

/** Stored so that after fading since `activeAt` the new evidence counts in full today. */
function withEvidence(trust: Trust, risk: Risk, more: Evidence, at: number): Trust['evidence'] {
  const left = remaining(idleDays(trust, at))
  const today = moreEvidence(scaled(trust.evidence[risk], left), more)
  return { ...trust.evidence, [risk]: scaled(today, 1 / left) }
}
