import type { Mode, Risk, ApprovalReason } from '#approvals'
import { resolveMode, stricterMode } from './mode.ts'
import type { ModeRules } from './mode.ts'
import type { Effect, Evaluation, Policy } from './policy.ts'
import type { Closed } from './standing.ts'
import { computeEvidenceLevel } from './standing.ts'
import { closedGate, applyDecay } from './trust.ts'
import type { Proof, Trust, TrustRules } from './trust.ts'

export type Rules = { readonly trust: TrustRules; readonly mode: ModeRules }

export type ModeDecision = {
  readonly mode: Mode
  readonly risk: Risk
  readonly gated: boolean
  readonly trustLevel: number
  readonly evidenceLevel: number
  /** Correct actions missing before the agent may act alone. */
  readonly toGo: number
  /** The outcome if the shadow policy were enforced (Y6). */
  readonly shadow?: { readonly policy_id: string; readonly would: Outcome }
  readonly why: ApprovalReason
}

type ModeInput = {
  readonly trust: Trust
  readonly proof: Proof
  readonly policy: Policy | undefined
  readonly evaluation: Evaluation
  /** The risk of the action itself: a destructive tool is high risk, whatever its fields. */
  readonly risk: Risk
  readonly at: number
  /** A reason for approval independent of trust, such as `approvals.every_write`. */
  readonly always?: string
  /** A property of the action that requires a person, as text after "because". */
  readonly because?: string
  /** Minimum strictness, if there is no trust to judge by (M6). */
  readonly atLeast?: Mode
  /** Minimum strictness if the shadow policy were enforced. */
  readonly shadowFloor?: Mode
}

/** Decides whether an action may run or is suggested to a person, and why (M1, M2, T11, A8). Pure. */
export function decideMode(rules: Rules, input: ModeInput): ModeDecision {
  const { policy, evaluation, always, because, atLeast = 'act', shadowFloor = 'act' } = input
  const trust = applyDecay(rules.trust, input.trust, input.at)
  const risk: Risk = evaluation.highRisk.length > 0 ? 'high' : input.risk
  const closed = closedGate(rules.trust, trust, input.risk, input.proof)
  const toGo = closed?.toGo ?? 0
  const level = computeEvidenceLevel(toGo)
  const trustInput: TrustInput = {
    score: trust.score,
    gateOpen: closed === undefined,
    floor: always === undefined ? atLeast : stricterMode(atLeast, 'suggest'),
  }
  const { mode, gated } = applyRules(rules.mode, trustInput, evaluation)
  const enforced = { ...trustInput, floor: stricterMode(trustInput.floor, shadowFloor) }
  const shadow = policy &&
    evaluation.shadow && {
      policy_id: policy.id,
      would: outcomeForRules(rules.mode, enforced, evaluation.shadow),
    }
  const { thresholds } = rules.mode
  const facts = { score: trust.score, closed, gated, thresholds }
  return {
    mode,
    risk,
    gated,
    trustLevel: trust.score,
    evidenceLevel: level,
    toGo,
    ...(shadow && { shadow }),
    why: {
      text: formatReason({
        ...facts,
        highRisk: evaluation.highRisk,
        approvers: evaluation.approvers,
        isUnreadable: evaluation.isUnreadable,
        policyId: policy?.id,
        always,
        because,
      }),
      rules: evaluation.violations,
      policy_id: policy?.id ?? null,
      policy_description: policy?.description ?? null,
      thresholds,
      evidence_level: level,
      gated,
      high_risk_fields: evaluation.highRisk,
      // With the score, everything that a replay under other rules needs (Y6).
      more: {
        gate_open: trustInput.gateOpen,
        to_go: toGo,
        ...(closed && { closed_by: closed.cause }),
        ...(trustInput.floor !== 'act' && { floor: trustInput.floor }),
        ...(shadow && { shadow }),
        ...(always !== undefined && { always }),
        ...(because !== undefined && { because }),
        approvers: evaluation.approvers,
        ...(evaluation.isUnreadable && { unreadable: true }),
      },
    },
  }
}

/** The reason for a person where neither trust nor a rule applies. */
export const plainWhy = ({ thresholds }: ModeRules, text: string): ApprovalReason => ({
  text,
  rules: [],
  policy_id: null,
  policy_description: null,
  thresholds,
  evidence_level: null,
  gated: false,
  high_risk_fields: [],
})

/** Trust inputs before rules apply. The gate is of the action's own risk class (T13). */
export type TrustInput = {
  readonly score: number
  readonly gateOpen: boolean
  readonly floor: Mode
}

export type Outcome = Mode | 'blocked'

