import type { Detail, GrantRequest, Handoff, Item } from './approval.ts'

/** Builds an item with the given fields. */
export const item = (part: Partial<Item> = {}): Item => ({
  id: 'p-1',
  kind: 'proposal',
  status: 'pending',
  requester: 'sales-agent',
  domain: 'crm.deals',
  action: 'update_deal',
  target: 'deal_12345',
  summary: 'Set deal_stage of deal_12345 to closed_won',
  mode: 'suggest',
  risk: 'normal',
  trust_level: 0.72,
  confidence: 0.92,
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: null,
  approvers: { needed: 1, given: [] },
  group: '',
  ...part,
})

/** Builds the detail of an item with the given fields. */
export const detail = (part: Partial<Detail> = {}): Detail => ({
  ...item(),
  why: {
    text: 'deal_stage is a field of high risk, so a person decides.',
    rules: [],
    policy_id: null,
    policy_description: null,
    policy_version: '0a1b2c3d',
    trust_level: 0.72,
    thresholds: { suggest: 0.5, act: 0.8 },
    evidence_level: 0,
    gated: false,
    high_risk_fields: ['deal_stage'],
  },
  change: { deal_stage: 'closed_won' },
  before: { deal_stage: 'open' },
  reasoning: 'The contract is signed.',
  field: 'deal_stage',
  digest: 'd1',
  session: null,
  client: null,
  effect: { approve: { from: 0.72, to: 0.74 }, overrides: [] },
  history: [],
  trust_points: [],
  ...part,
})

export const grantRequest = (part: Partial<GrantRequest> = {}): GrantRequest => ({
  path: '/home/anna/Invoices',
  real: '/home/anna/Invoices',
  permission: 'read',
  is_folder: true,
  missing: false,
  folder: '/home/anna/Invoices',
  inside: { files: 3, folders: 1, bytes: 1200, sample: ['a.pdf'], capped: false },
  sensitive: [],
  ...part,
})

export const handoff = (part: Partial<Handoff> = {}): Handoff => ({
  handoff_mode: 'review',
  reason: 'Two prices contradict each other.',
  confidence: null,
  attempted_actions: ['Compared both lists'],
  context: { list: 'b2b' },
  packet: { recent: [] },
  parent_handoff_id: null,
  proposal_id: null,
  overdue: false,
  reminded: 0,
  thread: [],
  ...part,
})
