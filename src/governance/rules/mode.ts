import type { Mode } from '#approvals'
import type { Config } from '#base/config/index.ts'

export type ModeRules = {
  readonly thresholds: { readonly suggest: number; readonly act: number }
  readonly highRiskMode: 'suggest' | 'strictest'
}

export const toModeRules = ({ authority }: Pick<Config, 'authority'>): ModeRules => ({
  thresholds: authority.thresholds,
  highRiskMode: authority.high_risk_mode,
})

type ModeQuery = { readonly score: number; readonly gateOpen: boolean; readonly highRisk: boolean }

/** Returns the mode of an agent (M1, M2). `gated`: the mode would be act if the gate of T11 were open. */
export function resolveMode(rules: ModeRules, query: ModeQuery): { mode: Mode; gated: boolean } {
  const byTrust = modeByScore(rules, query.score)
  if (query.highRisk) {
    const mode = rules.highRiskMode === 'strictest' ? stricterMode('suggest', byTrust) : 'suggest'
    return { mode, gated: false }
  }
  const gated = byTrust === 'act' && !query.gateOpen
  return { mode: gated ? 'suggest' : byTrust, gated }
}

function modeByScore({ thresholds }: ModeRules, score: number): Mode {
  if (score >= thresholds.act) return 'act'
  return score >= thresholds.suggest ? 'suggest' : 'escalate'
}

const strictness = { act: 0, suggest: 1, escalate: 2 } satisfies Record<Mode, number>

export const stricterMode = (a: Mode, b: Mode): Mode => (strictness[a] >= strictness[b] ? a : b)
