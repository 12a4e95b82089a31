import { describeSelection } from '#base/selection-fields.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { agentName } from './agent-name.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { usage } from './exit.ts'
import { fields, table, wrapped } from './output.ts'
import { byPrefix } from './prefix.ts'
import { chosenFields, isChosen } from './tool-choice.ts'
import type { ToolOptions } from './tool-choice.ts'

type Minted = { id: string; token: string; hash: string; message: string }
type Listed = SelectionFields & {
  id: string
  source: string
  status: 'active' | 'revoked'
  scopes: string[]
  created_at?: string
  last_seen_at?: string
  credentials: { hash_prefix: string; expires_at?: string }[]
}

const words = { invalid_input: { hint: '`cowork agents add --help` shows what it takes.' } }

/** Prints the token, this once (K10). */
export async function addAgent(
  context: Context,
  id: string,
  { scope, ...options }: ToolOptions & { scope?: string[] },
) {
  const args = { id: agentName(id), ...(scope && { scopes: scope }), ...chosenFields(options) }
  show(context, await createClient(context, words).call<Minted>('cowork_add_agent', args))
}

export async function setTools(context: Context, given: string, options: ToolOptions) {
  const chosen = chosenFields(options)
  if (!isChosen(chosen))
    throw usage(
      'Nothing was given to change.',
      'Add --tools, --exclude, --no-exclude, --read-only or --no-read-only.',
    )
  const client = createClient(context)
  const id = await activeAgent(client, given)
  const set = await client.call<{ message: string }>('cowork_set_tools', { id, ...chosen })
  context.out.data(set, () => [set.message])
}

export async function rotateAgent(
  context: Context,
  given: string,
  { overlap }: { overlap?: number },
) {
  const client = createClient(context)
  const id = await activeAgent(client, given)
  const args = { id, ...(overlap !== undefined && { overlap_minutes: overlap }) }
  show(context, await client.call<Minted>('cowork_rotate_agent', args))
}

function show({ out }: Context, minted: Minted) {
  const { id, token, hash } = minted
  out.data(minted, () => fields({ id, token, hash }))
  for (const line of wrapped(minted.message)) out.note(line)
}

export async function revokeAgent(context: Context, given: string) {
  const client = createClient(context)
  const id = await activeAgent(client, given)
  const revoked = await client.call<{ message: string }>('cowork_revoke_agent', { id })
  context.out.data(revoked, () => [revoked.message])
}

export async function listAgents(context: Context) {
  const { agents } = await listed(createClient(context))
  const rows = agents.map((agent) => [
    agent.id,
    agent.status,
    agent.source,
    agent.scopes.join(' '),
    describeSelection(agent),
    agent.last_seen_at ?? 'not since start',
    agent.credentials.map((one) => one.hash_prefix).join(' '),
  ])
  const head = ['AGENT', 'STATUS', 'FROM', 'SCOPES', 'TOOLS', 'LAST SEEN', 'TOKENS']
  context.out.data({ agents }, () =>
    agents.length === 0
      ? ['No agents: the door is open to any on this machine.']
      : table(head, rows),
  )
}

/** For a config file: nothing is stored, so the daemon need not even run (K10). */
export async function newToken({ out }: Context) {
  const { mintToken } = await import('#identity')
  const minted = mintToken()
  out.data(minted, () => fields(minted))
}

const listed = (client: Client) => client.call<{ agents: Listed[] }>('cowork_list_agents')

async function activeAgent(client: Client, given: string): Promise<string> {
  const { agents } = await listed(client)
  const active = agents.filter(({ status }) => status === 'active')
  return byPrefix(
    given,
    active.map(({ id }) => id),
    'active agent',
    { made: '`cowork agents add <id>` adds one, also one that was revoked.' },
  )
}
