import { lstatSync, realpathSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { agentNamed } from './agent-named.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { currentFolders, expandPath } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { usage } from './exit.ts'
import { minuteOf } from './files.ts'
import { untilOf } from './grant-choice.ts'
import { fields, table } from './output.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'
import { byPrefix, listed, shortIds } from './prefix.ts'
import { countText } from './sizes.ts'
import { confirmed } from './terminal.ts'
import type { Asking } from './terminal.ts'

export type Grant = {
  id: string
  agent: string
  path: string
  kind: 'file' | 'folder'
  permission: string
  scope: string
  session: string | null
  hard_links: boolean
  granted_at: string
  granted_by: string
  expires_at: string | null
  last_accessed: string | null
  access_count: number
  /** What was granted is not at its path any more: it opens nothing. */
  replaced?: boolean
}

export const liveGrants = async (client: Client): Promise<Grant[]> =>
  (await client.call<{ grants: Grant[] }>('list_grants')).grants

/** What agents may see of the user's own files (GR4). */
export async function listGrants(
  context: Context,
  { agent: given }: { readonly agent?: string },
): Promise<void> {
  const client = createClient(context)
  const agent = given === undefined ? undefined : await agentNamed(client, given)
  const all = await liveGrants(client)
  const grants = all.filter((grant) => agent === undefined || ['*', agent].includes(grant.agent))
  const short = shortIds(all.map(bareId))
  context.out.data({ grants }, () =>
    grants.length === 0
      ? ['Agents may see nothing but their workspace.']
      : table(
          ['ID', 'AGENT', 'PERMISSION', 'LASTS', 'USED', 'LAST USED', 'PATH'],
          grants.map((grant) => [
            short(bareId(grant)),
            whoText(grant),
            grant.permission,
            lasting(grant),
            grant.access_count,
            grant.last_accessed === null ? 'never' : minuteOf(grant.last_accessed),
            plain(grant.path),
          ]),
        ),
  )
}

const whoText = ({ agent }: Grant) => (agent === '*' ? 'all' : plain(agent))

function lasting({ scope, session, expires_at: until, replaced, path }: Grant): string {
  if (replaced) return `no more: ${isGone(path) ? 'gone' : 'replaced'}`
  if (session !== null) return 'this session'
  const restart = scope === 'session' ? 'restart' : ''
  if (until !== null) return `until ${[minuteOf(until), restart].filter(Boolean).join(' or ')}`
  return restart ? `until ${restart}` : scope
}

/** A link in its place is something else, wherever it leads. */
export const isGone = (path: string): boolean => !lstatSync(path, { throwIfNoEntry: false })

const idForm = /^grant_/
/** The first word of an id may be left out. */
const bareId = ({ id }: Grant) => id.replace(idForm, '')

/** By its id, the beginning of it, or its path where no other is for that path. */
async function grantNamed(client: Client, given: string): Promise<Grant> {
  const grants = await liveGrants(client)
  const told = (id: string) => {
    const grant = grants.find((one) => bareId(one) === id)
    return grant ? `${whoText(grant)}  ${grant.permission}  ${plain(grant.path)}` : ''
  }
  const places = given.trim() === '' ? [] : [pathHere(given), realOf(pathHere(given))]
  const [only, ...others] = grants.filter(({ path }) => places.includes(path))
  if (only && others.length > 0)
    throw new CoworkError('ambiguous_id', `More than one grant is for ${plain(only.path)}.`, {
      hint: listed('Name one of them:', [only, ...others].map(bareId), told),
    })
  const id = only
    ? bareId(only)
    : byPrefix(given.replace(idForm, ''), grants.map(bareId), 'grant', {
        told,
        made: '`cowork grants add <path>` gives one.',
      })
  const found = grants.find((grant) => bareId(grant) === id)
  if (!found) throw new Error(`the grant ${id} was there a moment ago`)
  return found
}

export async function showGrant(context: Context, given: string): Promise<void> {
  const grant = await grantNamed(createClient(context), given)
  const links = grant.hard_links ? 'files with a second hard link, too' : undefined
  context.out.data(grant, () =>
    fields({
      id: grant.id,
      path: `${plain(grant.path)} (${grant.kind})`,
      permission: grant.permission,
      agent: whoText(grant),
      lasts: lasting(grant),
      session: grant.session ?? undefined,
      granted: `${minuteOf(grant.granted_at)}, ${grant.granted_by}`,
      used:
        grant.last_accessed === null
          ? 'never'
          : `${countText(grant.access_count, 'time')}, last ${minuteOf(grant.last_accessed)}`,
      reads: links,
    }),
  )
}

export type AddGrantFlags = Asking & {
  readonly permission?: string
  readonly agent?: string
  readonly scope?: string
  readonly until?: string
  readonly hardLinks?: boolean
}

/** What a person hands over (GR10): a file to be read, unless more is said. */
export async function addGrant(
  context: Context,
  given: string,
  { permission, agent, scope, until, hardLinks = false, ...asking }: AddGrantFlags,
): Promise<void> {
  const ends = until === undefined ? undefined : untilOf(until, Date.now())
  requirePersonHere(context, 'Granting access')
  const client = createClient(context)
  const path = pathHere(given)
  await confirmWhole(path, asking)
  const isHandedOver = permission === undefined && isFile(path)
  const denials = (await liveGrants(client)).filter((one) => one.permission === 'deny')
  const grant = await client.call<Grant>('add_grant', {
    path,
    permission: permission ?? 'read',
    granted_by: isHandedOver ? 'user_implicit' : 'user_explicit',
    ...(agent !== undefined && { agent: await agentNamed(client, agent) }),
    ...(scope !== undefined && { scope }),
    ...(ends && 'until' in ends && { expires_at: ends.until }),
    ...(hardLinks && { hard_links: true }),
  })
  context.out.data(grant, () => [grantedText(grant)])
  const still = await liveGrants(client)
  for (const denial of denials.filter(({ path: at }) => at === grant.path))
    if (!still.some(({ id }) => id === denial.id))
      context.out.note(`This replaces what was denied to ${whoText(denial)} for good.`)
    else if (grant.agent === '*') context.out.note(`It stays denied to ${whoText(denial)}.`)
  context.out.note(`\`cowork grants revoke ${bareId(grant)}\` takes it back.`)
}

/** A home, or a disk, is more than most mean to show: it takes a yes, and an Enter too many is none. */
export async function confirmWhole(path: string, asking: Asking): Promise<void> {
  const { home } = currentFolders()
  const below = relative(realOf(path), realOf(home))
  if (below === '..' || below.startsWith('../')) return
  const what = below === '' ? 'your whole home folder' : 'your home folder and more'
  await confirmed(`${plain(path)} is ${what}. Open all of it to agents?`, asking, false)
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export function grantedText(grant: Grant): string {
  const who = grant.agent === '*' ? 'Agents' : plain(grant.agent)
  const path = plain(grant.path)
  if (grant.permission === 'deny')
    return `${who} may not use ${path}, and you are not asked about it again.`
  return `${who} may ${verbOf(grant)} ${path}${endText(grant)}.`
}

function endText(grant: Grant): string {
  const { scope, session, expires_at: until } = grant
  if (until !== null) return ` until ${minuteOf(until)} UTC`
  if (session !== null) return ' in this session'
  return scope === 'session' ? ' until cowork is restarted' : ''
}

function verbOf({ permission }: Grant): string {
  if (permission === 'write') return 'create files in'
  return permission === 'read-write' ? 'read and write' : 'read'
}

/** From the terminal's folder, as every command there takes a path. */
export function pathHere(given: string): string {
  // An unset variable in a script is not the folder that it runs in.
  if (given.trim() === '')
    throw usage('The path is empty.', 'Name a file or a folder; `.` is the one you are in.')
  const { home, cwd } = currentFolders()
  return expandPath(given, home, cwd)
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

type Revoked = { success: true; revoked_path: string; message?: string }

export async function revokeGrant(context: Context, given: string): Promise<void> {
  const client = createClient(context)
  const { id, permission } = await grantNamed(client, given)
  // Taking access away harms nobody; lifting a denial gives it (GR4, I10).
  if (permission === 'deny') requirePersonHere(context, 'Lifting a denial')
  const revoked = await client.call<Revoked>('revoke_grant', { grant_id: id })
  context.out.data({ id, ...revoked }, () => [
    `Revoked ${id}.`,
    `It was for ${plain(revoked.revoked_path)}.`,
  ])
  if (revoked.message !== undefined) context.out.note(revoked.message)
}
