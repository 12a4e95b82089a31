import * as z from 'zod'
import { overrideTypes } from '#base/override.ts'
import { splitWords } from '#base/words.ts'
import { validateSchema } from '#base/config/json-schema.ts'
import {
  decimal,
  duration,
  trimmedName,
  filePath,
  regexPattern,
  ratio,
  nonEmptyString,
  integer,
} from '#base/config/field-types.ts'

const mode = z.enum(['act', 'suggest', 'escalate'])

const trust = z
  .strictObject({
    default_level: ratio
      .default(0.3)
      .describe('Score of an agent in a new domain, 0 to 1. Default 0.3.'),
    auto_promote_after: integer(1)
      .default(20)
      .describe('Human approvals after which an agent may be promoted to `act`. Default 20.'),
    auto_promote_threshold: ratio
      .optional()
      .describe(
        'Share of approvals among decisions required for a promotion, 0 to 1. Default 0.8.',
      ),
    auto_promote_accuracy: ratio
      .optional()
      .describe('Alias of auto_promote_threshold, which wins if both are set.')
      .meta({ deprecated: true }),
    auto_demote_after: integer(1)
      .default(3)
      .describe('Consecutive overrides that demote an agent. Default 3.'),
    decay_per_day: ratio
      .default(0.01)
      .describe('Score lost per idle day, down to 0.1. Absolute, not a percentage. Default 0.01.'),
    evidence_gate: z
      .union([z.boolean(), z.literal('strict')], 'true, false or strict')
      .default(true)
      .describe(
        'Acting alone also requires correct actions that people reviewed. `strict`: a score set by hand does not replace them. `false`: the score alone decides. Default true.',
      ),
    mistake_price: integer(1)
      .default(50)
      .describe('Credit that a mistake costs, in correct actions. Default 50.'),
    unread_checks: integer(1)
      .default(6)
      .describe('Number of unread spot checks at which an agent stops acting alone. Default 6.'),
    spot_check_rate: ratio
      .default(0.1)
      .describe(
        'Share of autonomous actions that people check afterwards, 0 to 1: five times this until 5 consecutive checks were clean, 0.4 times this after 45. With 0 no agent acts alone unless evidence_gate is false. Default 0.1.',
      ),
    autonomous_threshold: ratio
      .optional()
      .describe('Ignored, accepted from older files: authority.thresholds decides.')
      .meta({ deprecated: true }),
  })
  .transform(({ auto_promote_accuracy, auto_promote_threshold, ...rest }) => ({
    ...rest,
    auto_promote_threshold: auto_promote_threshold ?? auto_promote_accuracy ?? 0.8,
  }))
  .prefault({})
  .describe('How agents earn and lose autonomy.')

const authority = z
  .strictObject({
    default_mode: mode
      .default('suggest')
      .describe(
        'Minimum mode of a call by an agent without trust. Never relaxes a rule. Default suggest.',
      ),
    volume_cap: integer(0)
      .default(50)
      .describe(
        'Proposals per rolling hour for one agent in one domain; 0 means no cap. Default 50.',
      ),
    agent_volume_cap: integer(0)
      .default(200)
      .describe(
        'Proposals per rolling hour for one agent over all domains; 0 means no cap. Default 200.',
      ),
    tool_budgets: z
      .record(trimmedName, integer(0))
      .default({})
      .describe('Calls per rolling hour and agent, by tool name.'),
    repeat_limit: integer(2)
      .optional()
      .describe(
        'Consecutive identical calls after which further ones are refused. Default: no limit.',
      ),
    high_risk_fields: z
      .array(trimmedName)
      .default(splitWords('deal_stage owner commission utm_* billing_* password permissions'))
      .describe('Fields whose changes a person always reviews; * matches any text.'),
    high_risk_mode: z
      .enum(['suggest', 'strictest'])
      .default('suggest')
      .describe(
        'Mode of a high-risk field: always `suggest`, or the stricter of `suggest` and the mode by trust. Default suggest.',
      ),
    thresholds: z
      .strictObject({
        suggest: ratio.default(0.5).describe('Score from which an agent may suggest. Default 0.5.'),
        act: ratio.default(0.8).describe('Score from which an agent may act alone. Default 0.8.'),
      })
      .refine((thresholds) => thresholds.suggest <= thresholds.act, {
        path: ['act'],
        error: 'must not be below authority.thresholds.suggest',
      })
      .prefault({})
      .describe('Scores at which the mode changes; below `suggest` the mode is escalate.'),
  })
  .prefault({})
  .describe('Autonomy of agents by trust.')

const handoff = z
  .strictObject({
    timeout_seconds: integer(1)
      .optional()
      .describe('Seconds without an answer until a reminder and a finding. Default 3600.'),
    handoff_timeout: integer(1)
      .optional()
      .describe('Alias of timeout_seconds, which wins if both are set.')
      .meta({ deprecated: true }),
    context_format: z
      .literal('structured', 'structured')
      .default('structured')
      .describe('Format of the context packet. Default structured.'),
    include_reasoning: z
      .boolean()
      .default(true)
      .describe('Include the reason in the packet. Default true.'),
    include_confidence: z
      .boolean()
      .default(true)
      .describe('Include the confidence in the packet. Default true.'),
    include_attempted: z
      .boolean()
      .default(true)
      .describe('Include the attempted actions in the packet. Default true.'),
  })
  .transform(({ handoff_timeout, timeout_seconds, ...rest }) => ({
    ...rest,
    timeout_seconds: timeout_seconds ?? handoff_timeout ?? 3600,
  }))
  .prefault({})
  .describe('Handoffs from agents to people.')

