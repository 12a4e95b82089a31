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

/** What a request keeps for people, as the console and the command line read it. */
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
  /** What to know before opening so much. */
  warning: z.string().exactOptional(),
  /** Whose disk it is about, and what lay there when it was asked for. */
  node: z.string(),
  pin: pin.nullable(),
  folder_pin: pin.nullable(),
  /** When that was looked at, by the clock of its daemon. */
  pinned_at: z.number().exactOptional(),
  /** Grants of that agent for what lay there before: dead, and in the way of a new one. */
  replaces: z.array(z.string()).readonly().exactOptional(),
})
export type GrantRequest = Readonly<z.output<typeof grantRequest>>

const grantAnswer = z.strictObject({
  choice: z.enum(grantChoices),
  until: z.iso.datetime({ offset: true }).optional(),
})

/** How a request was answered; `covered` where a grant for another request of that agent answers this one, too. */
const choosing = z.union([
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
        .describe('How far access to files goes; the narrowest that was asked for where absent'),
      onlyFor: 'access to files',
      oneByOne: 'say how far access goes',
    },
  },
} as const satisfies KindDeclaration

export const getGrantRequest = ({ content }: Approval): GrantRequest =>
  grantRequest.parse(content.extra)

export const choosingOf = ({ more }: Decision) => choosing.optional().parse(more?.['grant'])
