import type { Mode, Risk, Why } from '#approvals'
import { modeOf, stricter } from './mode.ts'
import type { ModeRules } from './mode.ts'
import type { Evaluation, Policy } from './policy.ts'
import { evidenceLevel } from './evidence.ts'
import { current, gateOpen } from './trust.ts'
import type { Trust, TrustRules } from './trust.ts'

export type Rules = { readonly trust: TrustRules; readonly mode: ModeRules }

export type Judgement = {
  readonly mode: Mode
  readonly risk: Risk
  readonly gated: boolean
  readonly trustLevel: number
  readonly evidenceLevel: number
  readonly why: Why
}

type Given = {
  readonly trust: Trust
  readonly policy: Policy | undefined
  readonly evaluation: Evaluation
  /** Of the act itself: a destructive tool is high, whatever its fields. */
  readonly risk: Risk
  readonly at: number
  /** A reason to ask whatever trust says, such as `approvals.every_write`. */
  readonly always?: string
}

/** Whether an act may be done, or is suggested to a person, and why (M1, M2, T11, A8). Pure. */
export function judge(rules: Rules, given: Given): Judgement {
  const { policy, evaluation, always } = given
  const trust = current(rules.trust, given.trust, given.at)
  const highRisk = evaluation.highRisk.length > 0
  const risk: Risk = highRisk ? 'high' : given.risk
  const level = evidenceLevel(trust.evidence[risk])
  const byTrust = modeOf(rules.mode, {
    score: trust.score,
    gateOpen: gateOpen(rules.trust, trust, risk),
    highRisk,
  })
  const asked = always !== undefined || evaluation.approvers > 1
  const mode = asked ? stricter(byTrust.mode, 'suggest') : byTrust.mode
  const { thresholds } = rules.mode
  const facts = { score: trust.score, level, gated: byTrust.gated, mode, thresholds }
  return {
    mode,
    risk,
    gated: byTrust.gated,
    trustLevel: trust.score,
    evidenceLevel: level,
    why: {
      text: reasonFor({ ...facts, evaluation, policy, always }),
      rules: evaluation.violations,
      policy_id: policy?.id ?? null,
      policy_description: policy?.description ?? null,
      thresholds,
      evidence_level: level,
      gated: byTrust.gated,
      high_risk_fields: evaluation.highRisk,
    },
  }
}

type Facts = {
  readonly score: number
  readonly level: number
  readonly gated: boolean
  readonly mode: Mode
  readonly thresholds: { readonly suggest: number; readonly act: number }
  readonly evaluation: Evaluation
  readonly policy: Policy | undefined
  readonly always: string | undefined
}

/** One sentence a person reads first, and one about trust. */
function reasonFor({ score, level, gated, thresholds, evaluation, policy, always }: Facts): string {
  const trust = `Trust is ${score.toFixed(2)}; acting alone needs ${thresholds.act.toFixed(2)}`
  const [field, ...more] = evaluation.highRisk
  if (always !== undefined) return `You are asked because ${always}. ${trust}.`
  if (field !== undefined) {
    const names = more.length > 0 ? `${field} and ${more.length} more are` : `${field} is`
    return `You are asked because ${names} high risk${policy ? ` in ${policy.id}` : ''}. ${trust}.`
  }
  if (evaluation.approvers > 1)
    return `You are asked because ${policy?.id ?? 'a rule'} wants ${evaluation.approvers} people to agree. ${trust}.`
  if (gated)
    return `You are asked because there is not enough evidence yet: ${level.toFixed(2)} of 0.80 from reviewed work of this risk. Trust alone (${score.toFixed(2)}) would do.`
  if (score < thresholds.suggest)
    return `You are asked because trust is low: ${score.toFixed(2)}, below ${thresholds.suggest.toFixed(2)}. Acting alone needs ${thresholds.act.toFixed(2)}.`
  return `You are asked because trust is ${score.toFixed(2)}; acting alone needs ${thresholds.act.toFixed(2)}.`
}
