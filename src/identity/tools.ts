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

const id = z.string().min(1).max(256).describe('The id of the agent, as in sales-agent')
const scope = z
  .string()
  .regex(/^[^\s\p{C}]{1,128}$/u, 'a scope is 1 to 128 characters without spaces')

const names = z.array(z.string().min(1).max(128)).max(256)
/** The tools that an agent lists and may call (SV18). */
const selectionInput = {
  tools: names
    .optional()
    .describe('Toolsets and tools that it lists, or core or all; core by default'),
  exclude: names.optional().describe('Toolsets and tools that it may not call'),
  read_only: z.boolean().optional().describe('Only tools that read, and those that ask a person'),
}

/** `catalogue` returns every tool; the tools of agents are chosen from it. */
export const identityTools = (identity: Identity, catalogue: () => readonly Tool[]): Tool[] => [
  ...agentTools(identity, (chosen) => {
    if (chosen) checkSelection(chosen, catalogue())
  }),
  ...peopleTools(identity),
  ...passkeyTools(identity),
]

/** How people manage agents. Tokens leave by the answers of these tools alone, once. */
const agentTools = (
  identity: Identity,
  check: (selection: ToolSelection | undefined) => void,
): Tool[] => [
  defineTool({
    ...forPeople.write,
    name: 'cowork_add_agent',
    title: 'Add an agent',
    description:
      'Registers an agent and gives its token, which is shown only here. The first agent closes the door: from then on every agent needs a token.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({
      id,
      scopes: z
        .array(scope)
        .min(1)
        .max(64)
        .optional()
        .describe('What it may do, as globs over effect:toolset, such as read:*; all by default'),
      ...selectionInput,
    }),
    output: identityResults.cowork_add_agent,
    describeTarget: (input) => ({ domain: 'cowork', target: input.id }),
    async transact(tx, input, call) {
      const chosen = toSelection(input)
      check(chosen)
      const given = { id: input.id, scopes: input.scopes, selection: chosen }
      const { authEnabled, ...agent } = await identity.addAgent(tx, given, call)
      const closed = authEnabled
        ? ' It is the first agent and closes the door: from now on every agent needs a token.'
        : ''
      return {
        ...agent,
        closed_the_door: authEnabled,
        message: `Added ${agent.id}. Keep its token now: it is not shown again.${closed}`,
      }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_agents',
    title: 'List agents',
    description:
      'Lists the agents of config, store and environment with their scopes, tools and credentials.',
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
      'Changes which tools an agent lists and may call. Its token stays. Arguments that are left out change nothing.',
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
      'Gives an agent a new token, which is shown only here. The old one works on for overlap_minutes.',
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
        .describe('How long the old token still works; 0 ends it at once'),
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
        message: `Rotated ${agent.id}. Keep its token now: it is not shown again. The old one ends at ${ends}.`,
      }
    },
  }),
  defineTool({
    ...forPeople.destructive,
    name: 'cowork_revoke_agent',
    title: 'Revoke an agent',
    description: 'Ends every token, session and file grant of an agent at once.',
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
        message: `Revoked ${revoked.id}. The door stays closed; \`cowork agents add\` brings an agent back.`,
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
    credentials: agent.credentials.map((one) => ({
      hash_prefix: hashPrefix(one.hash),
      ...(one.createdAt !== undefined && { created_at: formatRfc3339(one.createdAt) }),
      ...(one.expiresAt !== undefined && { expires_at: formatRfc3339(one.expiresAt) }),
    })),
  }
}
