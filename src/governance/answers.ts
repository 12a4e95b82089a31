import * as z from 'zod'
import { spotCheck } from '#approvals'
import type { Decision, KindDeclaration } from '#approvals'
import { overrideType, severity, boundedText, longText } from './tools/shared-schemas.ts'

/** Rejecting what trust is about is an override (B4); any kind may be rejected by one. */
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
    .describe('A glob for each argument that matters; exactly those approved where absent'),
  rest: z
    .enum(['free', 'exact'])
    .optional()
    .describe(
      'Arguments of the call that have no glob; free where absent. Others it must not have',
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
      schema: allowAnswer.optional().describe('For how long a call is allowed; once where absent'),
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
      schema: boundedText(128).optional().describe('The policy to work under'),
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
      schema: z
        .boolean()
        .default(false)
        .describe('Close checks without looking at them: they count for nothing'),
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
  /** The permission that lets a waiting call go, which nobody looked at (Y8). */
  cleared_by: z.string().optional(),
})

/** What our kinds read of a decision. A deferred one comes from the store. */
export const answersOf = ({ more }: Pick<Decision, 'more'>) => answers.parse(more ?? {})
