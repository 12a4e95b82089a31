import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { table } from './output.ts'
import { plain } from './plain.ts'
import { byPrefix, shortIds } from './prefix.ts'

type Permission = {
  id: string
  agent_id: string
  tool: string
  arguments: Record<string, string> | null
  exact: string[]
  for: string
  uses_left: number | null
  session: string | null
  expires_at: string | null
  granted_by: string
  granted_at: string
  last_used_at: string | null
}

const listed = (client: Client) =>
  client.call<{ permissions: Permission[] }>('cowork_list_permissions')

/** What was allowed for longer than once (Y8). */
export async function listPermissions(context: Context): Promise<void> {
  const { permissions } = await listed(createClient(context))
  const short = shortIds(permissions.map(({ id }) => id))
  const head = ['ID', 'AGENT', 'TOOL', 'LASTS', 'BY', 'LAST USED', 'ARGUMENTS']
  const rows = permissions.map((one) => [
    short(one.id),
    plain(one.agent_id),
    plain(one.tool),
    lasting(one),
    plain(one.granted_by),
    one.last_used_at ?? 'never',
    plain(argumentsOf(one)),
  ])
  context.out.data({ permissions }, () =>
    permissions.length > 0 ? table(head, rows) : ['Nothing is allowed for longer than once.'],
  )
}

function argumentsOf({ arguments: globs, exact }: Permission): string {
  if (!globs) return 'exactly as approved'
  const rest = exact.length > 0 ? `, ${exact.join(', ')} as approved` : ''
  return JSON.stringify(globs) + rest
}

function lasting(one: Permission): string {
  if (one.for === 'uses') return `${one.uses_left ?? 0} uses`
  if (one.for === 'until') return `until ${one.expires_at ?? '?'}`
  return one.for === 'session' ? 'this session' : one.for
}

export async function revokePermission(context: Context, given: string): Promise<void> {
  const client = createClient(context)
  const { permissions } = await listed(client)
  const id = byPrefix(
    given,
    permissions.map((one) => one.id),
    'permission',
    { made: '`cowork approve <id> --allow <how long>` gives one.' },
  )
  const revoked = await client.call<object>('cowork_revoke_permission', { id })
  context.out.data(revoked, () => [`Revoked ${id}: the next such call asks again.`])
}
