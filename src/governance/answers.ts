import * as z from 'zod'
import { spotCheck } from '#approvals'
import type { Decision, KindDeclaration } from '#approvals'
import { overrideType, severity, boundedText, longText } from './tools/shared-schemas.ts'

/** A rejection records an override where trust is judged (B4); other kinds accept one. */
export const overrideAnswer = z.strictObject({
  type: overrideType,
  severity,
  description: longText.default(''),
})

const allowAnswer = z.strictObject({
  for: z.enum(['once', 'uses', 'session', 'until', 'always']),
  uses: z.number().int().min(1).max(1000).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  arguments: z
    .record(z.string(), z.string().max(1000))
    .optional()
    .describe('Glob per argument; default: exactly the approved arguments'),
  rest: z
    .enum(['free', 'exact'])
    .optional()
    .describe(
      'Arguments of the call without a glob; default free. Other arguments are not allowed',
    ),
})
export type Allowance = z.output<typeof allowAnswer>

export const acknowledgePolicy = boundedText(64)
  .optional()
  .describe('`policy_conflict.version`, to approve what the active policy blocks')

export const callContent = z.object({
  schema: z.string(),
  effect: z.enum(['read', 'write', 'destructive']),
  title: z.string(),
  by_trust: z.boolean().optional(),
})

export const callDeclaration = {
  kind: 'call',
  content: callContent,
  fields: {
    allow: {
      schema: allowAnswer.optional().describe('How long the call is allowed; default once'),
      onlyFor: 'calls',
      oneByOne: 'allow for longer',
      isWider: (given) => allowAnswer.parse(given).for !== 'once',
    },
  },
  movesTrust: 'decision',
} as const satisfies KindDeclaration

export const permissionDeclaration = {
  kind: 'permission',
  fields: {
    policy_id: {
      schema: boundedText(128).optional().describe('Policy for the agent in this domain'),
      onlyFor: 'work in a new domain',
      oneByOne: 'choose a policy',
    },
  },
} as const satisfies KindDeclaration

export const proposalDeclaration = {
  kind: 'proposal',
  content: z.object({
    action_id: z.string(),
    reasoning_schema: z.unknown().optional(),
    handoff_id: z.string().optional(),
  }),
  fields: {
    acknowledge_policy: { schema: acknowledgePolicy, oneByOne: 'acknowledge one' },
  },
  movesTrust: 'decision',
} as const satisfies KindDeclaration

export const checkContent = z.object({
  call: z.string().optional(),
  proposal: z.string().optional(),
  look_back: z.string().optional(),
})

export const spotCheckDeclaration = {
  kind: spotCheck,
  content: checkContent,
  fields: {
    skip: {
      schema: z.boolean().default(false).describe('Close checks unread: they do not count'),
    },
  },
  movesTrust: 'override',
} as const satisfies KindDeclaration

const answers = z.object({
  override: overrideAnswer.optional(),
  allow: allowAnswer.optional(),
  policy_id: z.string().optional(),
  acknowledge_policy: z.string().optional(),
  skip: z.boolean().optional(),
  bulk: z.boolean().optional(),
  /** The permission that releases a pending call without a review (Y8). */
  cleared_by: z.string().optional(),
})

/** Returns the fields of governance kinds in a decision. A deferred decision comes from the store. */
export const parseAnswers = ({ more }: Pick<Decision, 'more'>) => answers.parse(more ?? {})
