import { describeSelection } from '#base/selection-fields.ts'
import type { ToolResults } from '#wire'
import { parseAgentName, resolvePrefix } from './lookup.ts'
import type { Client } from './client.ts'
import { command, flag, list, toolCommand, toolOptions, whole } from './command.ts'
import type { Entry } from './command.ts'
import { usageError } from './exit.ts'
import { formatFields, tableOf, wrapText } from './output.ts'
import { chosenFields, isChosen } from './agent-plan.ts'

type Minted = ToolResults['cowork_add_agent' | 'cowork_rotate_agent']

/** The token is printed this once (K10). */
const minted = {
  show: ({ id, token, hash }: Minted) => formatFields({ id, token, hash }),
  notes: ({ message }: Minted) => wrapText(message),
}
const message = (answer: { message: string }) => [answer.message]

export const agentsCommand: Entry = {
  usage: 'agents',
  summary: 'who may come in over MCP',
  commands: [
    toolCommand({
      usage: 'add <id>',
      summary: 'register an agent and print its token, this once',
      options: {
        scope: list('--scope <globs...>', 'what it may do, such as read:* (default: everything)'),
        ...toolOptions,
      },
      words: { invalid_input: { hint: '`cowork agents add --help` shows what it takes.' } },
      tool: 'cowork_add_agent',
      input: ({ args: [id], options: { scope, ...options } }) => ({
        id: parseAgentName(id),
        scopes: scope,
        ...chosenFields(options),
      }),
      ...minted,
    }),
    toolCommand({
      usage: 'set <id>',
      summary: "change an agent's tools; its token stays",
      options: {
        ...toolOptions,
        noExclude: flag('--no-exclude', 'exclude nothing'),
        noReadOnly: flag('--no-read-only', 'allow writing again'),
      },
      check({ options }) {
        if (!isChosen(chosenFields(options)))
          throw usageError(
            'Nothing was given to change.',
            'Add --tools, --exclude, --no-exclude, --read-only or --no-read-only.',
          )
      },
      tool: 'cowork_set_tools',
      input: async ({ client, args: [given], options }) => ({
        id: await activeAgent(client, given),
        ...chosenFields(options),
      }),
      show: message,
    }),
    toolCommand({
      usage: 'ls',
      summary: 'list them',
      tool: 'cowork_list_agents',
      show: ({ agents }) =>
        tableOf(agents, 'No agents: the door is open to any on this machine.', {
          AGENT: ({ id }) => id,
          STATUS: ({ status }) => status,
          FROM: ({ source }) => source,
          SCOPES: ({ scopes }) => scopes.join(' '),
          TOOLS: describeSelection,
          'LAST SEEN': (agent) => agent.last_seen_at ?? 'not since start',
          TOKENS: ({ credentials }) => credentials.map((one) => one.hash_prefix).join(' '),
        }),
    }),
    toolCommand({
      usage: 'rotate <id>',
      summary: 'give an agent a new token',
      options: {
        overlap: whole('--overlap <minutes>', 'how long the old one still works (default: 10)'),
      },
      tool: 'cowork_rotate_agent',
      input: async ({ client, args: [given], options: { overlap } }) => ({
        id: await activeAgent(client, given),
        overlap_minutes: overlap,
      }),
      ...minted,
    }),
    toolCommand({
      usage: 'revoke <id>',
      summary: "end an agent's tokens and sessions at once",
      tool: 'cowork_revoke_agent',
      input: async ({ client, args: [given] }) => ({ id: await activeAgent(client, given) }),
      show: message,
    }),
    // Nothing is stored, so the daemon need not even run (K10).
    command({
      usage: 'token',
      summary: 'make a token for a config file, without storing it',
      run: async () => (await import('#identity')).mintToken(),
      show: formatFields,
    }),
  ],
}

async function activeAgent(client: Client, given: string): Promise<string> {
  const { agents } = await client.call('cowork_list_agents')
  const active = agents.filter(({ status }) => status === 'active').map(({ id }) => id)
  return resolvePrefix(given, active, 'active agent', {
    made: '`cowork agents add <id>` adds one, also one that was revoked.',
  })
}
