import * as z from 'zod'
import { formatRfc3339 } from '#base/clock.ts'
import { describeSelection } from '#base/selection-fields.ts'
import { checkSelection, toFields, toSelection } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { isActive } from './credentials.ts'
import { passkeyTools, peopleTools } from './people/tools.ts'
import type { Identity, AgentWithCredentials } from './service.ts'
import { hashPrefix } from './token.ts'
import { identityResults } from './wire.ts'
import type { AgentResult } from './wire.ts'

const id = z.string().min(1).max(256).describe('Agent id, as in sales-agent')
const scope = z
  .string()
  .regex(/^[^\s\p{C}]{1,128}$/u, 'a scope is 1 to 128 characters without spaces')

const names = z.array(z.string().min(1).max(128)).max(256)
/** The tools that an agent lists and may call (SV18). */
const selectionInput = {
  tools: names.optional().describe('Listed toolsets and tools, or core or all. Default: core'),
  exclude: names.optional().describe('Toolsets and tools that are not callable'),
  read_only: z.boolean().optional().describe('Only tools that read or send a request to a person'),
}

/** Builds the tools for agents, people and passkeys. `catalogue` returns every tool. */
export const identityTools = (identity: Identity, catalogue: () => readonly Tool[]): Tool[] => [
  ...agentTools(identity, (chosen) => {
    if (chosen) checkSelection(chosen, catalogue())
  }),
  ...peopleTools(identity),
  ...passkeyTools(identity),
]

/** Builds the tools with which people manage agents. Only their results contain tokens, once. */
const agentTools = (
  identity: Identity,
  check: (selection: ToolSelection | undefined) => void,
): Tool[] => [
  defineTool({
    ...forPeople.write,
    name: 'cowork_add_agent',
    title: 'Add an agent',
    description:
      'Add an agent and return its token, which is shown only once. Adding the first agent turns on authentication.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({
      id,
      scopes: z
        .array(scope)
        .min(1)
        .max(64)
        .optional()
        .describe('Globs over effect:toolset, such as read:*. Default: all'),
      ...selectionInput,
    }),
    output: identityResults.cowork_add_agent,
    describeTarget: (input) => ({ domain: 'cowork', target: input.id }),
    async transact(tx, input, call) {
      const chosen = toSelection(input)
      check(chosen)
      const given = { id: input.id, scopes: input.scopes, selection: chosen }
      const { authEnabled, ...agent } = await identity.addAgent(tx, given, call)
      const notice = authEnabled ? ' Authentication is now on: every agent needs a token.' : ''
      return {
        ...agent,
        auth_enabled: authEnabled,
        message: `Added ${agent.id}. Save the token now: it is not shown again.${notice}`,
      }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_agents',
    title: 'List agents',
    description:
      'List agents from config, store and environment with scopes, tools and credentials.',
    idempotent: true,
    input: z.object({}),
    output: identityResults.cowork_list_agents,
    read: async () => ({ agents: (await identity.listAgents()).map(toAgentResult) }),
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_set_tools',
    title: 'Set the tools of an agent',
    description:
      'Change the tools that an agent lists and may call. The token stays valid. Omitted arguments change nothing.',
    role: 'owner',
    requiresPasskey: true,
    idempotent: true,
    input: z.object({ id, ...selectionInput }),
    output: identityResults.cowork_set_tools,
    describeTarget: (input) => ({ domain: 'cowork', target: input.id }),
    async transact(tx, input, call) {
      const set = await identity.setTools(tx, input, call)
      // The merged selection is checked here; an error rolls the change back.
      check(set.selection)
      const fields = toFields(set.selection)
      const message = `Set the tools of ${set.id}: ${describeSelection(fields)}.`
      return { id: set.id, ...fields, message }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_rotate_agent',
    title: 'Rotate the token of an agent',
    description:
      'Create a new token for an agent, which is shown only once. The old token stays valid for overlap_minutes.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({
      id,
      overlap_minutes: z
        .number()
        .int()
        .min(0)
        .max(1440)
        .default(10)
        .describe('How long the old token stays valid; 0 revokes it now'),
    }),
    output: identityResults.cowork_rotate_agent,
    describeTarget: (input) => ({ domain: 'cowork', target: input.id }),
    async transact(tx, input, call) {
      const given = { id: input.id, overlapMinutes: input.overlap_minutes }
      const { oldEndsAt, ...agent } = await identity.rotateAgent(tx, given, call)
      const ends = formatRfc3339(oldEndsAt)
      return {
        ...agent,
        old_token_ends_at: ends,
        message: `Rotated the token of ${agent.id}. Save the new token now: it is not shown again. The old token expires at ${ends}.`,
      }
    },
  }),
  defineTool({
    ...forPeople.destructive,
    name: 'cowork_revoke_agent',
    title: 'Revoke an agent',
    description: 'End all tokens, sessions and file grants of an agent immediately.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({ id }),
    output: identityResults.cowork_revoke_agent,
    describeTarget: (input) => ({ domain: 'cowork', target: input.id }),
    async transact(tx, input, call) {
      const revoked = await identity.revokeAgent(tx, input, call)
      return {
        id: revoked.id,
        revoked_at: formatRfc3339(revoked.at),
        message: `Revoked ${revoked.id}. Authentication stays on; \`cowork agents add\` adds an agent again.`,
      }
    },
  }),
]

function toAgentResult(agent: AgentWithCredentials): AgentResult {
  const { source, scopes, createdAt, lastSeenAt } = agent
  return {
    id: agent.id,
    source,
    status: isActive(agent) ? 'active' : 'revoked',
    scopes: [...scopes],
    ...toFields(agent.selection),
    ...(createdAt !== undefined && { created_at: formatRfc3339(createdAt) }),
    ...(lastSeenAt !== undefined && { last_seen_at: formatRfc3339(lastSeenAt) }),
    credentials: agent.credentials.map((credential) => ({
      hash_prefix: hashPrefix(credential.hash),
      ...(credential.createdAt !== undefined && {
        created_at: formatRfc3339(credential.createdAt),
      }),
      ...(credential.expiresAt !== undefined && {
        expires_at: formatRfc3339(credential.expiresAt),
      }),
    })),
  }
}
