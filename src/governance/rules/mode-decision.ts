import type { Mode, Risk, ApprovalReason } from '#approvals'
import { resolveMode, stricterMode } from './mode.ts'
import type { ModeRules } from './mode.ts'
import type { Effect, Evaluation, Policy } from './policy.ts'
import type { Closed } from './standing.ts'
import { evidenceLevelOf } from './standing.ts'
import { closedGate, applyDecay } from './trust.ts'
import type { Proof, Trust, TrustRules } from './trust.ts'

export type Rules = { readonly trust: TrustRules; readonly mode: ModeRules }

export type ModeDecision = {
  readonly mode: Mode
  readonly risk: Risk
  readonly gated: boolean
  readonly trustLevel: number
  readonly evidenceLevel: number
  /** Right actions that are missing before the agent may act alone. */
  readonly toGo: number
  /** What a policy in shadow would have done (Y6). */
  readonly shadow?: { readonly policy_id: string; readonly would: Outcome }
  readonly why: ApprovalReason
}

type Given = {
  readonly trust: Trust
  readonly proof: Proof
  readonly policy: Policy | undefined
  readonly evaluation: Evaluation
  /** Of the act itself: a destructive tool is high, whatever its fields. */
  readonly risk: Risk
  readonly at: number
  /** A reason to ask whatever trust says, such as `approvals.every_write`. */
  readonly always?: string
  /** What about the act itself brings it to a person, in words that follow "because". */
  readonly because?: string
  /** As strict as this in any case, for want of trust to judge by (M6). */
  readonly atLeast?: Mode
  /** The same, were a policy in shadow enforced. */
  readonly shadowFloor?: Mode
}

/** Whether an act may be done, or is suggested to a person, and why (M1, M2, T11, A8). Pure. */
export function decideMode(rules: Rules, given: Given): ModeDecision {
  const { policy, evaluation, always, because, atLeast = 'act', shadowFloor = 'act' } = given
  const trust = applyDecay(rules.trust, given.trust, given.at)
  const risk: Risk = evaluation.highRisk.length > 0 ? 'high' : given.risk
  const closed = closedGate(rules.trust, trust, given.risk, given.proof)
  const toGo = closed?.toGo ?? 0
  const level = evidenceLevelOf(toGo)
  const grounds: Grounds = {
    score: trust.score,
    gateOpen: closed === undefined,
    floor: always === undefined ? atLeast : stricterMode(atLeast, 'suggest'),
  }
  const { mode, gated } = modeUnder(rules.mode, grounds, evaluation)
  const enforced = { ...grounds, floor: stricterMode(grounds.floor, shadowFloor) }
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
      text: reasonFor({
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
      // With the score, all that judging it again under other rules takes (Y6).
      more: {
        gate_open: grounds.gateOpen,
        to_go: toGo,
        ...(closed && { closed_by: closed.cause }),
        ...(grounds.floor !== 'act' && { floor: grounds.floor }),
        ...(shadow && { shadow }),
        ...(always !== undefined && { always }),
        ...(because !== undefined && { because }),
        approvers: evaluation.approvers,
        ...(evaluation.isUnreadable && { unreadable: true }),
      },
    },
  }
}

/** Why a person is asked where neither trust nor a rule has a say. */
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

/** Where an act stands before rules look at it. The gate is of its own class of risk (T13). */
export type Grounds = {
  readonly score: number
  readonly gateOpen: boolean
  readonly floor: Mode
}

export type Outcome = Mode | 'blocked'

export const outcomeForRules = (rules: ModeRules, grounds: Grounds, effect: Effect): Outcome =>
  effect.hardStop ? 'blocked' : modeUnder(rules, grounds, effect).mode

function modeUnder(rules: ModeRules, { score, gateOpen, floor }: Grounds, effect: Effect) {
  // A high-risk act goes to a person anyway, so that only the gate of its own class ever matters.
  const highRisk = effect.highRisk.length > 0
  const { mode, gated } = resolveMode(rules, { score, gateOpen, highRisk })
  const isAsked = effect.approvers > 1 || effect.isUnreadable
  const asked = isAsked ? stricterMode(floor, 'suggest') : floor
  return { mode: stricterMode(mode, asked), gated }
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

/** The same sentence with the trust of now, for a request that still waits; as recorded where its causes are not. */
export function reasonNow(
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
    return `You are asked because trust was lower or right actions were missing then. Trust is ${now.score.toFixed(2)} now; acting alone needs ${thresholds.act.toFixed(2)}.`
  return reasonFor({
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

/** One sentence a person reads first, and one about trust. */
function reasonFor({ because, ...facts }: Facts): string {
  const first = because === undefined ? '' : `${because}, and `
  return `You are asked because ${first}${causeFor(facts)}`
}

function causeFor(facts: Omit<Facts, 'because'>): string {
  const { score, closed, gated, thresholds, highRisk, approvers, isUnreadable } = facts
  const { policyId, always } = facts
  const trust = `Trust is ${score.toFixed(2)}; acting alone needs ${thresholds.act.toFixed(2)}`
  const [field, ...more] = highRisk
  if (always !== undefined) return `${always}. ${trust}.`
  if (field !== undefined) {
    const names = more.length > 0 ? `${field} and ${more.length} more are` : `${field} is`
    return `${names} high risk${policyId === undefined ? '' : ` in ${policyId}`}. ${trust}.`
  }
  if (approvers > 1) return `${policyId ?? 'a rule'} wants ${approvers} people to agree. ${trust}.`
  if (isUnreadable)
    return `the change cannot be read as fields, so no rule can be checked. ${trust}.`
  if (gated && closed)
    return `${closedCause(closed)} Trust alone (${score.toFixed(2)}) would be enough.`
  if (score < thresholds.suggest)
    return `trust is low: ${score.toFixed(2)}, below ${thresholds.suggest.toFixed(2)}. Acting alone needs ${thresholds.act.toFixed(2)}.`
  if (score >= thresholds.act)
    return `it is the first of its kind here, and nothing is known yet. ${trust}.`
  return `trust is ${score.toFixed(2)}; acting alone needs ${thresholds.act.toFixed(2)}.`
}

/** In the words of a person who asks why it does not act alone. */
function closedCause({ cause, toGo }: Closed): string {
  const more = `${toGo} more right ${toGo === 1 ? 'action' : 'actions'}`
  switch (cause) {
    case 'mistake':
      return `a mistake was found in what it did alone: it needs ${more}.`
    case 'kind_wrong':
      return `it was wrong in this kind of action: it needs ${more}.`
    case 'unproven':
      return `it has not shown enough yet: it needs ${more} of this risk.`
    case 'kind_new':
      return `this kind of action is new: it needs ${more} of it.`
    case 'unread':
      return 'spot checks of what it did alone wait for an answer.'
    case 'unchecked':
      return 'spot checks are off (trust.spot_check_rate), so nobody would see what it does alone.'
  }
}
