import * as z from 'zod'
import { approvalResults, modes, risks } from '#approvals/wire.ts'

export const trustMove = z.object({
  from: z.number(),
  to: z.number(),
  promoted: z.literal(true).optional(),
  demoted: z.literal(true).optional(),
})
export type TrustMove = z.output<typeof trustMove>

export const thresholds = z.object({ suggest: z.number(), act: z.number() })

const evidence = z.object({
  evidence_level: z.number(),
  gated: z.boolean(),
  to_go: z.number(),
  cause: z.string().optional(),
})

const trust = z.object({
  agent_id: z.string(),
  domain: z.string(),
  trust_level: z.number(),
  mode: z.enum(modes),
  accuracy: z.number().nullable(),
  approvals: z.number(),
  overrides: z.number(),
  override_rate: z.number().nullable(),
  consecutive_overrides: z.number(),
  evidence_level: z.number(),
  gated: z.boolean(),
  to_go: z.number().describe('Correct actions missing before it acts alone'),
  cause: z.string().optional().describe('Why the gate is closed; for people'),
  evidence_note: z.string().optional().describe('Why a sufficient score does not allow acting yet'),
  decay_days: z.number(),
  last_active_at: z.string(),
  by_risk: z.object({ low: evidence, normal: evidence, high: evidence }),
})

const standingClass = z.object({
  risk: z.enum(risks),
  level: z.enum(['autonomous', 'supervised', 'probation']),
  reason: z.string(),
  next: z.string().optional(),
  credit: z.object({ now: z.number(), needed: z.number() }),
  to_go: z.number(),
  cause: z.string().optional(),
  strikes: z.object({
    now: z.number(),
    most: z.number(),
    forgiven_after: z
      .number()
      .optional()
      .describe('Consecutive clean checks that remove one strike'),
  }),
  checks: z.object({
    rate: z.number().describe('Share of autonomous actions that are checked'),
    unread: z.number(),
    look_back: z.number().describe('Unread checks opened by a look-back'),
    oldest_at: z.string().optional(),
  }),
  kinds: z.array(z.object({ kind: z.string(), credit: z.number(), to_go: z.number() })),
})

const event = z.object({
  seq: z.number(),
  at: z.string(),
  type: z.string(),
  actor: z.string(),
  domain: z.string().optional(),
  subject: z.string().optional(),
  tool: z.string().optional(),
  outcome: z.string().optional(),
})

const pending = z.object({
  id: z.string(),
  kind: z.string(),
  requester: z.string(),
  domain: z.string(),
  action: z.string(),
  target: z.string(),
  summary: z.string(),
  mode: z.string(),
  risk: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
})

const handoff = z.object({
  handoff_id: z.string(),
  agent_id: z.string(),
  domain: z.string(),
  reason: z.string(),
  handoff_mode: z.string(),
  context_packet: z.record(z.string(), z.unknown()).describe('As returned by cowork_handoff'),
  created_at: z.string(),
  overdue: z.boolean().describe('No answer within handoff.timeout_seconds'),
})

const status = z.object({
  version: z.string(),
  auth: z.enum(['open', 'closed']),
  caller: z.object({
    kind: z.string(),
    id: z.string(),
    verified: z.boolean(),
    session: z.string(),
  }),
  halts: z.array(approvalResults.cowork_halt),
  ledger: z.object({ size: z.number(), checkpoint: z.number().nullable() }),
  trust: z.array(trust),
  pending: z.number(),
  pending_proposals: z.array(pending),
  pending_handoffs: z.array(handoff),
  timeline: z.array(event).optional(),
})
export type StatusResult = z.output<typeof status>

export const trustResults = {
  cowork_check_trust: trust,
  cowork_set_trust: z.object({
    agent_id: z.string(),
    domain: z.string(),
    from: z.number(),
    to: z.number(),
    note: z.string().optional().describe('Set if the name may be misspelled'),
  }),
  cowork_forgive: z.object({ agent_id: z.string(), domain: z.string(), risk: z.enum(risks) }),
  cowork_standing: z.object({
    standings: z.array(
      z.object({
        agent_id: z.string(),
        domain: z.string(),
        trust_level: z.number(),
        thresholds,
        vouched: z.boolean(),
        classes: z.array(standingClass),
      }),
    ),
  }),
  cowork_trust_history: z.object({
    agent_id: z.string(),
    domain: z.string(),
    points: z.array(
      z.object({
        at: z.string(),
        score: z.number(),
        cause: z.string(),
        mark: z
          .enum(['opened', 'closed', 'look_back', 'forgiven'])
          .optional()
          .describe('Gate event; for people'),
        risk: z.enum(risks).optional(),
      }),
    ),
    projection: z.array(z.object({ at: z.string(), score: z.number() })),
    thresholds,
    now: z.object({
      trust_level: z.number(),
      mode: z.enum(modes),
      evidence_level: z.number(),
      gated: z.boolean(),
    }),
  }),
  cowork_status: status,
}