const feedback = z
  .strictObject({
    approval_trust_impact: ratio
      .default(0.02)
      .describe('Score gained by one approval. Default 0.02.'),
    override_requires_reason: z
      .boolean()
      .default(true)
      .describe('Require the type of an override. Default true.'),
    reason_types: z
      .array(z.enum(overrideTypes))
      .default([...overrideTypes])
      .describe('Available override types. Default: all five.'),
    override_trust_impact: decimal(-1, 0)
      .optional()
      .describe('Ignored, accepted from older files: type and severity determine the loss.')
      .meta({ deprecated: true }),
  })
  .prefault({})
  .describe('Effect of decisions on trust.')

const sentry = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Require the intent of every intercepted call in `_cowork_metadata`. Default false.',
      ),
    enforcement: z
      .enum(['strict', 'warn'])
      .default('strict')
      .describe(
        'Effect of a missing intent: `strict` refuses the call, `warn` records it. Default strict.',
      ),
    sensitive_keys: z
      .array(trimmedName)
      .default([])
      .describe('Argument names to redact besides the built-in ones; * matches any text.'),
    hash_chain: z
      .literal(true, 'true (the ledger is always chained)')
      .default(true)
      .describe('Ignored, accepted from older files: the ledger is always chained.')
      .meta({ deprecated: true }),
    db_path: filePath
      .optional()
      .describe('Ignored, accepted from older files: traces are in the ledger.')
      .meta({ deprecated: true }),
  })
  .prefault({})
  .describe('Attribution of calls to other MCP servers.')

const ruleBase = {
  id: trimmedName
    .optional()
    .describe('Name of the rule in violations. Default: its position in the policy.'),
  field: trimmedName.describe('Field that the rule checks; * matches any text.'),
  severity: z
    .enum(['warn', 'hard_stop'])
    .optional()
    .describe('`hard_stop` blocks, `warn` only counts. Default hard_stop, except for high_risk.'),
  reason: nonEmptyString('a text').optional().describe('Reason, shown with a violation.'),
  approvers: integer(1, 16).default(1).describe('Number of people who must approve. Default 1.'),
}

const buildRuleSchema = <K extends string, S extends z.ZodRawShape>(constraint: K, shape: S) =>
  z.strictObject({
    ...ruleBase,
    constraint: z.literal(constraint).describe('Type of the rule.'),
    ...shape,
  })

const rule = z.discriminatedUnion('constraint', [
  buildRuleSchema('high_risk', {}),
  buildRuleSchema('readonly', {}),
  buildRuleSchema('value_range', {
    min: z.number().optional().describe('Minimum value.'),
    max: z.number().optional().describe('Maximum value.'),
  }).refine(
    (range) =>
      (range.min ?? range.max) !== undefined && (range.min ?? -Infinity) <= (range.max ?? Infinity),
    {
      error: 'needs min, max or both, and min must not be above max',
    },
  ),
  buildRuleSchema('enum', {
    values: z
      .array(
        z.union(
          [z.string(), z.number(), z.boolean(), z.null()],
          'a text, a number, true, false or null',
        ),
      )
      .min(1)
      .describe('Allowed values.'),
  }),
  buildRuleSchema('regex', {
    pattern: regexPattern.describe('Regular expression (RE2) the value must match.'),
  }),
])

const policies = z
  .array(
    z.strictObject({
      id: trimmedName.describe('Name of the policy, used by mappings.'),
      description: z.string().default('').describe('Purpose, shown with every decision.'),
      mode: z
        .enum(['enforce', 'shadow'])
        .default('enforce')
        .describe('`shadow` evaluates and records without enforcing. Default enforce.'),
      risk: z
        .enum(['low', 'normal'])
        .optional()
        .describe('Risk class unless a rule or a tool makes it high. Default normal.'),
      reasoning_schema: trimmedName
        .optional()
        .describe('Id of the reasoning schema that proposals must satisfy.'),
      rules: z.array(rule).default([]).describe('Constraints on fields.'),
    }),
  )
  .default([])
  .describe('Named sets of rules, used by mappings.')

const mappings = z
  .array(
    z.strictObject({
      agent_id: trimmedName.describe('Agent, or a glob. The most specific mapping wins.'),
      domain: trimmedName.describe(
        'Domain, or a glob; also files, work, jobs or the name of an upstream server.',
      ),
      policy_id: trimmedName.describe('Policy to apply.'),
    }),
  )
  .default([])
  .describe(
    'Policies by agent and domain. With any mapping, agents are blocked in unmapped domains.',
  )

const reasoningSchemas = z
  .array(
    z.strictObject({
      id: trimmedName.describe('Name of the schema, used by policies.'),
      type: trimmedName.optional().describe('Required `type` of the reasoning.'),
      required: z.array(trimmedName).default([]).describe('Required criteria.'),
      json_schema: z
        .record(z.string(), z.unknown())
        .superRefine((schema, context) => {
          const issue = validateSchema(schema)
          if (issue !== undefined) context.addIssue(`is not supported: ${issue}`)
        })
        .optional()
        .describe('JSON Schema for the values of the criteria, by name.'),
      max_age: duration.optional().describe('Maximum age of the timestamp of a criterion.'),
      source_pattern: regexPattern
        .optional()
        .describe('Regular expression (RE2) that every source must match.'),
      on_fail: z
        .enum(['escalate', 'suggest', 'warn'])
        .default('suggest')
        .describe('Mode for insufficient reasoning; `warn` only warns. Default suggest.'),
    }),
  )
  .default([])
  .describe('Schemas for structured reasoning.')

export const governanceConfig = {
  policies,
  mappings,
  trust,
  authority,
  handoff,
  feedback,
  sentry,
  reasoning_schemas: reasoningSchemas,
}
