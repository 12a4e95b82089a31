import { describeSelection } from '#base/selection-fields.ts'
import type { ToolResults } from '#wire'
import { parseAgentName, resolvePrefix } from './lookup.ts'
import type { Client } from './client.ts'
import { command, flag, list, toolCommand, toolOptions, integer } from './command.ts'
import type { CommandSpec } from './command.ts'
import { usageError } from './exit.ts'
import { formatFields, formatRows, wrapText } from './output.ts'
import { toSelectionFields, hasFields } from './agent-plan.ts'

type Minted = ToolResults['cowork_add_agent' | 'cowork_rotate_agent']

/** The token is printed only once (K10). */
const minted = {
  show: ({ id, token, hash }: Minted) => formatFields({ id, token, hash }),
  notes: ({ message }: Minted) => wrapText(message),
}
const message = (answer: { message: string }) => [answer.message]

export const agentsCommand: CommandSpec = {
  usage: 'agents',
  summary: 'manage agents and tokens',
  commands: [
    toolCommand({
      usage: 'add <id>',
      summary: 'add an agent and print its token once',
      options: {
        scope: list('--scope <globs...>', 'allowed scopes, such as read:* (default: all)'),
        ...toolOptions,
      },
      messages: { invalid_input: { hint: 'Run `cowork agents add --help` for valid values.' } },
      tool: 'cowork_add_agent',
      input: ({ args: [id], options: { scope, ...options } }) => ({
        id: parseAgentName(id),
        scopes: scope,
        ...toSelectionFields(options),
      }),
      ...minted,
    }),
    toolCommand({
      usage: 'set <id>',
      summary: "change an agent's tools; keep its token",
      options: {
        ...toolOptions,
        noExclude: flag('--no-exclude', 'exclude nothing'),
        noReadOnly: flag('--no-read-only', 'list writing tools again'),
      },
      check({ options }) {
        if (!hasFields(toSelectionFields(options)))
          throw usageError(
            'No change specified.',
            'Add --tools, --exclude, --no-exclude, --read-only or --no-read-only.',
          )
      },
      tool: 'cowork_set_tools',
      input: async ({ client, args: [name], options }) => ({
        id: await activeAgent(client, name),
        ...toSelectionFields(options),
      }),
      show: message,
    }),
    toolCommand({
      usage: 'ls',
      summary: 'list agents',
      tool: 'cowork_list_agents',
      show: ({ agents }) =>
        formatRows(agents, 'No agents. Authentication is off: any local program can connect.', {
          AGENT: ({ id }) => id,
          STATUS: ({ status }) => status,
          FROM: ({ source }) => source,
          SCOPES: ({ scopes }) => scopes.join(' '),
          TOOLS: describeSelection,
          'LAST SEEN': (agent) => agent.last_seen_at ?? 'not since start',
          TOKENS: ({ credentials }) => credentials.map(({ hash_prefix }) => hash_prefix).join(' '),
        }),
    }),
    toolCommand({
      usage: 'rotate <id>',
      summary: "replace an agent's token",
      options: {
        overlap: integer('--overlap <minutes>', 'keep the old token valid this long (default: 10)'),
      },
      tool: 'cowork_rotate_agent',
      input: async ({ client, args: [name], options: { overlap } }) => ({
        id: await activeAgent(client, name),
        overlap_minutes: overlap,
      }),
      ...minted,
    }),
    toolCommand({
      usage: 'revoke <id>',
      summary: "revoke an agent's tokens and end its sessions",
      tool: 'cowork_revoke_agent',
      input: async ({ client, args: [name] }) => ({ id: await activeAgent(client, name) }),
      show: message,
    }),
    // The daemon need not run: nothing is stored (K10).
    command({
      usage: 'token',
      summary: 'generate a token for a config file, without storing it',
      run: async () => (await import('#identity')).mintToken(),
      show: formatFields,
    }),
  ],
}

async function activeAgent(client: Client, name: string): Promise<string> {
  const { agents } = await client.call('cowork_list_agents')
  const active = agents.filter(({ status }) => status === 'active').map(({ id }) => id)
  return resolvePrefix(name, active, 'active agent', {
    createHint: 'Run `cowork agents add <id>` to add one, even a revoked one.',
  })
}
