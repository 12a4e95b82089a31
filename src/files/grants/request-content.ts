import * as z from 'zod'
import type { Approval, Decision, KindDeclaration } from '#approvals'
import { grantChoices } from '../rules/choices.ts'

const pin = z.object({
  path: z.string(),
  kind: z.enum(['file', 'folder']),
  dev: z.string(),
  ino: z.string(),
  born: z.string().nullable().exactOptional(),
})

/** The content of an access request as the console and the CLI read it. */
const grantRequest = z.object({
  path: z.string(),
  real: z.string(),
  permission: z.enum(['read', 'read-write']),
  is_folder: z.boolean(),
  missing: z.boolean(),
  folder: z.string().nullable(),
  inside: z
    .object({
      files: z.number(),
      folders: z.number(),
      bytes: z.number(),
      sample: z.array(z.string()).readonly(),
      capped: z.boolean(),
    })
    .nullable(),
  sensitive: z.array(z.string()).readonly(),
  /** A warning about a broad path. */
  warning: z.string().exactOptional(),
  /** The node whose disk the request is for, and the pins at the time of the request. */
  node: z.string(),
  pin: pin.nullable(),
  folder_pin: pin.nullable(),
  /** Time of the pins by the clock of that node. */
  pinned_at: z.number().exactOptional(),
  /** Stale grants of the agent that would take precedence over the new grant. */
  replaces: z.array(z.string()).readonly().exactOptional(),
})
export type GrantRequest = Readonly<z.output<typeof grantRequest>>

const grantAnswer = z.strictObject({
  choice: z.enum(grantChoices),
  until: z.iso.datetime({ offset: true }).optional(),
})

/** The choice of a decision; `covered` if a grant for another request of the agent covers this one. */
const decisionChoice = z.union([
  grantAnswer,
  z.object({
    choice: z.literal('covered'),
    grant: z.object({
      id: z.string(),
      path: z.string(),
      permission: z.enum(['read', 'read-write', 'write', 'deny']),
    }),
  }),
])

export const grantDeclaration = {
  kind: 'grant',
  content: grantRequest,
  fields: {
    grant: {
      schema: grantAnswer
        .optional()
        .describe('Access to grant; default: the narrowest that covers the request'),
      onlyFor: 'access requests',
      oneByOne: 'choose the access to grant',
    },
  },
} as const satisfies KindDeclaration

export const getGrantRequest = ({ content }: Approval): GrantRequest =>
  grantRequest.parse(content.extra)

export const getDecisionChoice = ({ more }: Decision) =>
  decisionChoice.optional().parse(more?.['grant'])
