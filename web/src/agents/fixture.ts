import type { Standing } from './standing.ts'

const evidence = { approvals: 0, overrides: 0, evidence_level: 0.3, gated: true }

/** A standing as the API gives it; a test says what matters to it. */
export const standing = (part: Partial<Standing> = {}): Standing => ({
  agent_id: 'sales-agent',
  domain: 'crm.deals',
  trust_level: 0.72,
  mode: 'suggest',
  accuracy: null,
  approvals: 0,
  overrides: 0,
  override_rate: null,
  consecutive_overrides: 0,
  evidence_level: 0.3,
  gated: false,
  decay_days: 0,
  last_active_at: '2026-11-14T12:00:00.000Z',
  by_risk: { low: evidence, normal: evidence, high: evidence },
  ...part,
})
