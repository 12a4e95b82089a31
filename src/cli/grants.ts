import { lstatSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { currentFolders, expandPath } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import { parseUntil } from './approvals.ts'
import { grantPermissions, grantScopes } from './choices.ts'
import type { Client } from './client.ts'
import { choice, command, flag, text, toolCommand, yesOption } from './command.ts'
import type { CommandSpec } from './command.ts'
import { usageError } from './exit.ts'
import { resolveRealPath } from './launcher.ts'
import { resolveAgent, resolvePrefix, formatIds, shortenIds } from './lookup.ts'
import { pluralize, formatFields, sanitize, formatRows, formatMinute } from './output.ts'
import { confirm } from './terminal.ts'
import type { PromptOptions } from './terminal.ts'

export type Grant = ToolResults['add_grant']

const agentOption = () => text('--agent <id>', 'limit to this agent')

export const listActiveGrants = async (client: Client): Promise<Grant[]> =>
  (await client.call('list_grants')).grants

/** Lists what agents may access outside the workspace (GR4). */
const listCommand = command({
  usage: 'list',
  summary: 'list grants',
  options: { agent: agentOption() },
  async run({ client, options }) {
    const only = await resolveAgent(client, options.agent)
    const all = await listActiveGrants(client)
    const grants = all.filter((grant) => only === undefined || ['*', only].includes(grant.agent))
    return { grants, all }
  },
  json: ({ grants }) => ({ grants }),
  show({ grants, all }) {
    const short = shortenIds(all.map(bareId))
    return formatRows(grants, 'No grants: agents access only the workspace.', {
      ID: (grant) => short(bareId(grant)),
      AGENT: formatGrantee,
      PERMISSION: (grant) => grant.permission,
      LASTS: formatGrantExpiry,
      USED: (grant) => grant.access_count,
      'LAST USED': ({ last_accessed: at }) => (at === null ? 'never' : formatMinute(at)),
      PATH: (grant) => grant.path,
    })
  },
})

export const grantsCommand: CommandSpec = {
  ...listCommand,
  usage: 'grants',
  summary: 'manage file grants',
  commands: [
    listCommand,
    command({
      usage: 'show <id|path>',
      summary: 'show a grant',
      run: ({ client, args: [given] }) => resolveGrant(client, given),
      show: (grant) =>
        formatFields({
          id: grant.id,
          path: `${sanitize(grant.path)} (${grant.kind})`,
          permission: grant.permission,
          agent: formatGrantee(grant),
          lasts: formatGrantExpiry(grant),
          session: grant.session ?? undefined,
          granted: `${formatMinute(grant.granted_at)}, ${grant.granted_by}`,
          used:
            grant.last_accessed === null
              ? 'never'
              : `${pluralize(grant.access_count, 'time')}, last ${formatMinute(grant.last_accessed)}`,
          reads: grant.hard_links ? 'files with another hard link too' : undefined,
        }),
    }),
    // A grant by a person (GR10): read access to a file unless options say more.
    command({
      usage: 'add <path>',
      summary: 'grant read access to a file or folder',
      options: {
        permission: choice(
          '--permission <what>',
          'access (default: read; write: only create new files)',
          grantPermissions,
        ),
        agent: agentOption(),
        scope: choice('--scope <how-long>', 'lifetime', grantScopes),
        until: text(
          '--until <time>',
          'expire at this time: 2h, 7d, 2027-03-01 (its end) or 2027-03-01T18:00',
        ),
        hardLinks: flag(
          '--hard-links',
          'include files with another hard link, possibly outside the folder',
        ),
        yes: yesOption('skip the confirmation, even for the home folder'),
      },
      async run({ client, person, args: [value], options }) {
        const { permission, until } = options
        const expiry = until === undefined ? undefined : parseUntil(until, Date.now())
        await person('Granting access')
        const path = resolveFromCwd(value)
        await confirmBroadGrant(path, options)
        const isHandedOver = permission === undefined && isFile(path)
        const denials = (await listActiveGrants(client)).filter(
          (grant) => grant.permission === 'deny',
        )
        const grant = await client.call('add_grant', {
          path,
          permission: permission ?? 'read',
          granted_by: isHandedOver ? 'user_implicit' : 'user_explicit',
          agent: await resolveAgent(client, options.agent),
          scope: options.scope,
          expires_at: expiry && 'until' in expiry ? expiry.until : undefined,
          hard_links: options.hardLinks,
        })
        return { grant, denials, remaining: await listActiveGrants(client) }
      },
      json: ({ grant }) => grant,
      show: ({ grant }) => [formatGrant(grant)],
      notes: ({ grant, denials, remaining }) => [
        ...denials.flatMap((denial) => {
          if (denial.path !== grant.path) return []
          if (!remaining.some(({ id }) => id === denial.id))
            return [`Replaces the denial for ${formatGrantee(denial)}.`]
          return grant.agent === '*' ? [`Still denied to ${formatGrantee(denial)}.`] : []
        }),
        `Run \`cowork grants revoke ${bareId(grant)}\` to revoke it.`,
      ],
    }),
    command({
      usage: 'revoke <id|path>',
      summary: 'revoke a grant',
      async run({ client, person, args: [given] }) {
        const { id, permission } = await resolveGrant(client, given)
        // Revoking access is safe; lifting a denial grants access (GR4, I10).
        if (permission === 'deny') await person('Lifting a denial')
        return { id, ...(await client.call('revoke_grant', { grant_id: id })) }
      },
      show: ({ id, revoked_path: path }) => [`Revoked ${id}.`, `Path: ${sanitize(path)}`],
      notes: ({ message }) => (message === undefined ? [] : [message]),
    }),
  ],
}

const formatGrantee = ({ agent }: Grant) => (agent === '*' ? 'all' : sanitize(agent))

function formatGrantExpiry({ scope, session, expires_at: until, replaced, path }: Grant): string {
  if (replaced) return `inactive: ${isMissing(path) ? 'path missing' : 'path replaced'}`
  if (session !== null) return 'this session'
  const restart = scope === 'session' ? 'restart' : ''
  if (until !== null) return `until ${[formatMinute(until), restart].filter(Boolean).join(' or ')}`
  return restart ? `until ${restart}` : scope
}

/** True if nothing exists at the path; a symlink counts as existing. */
export const isMissing = (path: string): boolean => !lstatSync(path, { throwIfNoEntry: false })

const idForm = /^grant_/
/** Removes the prefix, which people may omit. */
const bareId = ({ id }: Grant) => id.replace(idForm, '')

/** Finds a grant by its id, an id prefix, or its path if that is unique. */
async function resolveGrant(client: Client, given: string): Promise<Grant> {
  const grants = await listActiveGrants(client)
  const describe = (id: string) => {
    const grant = grants.find((candidate) => bareId(candidate) === id)
    return grant ? `${formatGrantee(grant)}  ${grant.permission}  ${sanitize(grant.path)}` : ''
  }
  const places =
    given.trim() === '' ? [] : [resolveFromCwd(given), resolveRealPath(resolveFromCwd(given))]
  const [only, ...others] = grants.filter(({ path }) => places.includes(path))
  if (only && others.length > 0)
    throw new CoworkError('ambiguous_id', `Several grants match: ${sanitize(only.path)}.`, {
      hint: formatIds('Pass one of these ids:', [only, ...others].map(bareId), describe),
    })
  const id = only
    ? bareId(only)
    : resolvePrefix(given.replace(idForm, ''), grants.map(bareId), 'grant', {
        describe,
        createHint: 'Run `cowork grants add <path>` to add one.',
      })
  const match = grants.find((grant) => bareId(grant) === id)
  if (!match) throw new Error(`grant ${id} not in the list`)
  return match
}

/** Asks before granting a home folder or a disk; the default answer is no. */
export async function confirmBroadGrant(path: string, asking: PromptOptions): Promise<void> {
  const { home } = currentFolders()
  const below = relative(resolveRealPath(path) ?? path, resolveRealPath(home) ?? home)
  if (below === '..' || below.startsWith('../')) return
  const what = below === '' ? 'your whole home folder' : 'your home folder and more'
  await confirm(`${sanitize(path)} is ${what}. Grant agents access to all of it?`, asking, false)
}

export function formatGrant(grant: Grant): string {
  const who = grant.agent === '*' ? 'Agents' : sanitize(grant.agent)
  const path = sanitize(grant.path)
  if (grant.permission === 'deny')
    return `${who} may not use ${path}, and new requests are rejected.`
  return `${who} may ${permissionVerb(grant)} ${path}${formatGrantEnd(grant)}.`
}

function formatGrantEnd(grant: Grant): string {
  const { scope, session, expires_at: until } = grant
  if (until !== null) return ` until ${formatMinute(until)} UTC`
  if (session !== null) return ' in this session'
  return scope === 'session' ? ' until cowork is restarted' : ''
}

function permissionVerb({ permission }: Grant): string {
  if (permission === 'write') return 'create files in'
  return permission === 'read-write' ? 'read and write' : 'read'
}

/** Resolves a path from the terminal's current folder. */
export function resolveFromCwd(given: string): string {
  // An empty path, as from an unset shell variable, is not the current folder.
  if (given.trim() === '')
    throw usageError('Empty path.', 'Name a file or folder; use `.` for the current folder.')
  const { home, cwd } = currentFolders()
  return expandPath(given, home, cwd)
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

type Permission = ToolResults['cowork_list_permissions']['permissions'][number]

const tool = 'cowork_list_permissions'

const permissionIds = async (client: Client) =>
  (await client.call(tool)).permissions.map(({ id }) => id)

/** Lists and revokes standing permissions (Y8). */
export const permissionsCommand = toolCommand({
  usage: 'permissions',
  summary: 'manage standing permissions',
  tool,
  show({ permissions }) {
    const short = shortenIds(permissions.map(({ id }) => id))
    return formatRows(permissions, 'No standing permissions.', {
      ID: ({ id }) => short(id),
      AGENT: (one) => one.agent_id,
      TOOL: (one) => one.tool,
      LASTS: formatPermissionExpiry,
      BY: (one) => one.granted_by,
      'LAST USED': (one) => one.last_used_at ?? 'never',
      ARGUMENTS: formatArguments,
    })
  },
  commands: [
    toolCommand({
      usage: 'revoke <id>',
      summary: 'revoke a standing permission',
      tool: 'cowork_revoke_permission',
      input: async ({ client, args: [given] }) => ({
        id: resolvePrefix(given, await permissionIds(client), 'permission', {
          createHint: 'Run `cowork approve <id> --allow <time>` to add one.',
        }),
      }),
      show: ({ id }) => `Revoked ${id}: the next matching call needs approval.`,
    }),
  ],
})

function formatArguments({ arguments: globs, exact }: Permission): string {
  if (!globs) return 'exactly as approved'
  const rest = exact.length > 0 ? `, ${exact.join(', ')} as approved` : ''
  return JSON.stringify(globs) + rest
}

function formatPermissionExpiry(one: Permission): string {
  if (one.for === 'uses') return `${one.uses_left ?? 0} uses`
  if (one.for === 'until') return `until ${one.expires_at ?? '?'}`
  return one.for === 'session' ? 'this session' : one.for
}
