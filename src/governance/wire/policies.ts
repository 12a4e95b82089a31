import * as z from 'zod'
import { modes } from '#approvals/wire.ts'

const policyVersion = z.object({
  version: z.string().describe('Derived from the content: equal content has the same version'),
  number: z.number().describe('Counts up from 0, the file at the first start'),
  source: z.enum(['file', 'saved']),
  by: z.string(),
  note: z.string(),
  at: z.string(),
})

export const policyRow = z.record(z.string(), z.unknown())

const policyBody = z.object({ policies: z.array(policyRow), mappings: z.array(policyRow) })

export const violation = z.object({
  rule_id: z.string(),
  field: z.string(),
  severity: z.string(),
  reason: z.string(),
})

const outcome = z.enum([...modes, 'blocked'])

const judged = z.object({
  mode: outcome,
  policy_id: z.string().nullable(),
  mapping_found: z.boolean(),
  trust_level: z.number(),
  violations: z.array(violation),
  high_risk_fields: z.array(z.string()),
  approvers: z.number(),
})

const change = z.object({
  from: outcome,
  to: outcome,
  count: z.number(),
  examples: z.array(
    z.object({
      seq: z.number().nullable(),
      approval_id: z.string().nullable(),
      kind: z.enum(['proposal', 'call']),
      agent_id: z.string(),
      domain: z.string(),
      action: z.string(),
    }),
  ),
})

export const policyResults = {
  cowork_validate_policy: z.object({
    valid: z.boolean(),
    hard_stop: z.boolean(),
    high_risk: z.boolean(),
    violations: z.array(violation),
    policy_id: z.string().nullable(),
    policy_description: z.string().nullable(),
    policy_rules_checked: z.number(),
    rules_matched: z.number(),
    mapping_found: z.boolean(),
    message: z.string(),
  }),
  cowork_list_policies: z.object({
    version: z.string(),
    problem: z
      .string()
      .optional()
      .describe('Why the active policies are unreadable; everything is blocked'),
    policies: z.array(
      z.object({
        id: z.string(),
        description: z.string(),
        mode: z.string(),
        rules: z.number(),
      }),
    ),
    mappings: z.array(
      z.object({
        agent_id: z.string(),
        domain: z.string(),
        policy_id: z.string(),
        source: z.enum(['config', 'approved']),
      }),
    ),
    active: policyVersion.nullable().describe('Active version'),
    versions: z.array(policyVersion).describe('Latest versions, newest first'),
    body: policyBody.describe('Content of the active version, for editing'),
  }),
  cowork_save_policies: z.object({
    version: z.string(),
    number: z.number(),
    from: z.string(),
    changed: z.boolean(),
    message: z.string(),
  }),
  cowork_policy_versions: z.object({
    active: z.string(),
    versions: z.array(policyVersion),
    body: policyBody.optional(),
    text: z.string().optional().describe('The content as YAML'),
  }),
  cowork_policy_diff: z.object({
    from: z.string(),
    to: z.string(),
    changed: z.boolean(),
    diff: z.string().describe('Unified diff; empty without differences'),
  }),
  cowork_simulate_policy: z.object({
    version: z.string().describe('Version of the simulated policies'),
    summary: z.string(),
    before: judged.optional(),
    after: judged.optional(),
    table: z.array(change).optional().describe('Changed outcomes'),
    days: z.number().optional(),
    replayed: z.number().optional(),
    unchanged: z.number().optional(),
    skipped: z.number().optional().describe('Recorded without arguments or trust, so not replayed'),
    truncated: z.boolean().optional().describe('More is recorded than was replayed'),
  }),
}
