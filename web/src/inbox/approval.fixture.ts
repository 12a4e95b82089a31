import type { Item } from './approval.ts'

/** An item as the API gives it; a test says what matters to it. */
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
