import type { ClassStanding } from './class-standing.ts'
import type { TrustStanding } from './trust-rows.ts'

/** Builds a risk class with the given fields. */
export const classStanding = (part: Partial<ClassStanding> = {}): ClassStanding => ({
  risk: 'normal',
  level: 'supervised',
  reason: 'not enough reviewed actions',
  next: '25 more correct actions',
  credit: { now: 0, needed: 25 },
  strikes: { now: 0, most: 4 },
  to_go: 25,
  checks: { rate: 0.1, unread: 0, look_back: 0 },
  kinds: [],
  ...part,
})

/** A standing as the API gives it; a test says what matters to it. */
export const standing = (part: Partial<TrustStanding> = {}): TrustStanding => ({
  agent_id: 'sales-agent',
  domain: 'crm.deals',
  trust_level: 0.72,
  mode: 'suggest',
  accuracy: null,
  approvals: 0,
  overrides: 0,
  override_rate: null,
  consecutive_overrides: 0,
  evidence_level: 0,
  gated: false,
  to_go: 0,
  decay_days: 0,
  last_active_at: '2026-11-14T12:00:00.000Z',
  thresholds: { suggest: 0.5, act: 0.8 },
  classes: (['low', 'normal', 'high'] as const).map((risk) => classStanding({ risk })),
  ...part,
})
