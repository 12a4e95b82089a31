import * as z from 'zod'
import { trustMove } from './trust.ts'

const fault = z.object({ code: z.string(), message: z.string(), hint: z.string().optional() })
export type Fault = z.output<typeof fault>

const outcomeSchema = z.object({
  id: z.string(),
  status: z.enum(['approved', 'rejected', 'voted', 'held', 'error']),
  until: z.string().optional(),
  trust: trustMove.optional(),
  look_back: z
    .number()
    .optional()
    .describe('Other actions sent to the inbox because this one was wrong'),
  counted: z
    .boolean()
    .optional()
    .describe('False for a check that was closed unopened: it does not count'),
  also: z
    .array(z.object({ id: z.string(), summary: z.string() }))
    .optional()
    .describe('Other requests with the same answer'),
  error: fault.optional(),
})
export type DecisionOutcome = z.output<typeof outcomeSchema>

const verdictFields = {
  agent_id: z.string(),
  domain: z.string(),
  trust_level: z.number(),
  trust_change: z.number(),
  verified: z.boolean(),
  message: z.string(),
}

const bulkFields = {
  batch_id: z.string(),
  count: z.number(),
  outcomes: z.array(
    z.object({
      proposal_id: z.string(),
      status: z.enum(['approved', 'rejected', 'voted']),
      trust: trustMove.optional(),
    }),
  ),
  errors: z.array(z.object({ proposal_id: z.string(), ...fault.shape })),
  verified: z.boolean(),
  message: z.string(),
}

const permission = z.object({
  id: z.string(),
  agent_id: z.string(),
  tool: z.string(),
  arguments: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Glob for each variable argument; null if none'),
  exact: z.array(z.string()).describe('Arguments fixed to their approved values'),
  for: z.string(),
  uses_left: z.number().nullable(),
  session: z.string().nullable(),
  expires_at: z.string().nullable(),
  granted_by: z.string(),
  granted_at: z.string(),
  last_used_at: z.string().nullable(),
})

export const decisionResults = {
  cowork_decide: z.object({
    outcomes: z.array(outcomeSchema),
    count: z.number(),
    errors: z.number(),
  }),
  cowork_undo: z.object({
    outcomes: z.array(
      z.object({
        id: z.string(),
        status: z.enum(['pending', 'error']),
        error: fault.optional(),
      }),
    ),
  }),
  cowork_approve: z.object({
    proposal_id: z.string(),
    status: z.enum(['approved', 'voted']),
    ...verdictFields,
    promoted: z.boolean(),
    decided_by: z.string(),
    evidence_note: z
      .string()
      .optional()
      .describe('The approval came from an unverified caller and is not evidence'),
  }),
  cowork_override: z.object({
    override_id: z.string(),
    proposal_id: z.string().optional(),
    ...verdictFields,
    demoted: z.boolean(),
    consecutive_overrides: z.number(),
  }),
  cowork_bulk_approve: z.object({ ...bulkFields, approved: z.number(), voted: z.number() }),
  cowork_bulk_reject: z.object({ ...bulkFields, rejected: z.number() }),
  cowork_list_permissions: z.object({ permissions: z.array(permission) }),
  cowork_revoke_permission: z.object({ id: z.string(), revoked: z.literal(true) }),
}
