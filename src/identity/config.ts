import * as z from 'zod'
import { trimmedName, secretText, nonEmptyString } from '#base/config/field-types.ts'

const agents = z
  .array(
    z
      .strictObject({
        id: trimmedName.describe('Id of the agent.'),
        token: secretText
          .optional()
          .describe('Token, or a reference to it. Prefer `token_hash`, which takes precedence.'),
        token_hash: nonEmptyString(
          'the SHA-256 of the token, 64 hexadecimal digits',
          /^[\da-fA-F]{64}$/,
        )
          .transform((hash) => hash.toLowerCase())
          .optional()
          .describe('SHA-256 of the token in hexadecimal, as printed by `cowork agents token`.'),
        workspace_id: trimmedName.optional().describe('Label of the agent’s team or tenant.'),
        scopes: z
          .array(trimmedName)
          .optional()
          .describe(
            'Scopes of the credential, globs such as read:*. Default: all, or read:* if an upstream sets toolScopes.',
          ),
        tools: z
          .array(trimmedName)
          .min(1)
          .optional()
          .describe(
            'Listed tools: toolsets such as files, tool names, core or all. Other tools stay callable. Default: core.',
          ),
        exclude: z
          .array(trimmedName)
          .optional()
          .describe('Toolsets and tools that are not listed and not callable.'),
        read_only: z
          .boolean()
          .optional()
          .describe('Allow only tools that read or send a request to a person. Default: false.'),
      })
      .refine(({ token, token_hash: hash }) => token !== undefined || hash !== undefined, {
        error: 'needs a token or a token_hash. `cowork agents token` creates both',
      }),
  )
  .default([])
  .describe('Agents. Without any, authentication is off and the daemon listens on loopback only.')

export const identityConfig = { agents }
