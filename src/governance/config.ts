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
      .describe('Score of an agent in a domain it has not worked in, 0 to 1. Default 0.3.'),
    auto_promote_after: integer(1)
      .default(20)
      .describe('Human approvals after which an agent may be promoted to `act`. Default 20.'),
    auto_promote_threshold: ratio
      .optional()
      .describe('Share of approvals among decisions that a promotion needs, 0 to 1. Default 0.8.'),
    auto_promote_accuracy: ratio
      .optional()
      .describe('Another name of auto_promote_threshold, which wins when both are given.')
      .meta({ deprecated: true }),
    auto_demote_after: integer(1)
      .default(3)
      .describe('Overrides in a row that demote an agent. Default 3.'),
    decay_per_day: ratio
      .default(0.01)
      .describe('Score lost per idle day, down to 0.1. Absolute, not a percentage. Default 0.01.'),
    evidence_gate: z
      .union([z.boolean(), z.literal('strict')], 'true, false or strict')
      .default(true)
      .describe(
        'Acting alone also needs right actions that people saw. `strict`: a score set by hand does not replace them. `false`: the score alone decides. Default true.',
      ),
    mistake_price: integer(1)
      .default(50)
      .describe('Right actions that a mistake costs an agent. Default 50.'),
    unread_checks: integer(1)
      .default(6)
      .describe('Unanswered spot checks at which an agent stops acting alone. Default 6.'),
    spot_check_rate: ratio
      .default(0.1)
      .describe(
        'Share of what an agent does alone that people check afterwards, 0 to 1: five times this until 5 checks in a row were clean, 0.4 times this after 45. With 0 no agent acts alone unless evidence_gate is false. Default 0.1.',
      ),
    autonomous_threshold: ratio
      .optional()
      .describe('Accepted from older files and not used: authority.thresholds decides.')
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
        'Mode of a call that has no trust to judge by. Never loosens a rule. Default suggest.',
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
      .describe('Calls per rolling hour one agent may make of a tool, by tool name.'),
    repeat_limit: integer(2)
      .optional()
      .describe('Identical calls in a row after which an agent is stopped. Default: never.'),
    high_risk_fields: z
      .array(trimmedName)
      .default(splitWords('deal_stage owner commission utm_* billing_* password permissions'))
      .describe('Fields whose change a person always reviews; * matches any text.'),
    high_risk_mode: z
      .enum(['suggest', 'strictest'])
      .default('suggest')
      .describe(
        'Mode of a high-risk field: always `suggest`, or the stricter of that and what trust says. Default suggest.',
      ),
    thresholds: z
      .strictObject({
        suggest: ratio.default(0.5).describe('Score from which an agent may suggest. Default 0.5.'),
        act: ratio
          .default(0.8)
          .describe('Score from which an agent may act by itself. Default 0.8.'),
      })
      .refine((it) => it.suggest <= it.act, {
        path: ['act'],
        error: 'must not be below authority.thresholds.suggest',
      })
      .prefault({})
      .describe('Scores at which the mode changes; below `suggest` it is escalate.'),
  })
  .prefault({})
  .describe('What agents may do at which trust.')

const handoff = z
  .strictObject({
    timeout_seconds: integer(1)
      .optional()
      .describe(
        'Seconds without an answer after which a handoff raises a reminder and a finding. Default 3600.',
      ),
    handoff_timeout: integer(1)
      .optional()
      .describe('Another name of timeout_seconds, which wins when both are given.')
      .meta({ deprecated: true }),
    context_format: z
      .literal('structured', 'structured')
      .default('structured')
      .describe('Form of the context packet. Default structured.'),
    include_reasoning: z
      .boolean()
      .default(true)
      .describe('The packet carries the reason. Default true.'),
    include_confidence: z
      .boolean()
      .default(true)
      .describe('The packet carries the confidence. Default true.'),
    include_attempted: z
      .boolean()
      .default(true)
      .describe('The packet carries what the agent already tried. Default true.'),
  })
  .transform(({ handoff_timeout, timeout_seconds, ...rest }) => ({
    ...rest,
    timeout_seconds: timeout_seconds ?? handoff_timeout ?? 3600,
  }))
  .prefault({})
  .describe('Work an agent gives to a person.')

const feedback = z
  .strictObject({
    approval_trust_impact: ratio
      .default(0.02)
      .describe('Score gained by one approval. Default 0.02.'),
    override_requires_reason: z
      .boolean()
      .default(true)
      .describe('An override must name its kind. Default true.'),
    reason_types: z
      .array(z.enum(overrideTypes))
      .default([...overrideTypes])
      .describe('Kinds of override people can choose from. Default: all five.'),
    override_trust_impact: decimal(-1, 0)
      .optional()
      .describe('Accepted from older files and not used: the loss follows from kind and severity.')
      .meta({ deprecated: true }),
  })
  .prefault({})
  .describe('What people’s decisions do to trust.')