export const outcomeForRules = (rules: ModeRules, grounds: TrustInput, effect: Effect): Outcome =>
  effect.hardStop ? 'blocked' : applyRules(rules, grounds, effect).mode

function applyRules(rules: ModeRules, { score, gateOpen, floor }: TrustInput, effect: Effect) {
  // A high-risk action goes to a person anyway, so only the gate of its own class matters.
  const highRisk = effect.highRisk.length > 0
  const { mode, gated } = resolveMode(rules, { score, gateOpen, highRisk })
  const isAsked = effect.approvers > 1 || effect.isUnreadable
  const minimum = isAsked ? stricterMode(floor, 'suggest') : floor
  return { mode: stricterMode(mode, minimum), gated }
}

type Facts = {
  readonly score: number
  readonly closed: Closed | undefined
  readonly gated: boolean
  readonly thresholds: { readonly suggest: number; readonly act: number }
  readonly highRisk: readonly string[]
  readonly approvers: number
  readonly isUnreadable: boolean
  readonly policyId: string | undefined
  readonly always: string | undefined
  readonly because: string | undefined
}

/**
 * Formats the reason of a pending request with the current trust; returns the recorded text if its causes are not
 * recorded.
 */
export function currentReasonText(
  why: ApprovalReason,
  now: Pick<Facts, 'score' | 'closed' | 'gated'>,
): string {
  const { always, because, approvers } = why.more ?? {}
  if (typeof approvers !== 'number') return why.text
  const { thresholds, high_risk_fields: highRisk } = why
  const isUnreadable = why.more?.['unreadable'] === true
  const isByTrust =
    always === undefined && highRisk.length === 0 && approvers === 1 && !isUnreadable
  if (isByTrust && !now.gated && now.score >= thresholds.act)
    return `You are asked because trust was lower or correct actions were missing then. Trust is ${now.score.toFixed(2)} now; acting alone needs ${thresholds.act.toFixed(2)}.`
  return formatReason({
    ...now,
    thresholds,
    highRisk,
    approvers,
    isUnreadable,
    policyId: why.policy_id ?? undefined,
    always: typeof always === 'string' ? always : undefined,
    because: typeof because === 'string' ? because : undefined,
  })
}

/** The cause, followed by a sentence about trust. */
function formatReason({ because, ...facts }: Facts): string {
  const first = because === undefined ? '' : `${because}, and `
  return `You are asked because ${first}${formatCause(facts)}`
}

function formatCause(facts: Omit<Facts, 'because'>): string {
  const { score, closed, gated, thresholds, highRisk, approvers, isUnreadable } = facts
  const { policyId, always } = facts
  const trust = `Trust is ${score.toFixed(2)}; acting alone needs ${thresholds.act.toFixed(2)}`
  const [field, ...more] = highRisk
  if (always !== undefined) return `${always}. ${trust}.`
  if (field !== undefined) {
    const names = more.length > 0 ? `${field} and ${more.length} more are` : `${field} is`
    return `${names} high risk${policyId === undefined ? '' : ` in ${policyId}`}. ${trust}.`
  }
  if (approvers > 1) return `${policyId ?? 'a rule'} requires ${approvers} approvals. ${trust}.`
  if (isUnreadable) return `the change has no readable fields, so no rule can be checked. ${trust}.`
  if (gated && closed)
    return `${formatClosedCause(closed)} Trust (${score.toFixed(2)}) is high enough.`
  if (score < thresholds.suggest)
    return `trust is low: ${score.toFixed(2)}, below ${thresholds.suggest.toFixed(2)}. Acting alone needs ${thresholds.act.toFixed(2)}.`
  if (score >= thresholds.act) return `it is the first call of this agent in this domain. ${trust}.`
  return `trust is ${score.toFixed(2)}; acting alone needs ${thresholds.act.toFixed(2)}.`
}

/** Explains the closed gate to a person. */
function formatClosedCause({ cause, toGo }: Closed): string {
  const more = `${toGo} more correct ${toGo === 1 ? 'action' : 'actions'}`
  switch (cause) {
    case 'mistake':
      return `an autonomous action was wrong: the agent needs ${more}.`
    case 'kind_wrong':
      return `the agent was wrong in this kind of action: it needs ${more}.`
    case 'unproven':
      return `there is not enough review evidence: the agent needs ${more} of this risk.`
    case 'kind_new':
      return `this kind of action is new: the agent needs ${more} of this kind.`
    case 'unread':
      return 'spot checks of its autonomous actions are unread.'
    case 'unchecked':
      return 'spot checks are off (trust.spot_check_rate), so autonomous actions would not be reviewed.'
  }
}
