import type { ToolResults } from '#wire'
import type { Client } from './client.ts'
import { toolCommand } from './command.ts'
import { tableOf } from './output.ts'
import { byPrefix, shortIds } from './prefix.ts'

type Permission = ToolResults['cowork_list_permissions']['permissions'][number]

const tool = 'cowork_list_permissions'

const idsOf = async (client: Client) => (await client.call(tool)).permissions.map(({ id }) => id)

/** What was allowed for longer than once (Y8). */
export const permissionsCommand = toolCommand({
  usage: 'permissions',
  summary: 'what is allowed for longer than once',
  tool,
  show({ permissions }) {
    const short = shortIds(permissions.map(({ id }) => id))
    return tableOf(permissions, 'Nothing is allowed for longer than once.', {
      ID: ({ id }) => short(id),
      AGENT: (one) => one.agent_id,
      TOOL: (one) => one.tool,
      LASTS: lasting,
      BY: (one) => one.granted_by,
      'LAST USED': (one) => one.last_used_at ?? 'never',
      ARGUMENTS: argumentsOf,
    })
  },
  commands: [
    toolCommand({
      usage: 'revoke <id>',
      summary: 'take one back',
      tool: 'cowork_revoke_permission',
      input: async ({ client, args: [given] }) => ({
        id: byPrefix(given, await idsOf(client), 'permission', {
          made: '`cowork approve <id> --allow <how long>` gives one.',
        }),
      }),
      show: ({ id }) => `Revoked ${id}: the next such call asks again.`,
    }),
  ],
})

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
