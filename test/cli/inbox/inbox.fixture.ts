import type { ApprovalDetail, ApprovalItem } from '../../../src/cli/approvals.ts'
import { reduce } from '../../../src/cli/inbox/reduce.ts'
import { initialState } from '../../../src/cli/inbox/state.ts'
import type { Effect, Event, State } from '../../../src/cli/inbox/state.ts'

/** Items and keystrokes for the tests of the screen. */

export const start = Date.parse('2026-03-02T10:00:00Z')

export const createItem = (id: string, more: Partial<ApprovalItem> = {}): ApprovalItem => ({
  id,
  kind: 'proposal',
  status: 'pending',
  requester: 'sales',
  domain: 'crm',
  action: 'update_deal',
  target: `deal-${id}`,
  summary: `update_deal: set stage of deal-${id} to won`,
  mode: 'escalate',
  risk: 'normal',
  trust_level: 0.3,
  confidence: 0.9,
  created_at: '2026-03-02T09:57:00Z',
  expires_at: '2026-03-09T09:57:00Z',
  approvers: { needed: 1, given: [] },
  group: 'g',
  ...more,
})

export const createDetail = (
  item: ApprovalItem,
  more: Partial<ApprovalDetail> = {},
): ApprovalDetail => ({
  ...item,
  why: {
    text: 'You are asked because trust 0.30 is below 0.50.',
    rules: [{ rule_id: 'r1', field: 'stage', reason: 'a person looks at it', severity: 'warn' }],
    policy_id: 'careful',
    policy_description: 'Deals',
    policy_version: 'abc',
    trust_level: 0.3,
    thresholds: { suggest: 0.5, act: 0.8 },
    evidence_level: 0.3,
    gated: false,
    high_risk_fields: ['stage'],
  },
  change: { stage: 'won', owner: { name: 'bea' } },
  before: { stage: 'open' },
  reasoning: 'They signed.\nToday.',
  field: null,
  digest: 'd',
  session: null,
  client: { name: 'claude-code', version: '2.1', transport: 'http' },
  effect: {
    approve: { from: 0.3, to: 0.32 },
    overrides: [
      { type: 'agent_wrong', severity: 'low', to: 0.26 },
      { type: 'agent_wrong', severity: 'medium', to: 0.22 },
    ],
  },
  history: [
    {
      id: 'h',
      at: '2026-03-01T08:00:00Z',
      status: 'rejected',
      decided_by: 'bea',
      summary: 'set stage to lost',
      reason: 'too early',
      trust_change: -0.08,
    },
  ],
  trust_points: [],
  ...more,
})

export type Played = { state: State; effects: Effect[] }

export function play(state: State, ...events: Event[]): Played {
  return events.reduce<Played>(
    (before, event) => {
      const { state: next, effects } = reduce(before.state, event)
      return { state: next, effects: [...before.effects, ...effects] }
    },
    { state, effects: [] },
  )
}

export const loaded = (items: readonly ApprovalItem[], filter = ''): Event => ({
  event: 'loaded',
  items,
  total: items.length,
  isMore: false,
  filter,
})

/** Builds key events: named keys such as `enter`, others as characters. */
export const keys = (names: readonly string[], now = start): Event[] =>
  names.map((name) => ({
    event: 'key',
    key: { name, text: [...name].length === 1 ? name : name === 'space' ? ' ' : undefined },
    now,
  }))

/** A loaded screen with these items; the first is selected. */
export const screenWith = (
  items: readonly ApprovalItem[],
  size = { rows: 24, columns: 80 },
): State => play(initialState(size, start), loaded(items)).state
