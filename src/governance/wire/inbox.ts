import * as z from 'zod'
import { modes, risks, statuses } from '#approvals/wire.ts'
import { violation } from './policies.ts'
import { thresholds } from './trust.ts'

const time = z.iso.datetime()

const policyConflict = z.object({
  policy: z.string().nullable(),
  version: z.string().describe('Version of the active policy, for acknowledge_policy'),
  rule: z.string().nullable(),
  message: z.string(),
})
export type PolicyConflict = z.output<typeof policyConflict>

const item = z
  .object({
    id: z.string(),
    kind: z.string().describe('proposal, call, permission, spot_check, handoff, …'),
    status: z.enum(statuses),
    requester: z.string().describe('Agent that asks'),
    domain: z.string(),
    action: z.string(),
    target: z.string(),
    summary: z.string().describe('One line of text'),
    mode: z.enum(modes),
    risk: z.enum(risks),
    trust_level: z
      .number()
      .nullable()
      .describe('Trust of the agent in the domain: current while pending, otherwise when it asked'),
    confidence: z.number().nullable(),
    created_at: time,
    expires_at: time.nullable(),
    approvers: z.object({ needed: z.int(), given: z.array(z.string()) }),
    group: z.string().describe('Shared by equal requests'),
    held: z
      .object({ decision: z.enum(['approve', 'reject']), by: z.string(), until: time })
      .optional()
      .describe('A decision that can still be undone'),
    policy_conflict: policyConflict
      .optional()
      .describe('The active policy would block the request; approve with acknowledge_policy'),
    decided_at: time.optional(),
    decided_by: z.string().optional(),
    channel: z.string().optional(),
    reason: z.string().optional(),
    auto: z.literal(true).optional().describe('Decided by trust, without a person'),
    look_back: z
      .string()
      .optional()
      .describe('Look-back that opened the check, shared by its rows'),
  })
  .meta({ id: 'Approval' })

const handoff = z.object({
  handoff_mode: z.string(),
  reason: z.string(),
  confidence: z.number().nullable(),
  attempted_actions: z.array(z.unknown()),
  context: z.unknown(),
  packet: z.object({
    recent: z.array(
      z.object({
        seq: z.int(),
        at: time,
        type: z.string(),
        action: z.string().optional(),
        subject: z.string().optional(),
        outcome: z.string().optional(),
      }),
    ),
  }),
  parent_handoff_id: z.string().nullable(),
  proposal_id: z.string().nullable(),
  overdue: z.boolean(),
  reminded: z.int().describe('Number of reminders'),
  thread: z
    .array(
      z.object({
        handoff_id: z.string(),
        reason: z.string(),
        at: time,
        resolution: z.string().optional(),
        hand_back: z.boolean().optional(),
        instructions: z.string().optional(),
      }),
    )
    .describe('Questions and answers of the thread, oldest first'),
})

const detail = item.extend({
  why: z.looseObject({
    text: z.string(),
    rules: z.array(violation).readonly(),
    policy_id: z.string().nullable(),
    policy_description: z.string().nullable(),
    policy_version: z.string(),
    trust_level: z.number().nullable(),
    thresholds,
    evidence_level: z.number().nullable(),
    gated: z.boolean(),
    high_risk_fields: z.array(z.string()).readonly(),
  }),
  change: z.unknown().describe('Change of a proposal, or arguments of a call'),
  before: z.record(z.string(), z.unknown()).describe('Values last approved on the same target'),
  approved_change: z.unknown().optional(),
  collaborative: z.boolean().optional(),
  handoff: handoff.optional(),
  check: z
    .object({
      call: z.string().optional(),
      proposal: z.string().optional(),
      record: z
        .array(
          z.object({
            seq: z.int(),
            at: time,
            type: z.string(),
            outcome: z.string().optional(),
          }),
        )
        .describe('Ledger entries of the action'),
      undo: z
        .object({
          tool: z.string(),
          arguments: z.record(z.string(), z.unknown()),
          text: z.string().describe('Button label'),
        })
        .optional()
        .describe('Call that reverts the action, if possible'),
      consequences: z
        .object({ confirm: z.string(), wrong: z.string(), differently: z.string() })
        .describe('Effect of each answer'),
      faults: z
        .array(z.object({ type: z.string(), severity: z.string(), text: z.string() }))
        .describe('Effect of marking it as wrong, by type and severity'),
    })
    .optional()
    .describe('Spot checks only'),
  grant: z
    .record(z.string(), z.unknown())
    .readonly()
    .optional()
    .describe(
      'Access requests only: path, real, permission, is_folder, missing, folder, inside and sensitive; for people only',
    ),
  reasoning: z.string().nullable(),
  field: z.string().nullable(),
  digest: z.string(),
  session: z.string().nullable(),
  client: z
    .object({ name: z.string(), version: z.string(), transport: z.string() })
    .nullable()
    .describe('Reported by the agent’s client'),
  effect: z.object({
    approve: z.object({ from: z.number(), to: z.number() }).nullable(),
    overrides: z.array(z.object({ type: z.string(), severity: z.string(), to: z.number() })),
  }),
  history: z.array(
    z.object({
      id: z.string(),
      at: time,
      status: z.enum(statuses),
      decided_by: z.string().nullable(),
      summary: z.string(),
      reason: z.string().nullable(),
      trust_change: z.number().nullable(),
    }),
  ),
  trust_points: z.array(z.object({ at: time, score: z.number(), cause: z.string() })),
})

const decided = z.object({ call: z.string(), output: z.unknown() })

export const inboxAnswers = {
  'GET /api/approvals': z.object({
    items: z.array(item),
    next: z.string().nullable().describe('Cursor of the next page'),
    counts: z.record(z.string(), z.int()).describe('Pending approvals, total and by kind'),
  }),
  'GET /api/approvals/{id}': detail,
  'POST /api/approvals/{id}/decide': decided,
  'POST /api/approvals/{id}/decision': decided,
}