const sentry = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Ask every intercepted call for its intent in `_cowork_metadata`. Default false.'),
    enforcement: z
      .enum(['strict', 'warn'])
      .default('strict')
      .describe(
        'What a missing intent does: `strict` refuses the call, `warn` records it. Default strict.',
      ),
    sensitive_keys: z
      .array(trimmedName)
      .default([])
      .describe(
        'Argument names blanked in the record besides the built-in ones; * matches any text.',
      ),
    hash_chain: z
      .literal(true, 'true (the ledger is always chained)')
      .default(true)
      .describe('Accepted from older files: the ledger is always chained.')
      .meta({ deprecated: true }),
    db_path: filePath
      .optional()
      .describe('Accepted from older files and not used: traces are in the ledger.')
      .meta({ deprecated: true }),
  })
  .prefault({})
  .describe('Attribution asked of calls that go to other MCP servers.')

const ruleBase = {
  id: trimmedName
    .optional()
    .describe('Name of the rule in violations. Default: its place in the policy.'),
  field: trimmedName.describe('Field the rule is about; * matches any text.'),
  severity: z
    .enum(['warn', 'hard_stop'])
    .optional()
    .describe('`hard_stop` blocks, `warn` only counts. Default hard_stop, except for high_risk.'),
  reason: nonEmptyString('a text').optional().describe('Why, shown with a violation.'),
  approvers: integer(1, 16).default(1).describe('Different people who must approve. Default 1.'),
}

const ruleOf = <K extends string, S extends z.ZodRawShape>(constraint: K, shape: S) =>
  z.strictObject({
    ...ruleBase,
    constraint: z.literal(constraint).describe('What the rule demands.'),
    ...shape,
  })

const rule = z.discriminatedUnion('constraint', [
  ruleOf('high_risk', {}),
  ruleOf('readonly', {}),
  ruleOf('value_range', {
    min: z.number().optional().describe('Smallest value allowed.'),
    max: z.number().optional().describe('Largest value allowed.'),
  }).refine(
    (it) => (it.min ?? it.max) !== undefined && (it.min ?? -Infinity) <= (it.max ?? Infinity),
    {
      error: 'needs min, max or both, and min must not be above max',
    },
  ),
  ruleOf('enum', {
    values: z
      .array(
        z.union(
          [z.string(), z.number(), z.boolean(), z.null()],
          'a text, a number, true, false or null',
        ),
      )
      .min(1)
      .describe('Values allowed.'),
  }),
  ruleOf('regex', {
    pattern: regexPattern.describe('Regular expression (RE2) the value must match.'),
  }),
])

const policies = z
  .array(
    z.strictObject({
      id: trimmedName.describe('Name of the policy, used by mappings.'),
      description: z.string().default('').describe('What it is for, shown with every decision.'),
      mode: z
        .enum(['enforce', 'shadow'])
        .default('enforce')
        .describe('`shadow` evaluates and records without enforcing. Default enforce.'),
      risk: z
        .enum(['low', 'normal'])
        .optional()
        .describe('Risk class of what no rule and no tool makes high. Default normal.'),
      reasoning_schema: trimmedName
        .optional()
        .describe('Id of the reasoning schema its proposals must satisfy.'),
      rules: z.array(rule).default([]).describe('Constraints on fields.'),
    }),
  )
  .default([])
  .describe('Named sets of rules, written once and used by mappings.')

const mappings = z
  .array(
    z.strictObject({
      agent_id: trimmedName.describe('Agent, or a glob. The most specific mapping wins.'),
      domain: trimmedName.describe(
        'Domain, or a glob; also files, work, jobs or the name of an upstream server.',
      ),
      policy_id: trimmedName.describe('Policy that applies.'),
    }),
  )
  .default([])
  .describe(
    'Who works where under which policy. Once there is one, an agent in an unmapped domain is blocked.',
  )

const reasoningSchemas = z
  .array(
    z.strictObject({
      id: trimmedName.describe('Name of the schema, used by policies.'),
      type: trimmedName.optional().describe('The `type` a proposal’s reasoning must carry.'),
      required: z.array(trimmedName).default([]).describe('Criteria that must be present.'),
      json_schema: z
        .record(z.string(), z.unknown())
        .superRefine((schema, context) => {
          const fault = validateSchema(schema)
          if (fault !== undefined) context.addIssue(`cannot be used: ${fault}`)
        })
        .optional()
        .describe('JSON Schema that the values of the criteria, by name, must satisfy.'),
      max_age: duration.optional().describe('Oldest a criterion’s timestamp may be.'),
      source_pattern: regexPattern
        .optional()
        .describe('Regular expression (RE2) every source must match.'),
      on_fail: z
        .enum(['escalate', 'suggest', 'warn'])
        .default('suggest')
        .describe(
          'Mode when reasoning falls short; `warn` changes nothing but says so. Default suggest.',
        ),
    }),
  )
  .default([])
  .describe('Shapes that structured reasoning must have.')

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
