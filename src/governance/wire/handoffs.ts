import * as z from 'zod'
import { trustMove } from './trust.ts'

export const handoffModes = ['escalate', 'review', 'collaborate', 'delegate', 'takeover'] as const

export const recent = z.object({
  seq: z.number(),
  at: z.string(),
  type: z.string(),
  action: z.string().optional(),
  subject: z.string().optional(),
  outcome: z.string().optional(),
})

const packet = z.object({
  handoff_id: z.string(),
  agent_id: z.string(),
  domain: z.string(),
  handoff_mode: z.enum(handoffModes),
  reason: z.string().optional(),
  confidence: z.number().nullable().optional(),
  attempted_actions: z.array(z.unknown()).optional(),
  context: z.unknown(),
  proposal_id: z.string().nullable(),
  parent_handoff_id: z.string().nullable(),
  recent: z.array(recent).describe('Last actions of the agent in this domain'),
  created_at: z.string(),
})

const returned = z.object({
  handoff_id: z.string(),
  domain: z.string(),
  resolution: z.string(),
  resolved_at: z.string(),
  hand_back: z.boolean(),
  instructions: z.string().nullable(),
  original_reason: z.string(),
})

export const handoffResults = {
  cowork_handoff: z.object({
    handoff_id: z.string(),
    status: z.literal('pending'),
    handoff_mode: z.enum(handoffModes),
    context_packet: packet,
    for_human: z.string().describe('The packet as text, for a person'),
    review_url: z.string(),
    message: z.string(),
  }),
  cowork_check_handoff: z.object({
    pending_handoffs: z.array(returned),
    pending_instructions: z.array(returned).describe('Alias of pending_handoffs'),
    count: z.number().describe('Total, including those not listed'),
    acknowledged: z.array(z.string()).describe('Your handoffs in ack that are acknowledged now'),
  }),
  cowork_resolve_handoff: z.object({
    handoff_id: z.string(),
    status: z.literal('resolved'),
    agent_id: z.string(),
    domain: z.string(),
    resolution: z.string(),
    hand_back: z.boolean(),
    hand_back_refused: z
      .object({ code: z.string(), message: z.string(), hint: z.string() })
      .optional(),
    instructions: z.string().nullable(),
    proposal: z
      .object({ proposal_id: z.string(), status: z.string(), trust: trustMove.optional() })
      .optional(),
    resolved_by: z.string(),
    verified: z.boolean(),
    message: z.string(),
  }),
}
