import type { Client } from './client.ts'
import { byPrefix } from './prefix.ts'

/**
 * The agent that is meant, among those registered and those that have earned or lost trust. Where the
 * door is open anybody may come in, so a name nobody has used yet is taken as it is.
 */
export async function agentNamed(client: Client, given: string): Promise<string>
export async function agentNamed(
  client: Client,
  given: string | undefined,
): Promise<string | undefined>
export async function agentNamed(
  client: Client,
  given: string | undefined,
): Promise<string | undefined> {
  if (given === undefined) return undefined
  const [{ agents }, { trust }] = await Promise.all([
    client.call('cowork_list_agents'),
    client.call('cowork_status'),
  ])
  const active = agents.filter(({ status }) => status === 'active').map(({ id }) => id)
  const known = [...new Set([...active, ...trust.map((pair) => pair.agent_id)])]
  const isUnknown = !known.some((id) => id.startsWith(given))
  return isUnknown && active.length === 0 ? given : byPrefix(given, known, 'agent')
}
