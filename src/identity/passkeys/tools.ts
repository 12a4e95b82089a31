import * as z from 'zod'
import { rfc3339 } from '#base/clock.ts'
import { forPeople } from '#base/own-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Identity } from '../service.ts'
import { identityResults } from '../wire.ts'

/** Adding and showing a passkey is between a browser and its routes; the rest are tools. */
export const passkeyTools = (identity: Identity): Tool[] => [
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_passkeys',
    title: 'List passkeys',
    description: 'Lists your passkeys; for an owner, those of everyone.',
    idempotent: true,
    input: z.object({}),
    output: identityResults.cowork_list_passkeys,
    async read(_, { caller }) {
      const passkeys = await identity.passkeys.list(caller)
      return {
        passkeys: passkeys.map(({ id, person, name, createdAt, lastUsedAt }) => ({
          id,
          person,
          name,
          created_at: rfc3339(createdAt),
          ...(lastUsedAt !== undefined && { last_used_at: rfc3339(lastUsedAt) }),
        })),
      }
    },
  }),
  defineTool({
    ...forPeople.destructive,
    name: 'cowork_remove_passkey',
    title: 'Remove a passkey',
    description: 'Takes a passkey of yours away; an owner may take those of others.',
    role: 'viewer',
    assured: true,
    input: z.object({ id: z.string().min(1).max(2048).describe('Its id') }),
    output: identityResults.cowork_remove_passkey,
    touches: () => ({ domain: 'cowork' }),
    async change(tx, input, call) {
      const { id, name } = await identity.passkeys.remove(tx, input.id, call)
      return { id, name }
    },
  }),
]
