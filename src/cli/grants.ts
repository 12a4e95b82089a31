import { lstatSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { currentFolders, expandPath } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import { parseUntil } from './approvals.ts'
import { grantPermissions, grantScopes } from './choices.ts'
import type { Client } from './client.ts'
import { choice, command, flag, text, toolCommand, yes } from './command.ts'
import type { Entry } from './command.ts'
import { usageError } from './exit.ts'
import { realPathOf } from './launcher.ts'
import { resolveAgent, resolvePrefix, formatIds, shortenIds } from './lookup.ts'
import { pluralize, formatFields, sanitize, tableOf, formatMinute } from './output.ts'
import { confirm } from './terminal.ts'
import type { PromptOptions } from './terminal.ts'

export type Grant = ToolResults['add_grant']

const agent = () => text('--agent <id>', 'only for this agent')

export const listActiveGrants = async (client: Client): Promise<Grant[]> =>
  (await client.call('list_grants')).grants

/** What agents may see of the user's own files (GR4). */
const listCommand = command({
  usage: 'list',
  summary: 'list them',
  options: { agent: agent() },
  async run({ client, options }) {
    const only = await resolveAgent(client, options.agent)
    const all = await listActiveGrants(client)
    const grants = all.filter((grant) => only === undefined || ['*', only].includes(grant.agent))
    return { grants, all }
  },
  json: ({ grants }) => ({ grants }),
  show({ grants, all }) {
    const short = shortenIds(all.map(bareId))
    return tableOf(grants, 'Agents may see nothing but their workspace.', {
      ID: (grant) => short(bareId(grant)),
      AGENT: whoText,
      PERMISSION: (grant) => grant.permission,
      LASTS: lasting,
      USED: (grant) => grant.access_count,
      'LAST USED': ({ last_accessed: at }) => (at === null ? 'never' : formatMinute(at)),
      PATH: (grant) => grant.path,
    })
  },
})

export const grantsCommand: Entry = {
  ...listCommand,
  usage: 'grants',
  summary: 'what agents may see of your own files',
  commands: [
    listCommand,
    command({
      usage: 'show <id|path>',
      summary: 'one of them',
      run: ({ client, args: [given] }) => grantNamed(client, given),
      show: (grant) =>
        formatFields({
          id: grant.id,
          path: `${sanitize(grant.path)} (${grant.kind})`,
          permission: grant.permission,
          agent: whoText(grant),
          lasts: lasting(grant),
          session: grant.session ?? undefined,
          granted: `${formatMinute(grant.granted_at)}, ${grant.granted_by}`,
          used:
            grant.last_accessed === null
              ? 'never'
              : `${pluralize(grant.access_count, 'time')}, last ${formatMinute(grant.last_accessed)}`,
          reads: grant.hard_links ? 'files with a second hard link, too' : undefined,
        }),
    }),
    // What a person hands over (GR10): a file to be read, unless more is said.
    command({
      usage: 'add <path>',
      summary: 'let agents read a file or folder of yours',
      options: {
        permission: choice('--permission <what>', 'write creates new files only', grantPermissions),
        agent: agent(),
        scope: choice('--scope <how-long>', 'how long', grantScopes),
        until: text('--until <time>', 'such as 2h, 7d, 2027-03-01 (its end) or 2027-03-01T18:00'),
        hardLinks: flag('--hard-links', 'also files with a second name, perhaps elsewhere'),
        yes: yes('without asking, also for your whole home folder'),
      },
      async run({ client, person, args: [given], options }) {
        const { permission, until } = options
        const ends = until === undefined ? undefined : parseUntil(until, Date.now())
        await person('Granting access')
        const path = resolveFromCwd(given)
        await confirmBroadGrant(path, options)
        const isHandedOver = permission === undefined && isFile(path)
        const denials = (await listActiveGrants(client)).filter((one) => one.permission === 'deny')
        const grant = await client.call('add_grant', {
          path,
          permission: permission ?? 'read',
          granted_by: isHandedOver ? 'user_implicit' : 'user_explicit',
          agent: await resolveAgent(client, options.agent),
          scope: options.scope,
          expires_at: ends && 'until' in ends ? ends.until : undefined,
          hard_links: options.hardLinks,
        })
        return { grant, denials, still: await listActiveGrants(client) }
      },
      json: ({ grant }) => grant,
      show: ({ grant }) => [formatGrant(grant)],
      notes: ({ grant, denials, still }) => [
        ...denials.flatMap((denial) => {
          if (denial.path !== grant.path) return []
          if (!still.some(({ id }) => id === denial.id))
            return [`This replaces what was denied to ${whoText(denial)} for good.`]
          return grant.agent === '*' ? [`It stays denied to ${whoText(denial)}.`] : []
        }),
        `\`cowork grants revoke ${bareId(grant)}\` takes it back.`,
      ],
    }),
    command({
      usage: 'revoke <id|path>',
      summary: 'close it again',
      async run({ client, person, args: [given] }) {
        const { id, permission } = await grantNamed(client, given)
        // Taking access away harms nobody; lifting a denial gives it (GR4, I10).
        if (permission === 'deny') await person('Lifting a denial')
        return { id, ...(await client.call('revoke_grant', { grant_id: id })) }
      },
      show: ({ id, revoked_path: path }) => [`Revoked ${id}.`, `It was for ${sanitize(path)}.`],
      notes: ({ message }) => (message === undefined ? [] : [message]),
    }),
  ],
}

const whoText = ({ agent }: Grant) => (agent === '*' ? 'all' : sanitize(agent))

function lasting({ scope, session, expires_at: until, replaced, path }: Grant): string {
  if (replaced) return `no more: ${isMissing(path) ? 'gone' : 'replaced'}`
  if (session !== null) return 'this session'
  const restart = scope === 'session' ? 'restart' : ''
  if (until !== null) return `until ${[formatMinute(until), restart].filter(Boolean).join(' or ')}`
  return restart ? `until ${restart}` : scope
}

/** A link in its place is something else, wherever it leads. */
export const isMissing = (path: string): boolean => !lstatSync(path, { throwIfNoEntry: false })

const idForm = /^grant_/
/** The first word of an id may be left out. */
const bareId = ({ id }: Grant) => id.replace(idForm, '')

/** By its id, the beginning of it, or its path where no other is for that path. */
async function grantNamed(client: Client, given: string): Promise<Grant> {
  const grants = await listActiveGrants(client)
  const told = (id: string) => {
    const grant = grants.find((one) => bareId(one) === id)
    return grant ? `${whoText(grant)}  ${grant.permission}  ${sanitize(grant.path)}` : ''
  }
  const places =
    given.trim() === '' ? [] : [resolveFromCwd(given), realPathOf(resolveFromCwd(given))]
  const [only, ...others] = grants.filter(({ path }) => places.includes(path))
  if (only && others.length > 0)
    throw new CoworkError('ambiguous_id', `More than one grant is for ${sanitize(only.path)}.`, {
      hint: formatIds('Name one of them:', [only, ...others].map(bareId), told),
    })
  const id = only
    ? bareId(only)
    : resolvePrefix(given.replace(idForm, ''), grants.map(bareId), 'grant', {
        told,
        made: '`cowork grants add <path>` gives one.',
      })
  const found = grants.find((grant) => bareId(grant) === id)
  if (!found) throw new Error(`the grant ${id} was there a moment ago`)
  return found
}

/** A home, or a disk, is more than most mean to show: it takes a yes, and an Enter too many is none. */
export async function confirmBroadGrant(path: string, asking: PromptOptions): Promise<void> {
  const { home } = currentFolders()
  const below = relative(realPathOf(path) ?? path, realPathOf(home) ?? home)
  if (below === '..' || below.startsWith('../')) return
  const what = below === '' ? 'your whole home folder' : 'your home folder and more'
  await confirm(`${sanitize(path)} is ${what}. Open all of it to agents?`, asking, false)
}

export function formatGrant(grant: Grant): string {
  const who = grant.agent === '*' ? 'Agents' : sanitize(grant.agent)
  const path = sanitize(grant.path)
  if (grant.permission === 'deny')
    return `${who} may not use ${path}, and you are not asked about it again.`
  return `${who} may ${verbOf(grant)} ${path}${endText(grant)}.`
}

function endText(grant: Grant): string {
  const { scope, session, expires_at: until } = grant
  if (until !== null) return ` until ${formatMinute(until)} UTC`
  if (session !== null) return ' in this session'
  return scope === 'session' ? ' until cowork is restarted' : ''
}

function verbOf({ permission }: Grant): string {
  if (permission === 'write') return 'create files in'
  return permission === 'read-write' ? 'read and write' : 'read'
}

/** From the terminal's folder, as every command there takes a path. */
export function resolveFromCwd(given: string): string {
  // An unset variable in a script is not the folder that it runs in.
  if (given.trim() === '')
    throw usageError('The path is empty.', 'Name a file or a folder; `.` is the one you are in.')
  const { home, cwd } = currentFolders()
  return expandPath(given, home, cwd)
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

type Permission = ToolResults['cowork_list_permissions']['permissions'][number]

const tool = 'cowork_list_permissions'

const permissionIds = async (client: Client) =>
  (await client.call(tool)).permissions.map(({ id }) => id)

/** What was allowed for longer than once (Y8). */
export const permissionsCommand = toolCommand({
  usage: 'permissions',
  summary: 'what is allowed for longer than once',
  tool,
  show({ permissions }) {
    const short = shortenIds(permissions.map(({ id }) => id))
    return tableOf(permissions, 'Nothing is allowed for longer than once.', {
      ID: ({ id }) => short(id),
      AGENT: (one) => one.agent_id,
      TOOL: (one) => one.tool,
      LASTS: permissionLasts,
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
        id: resolvePrefix(given, await permissionIds(client), 'permission', {
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

function permissionLasts(one: Permission): string {
  if (one.for === 'uses') return `${one.uses_left ?? 0} uses`
  if (one.for === 'until') return `until ${one.expires_at ?? '?'}`
  return one.for === 'session' ? 'this session' : one.for
}
