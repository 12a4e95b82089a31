import * as z from 'zod'
import { trimmedName, secretText, nonEmptyString } from '#base/config/field-types.ts'

const agents = z
  .array(
    z
      .strictObject({
        id: trimmedName.describe('Name of the agent, as it appears everywhere.'),
        token: secretText
          .optional()
          .describe(
            'Its token, or better a reference to it. Prefer `token_hash`, which wins over this.',
          ),
        token_hash: nonEmptyString(
          'the SHA-256 of the token, 64 hexadecimal digits',
          /^[\da-fA-F]{64}$/,
        )
          .transform((hash) => hash.toLowerCase())
          .optional()
          .describe('SHA-256 of its token in hexadecimal, as `cowork agents token` prints it.'),
        workspace_id: trimmedName
          .optional()
          .describe('Label of the team or tenant the agent belongs to.'),
        scopes: z
          .array(trimmedName)
          .optional()
          .describe(
            'Scopes of its credential, globs such as read:*. Default: all, or read:* once an upstream sets toolScopes.',
          ),
        tools: z
          .array(trimmedName)
          .min(1)
          .optional()
          .describe(
            'Tools that it lists: toolsets such as files, names of tools, core or all. Other tools stay callable. Default: core.',
          ),
        exclude: z
          .array(trimmedName)
          .optional()
          .describe('Toolsets and tools that it neither lists nor may call.'),
        read_only: z
          .boolean()
          .optional()
          .describe(
            'It lists and calls only tools that read, and those that ask a person. Default: false.',
          ),
      })
      .refine((it) => it.token !== undefined || it.token_hash !== undefined, {
        error:
          'needs a token or a token_hash, else it could never sign in. `cowork agents token` makes both',
      }),
  )
  .default([])
  .describe('Agents that may call. With none the daemon runs in open mode, on loopback only.')

export const identityConfig = { agents }
