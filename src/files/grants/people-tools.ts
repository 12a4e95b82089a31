import { opendir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { toActor } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { fileError } from '../error-text.ts'
import type { Grant } from '../model.ts'
import type { Guard } from '../rules/guard.ts'
import { parsePath } from '../rules/paths.ts'
import { reads, writes } from '../tools/shared-schemas.ts'
import { fileResults } from '../wire.ts'
import type { GrantResult } from '../wire.ts'
import type { GrantToolDeps } from './tools.ts'
import { configActorId } from './grant-writer.ts'
import { pinPath } from './pin.ts'

const path = z.string().min(1).max(4096).describe('From / or ~/')

/** No tool of agents changes a grant (GR8): these are for people. */
export const peopleGrantTools = (deps: GrantToolDeps): Tool[] => [
  addGrant(deps),
  revokeGrant(deps),
  browseFolder(deps),
]

const addGrant = ({ db, grants, agents, defaultScope, now }: GrantToolDeps) =>
  defineTool({
    ...writes,
    name: 'add_grant',
    title: 'Grant access',
    description: 'Lets agents use a file or folder of yours without asking.',
    by: 'human',
    role: 'owner',
    input: z.strictObject({
      path,
      permission: z
        .enum(['read', 'read-write', 'write'])
        .describe('write makes new files only and sees nothing that is there'),
      agent: z.string().min(1).max(128).default('*').describe('An agent’s id, or * for all'),
      scope: z
        .enum(['session', 'permanent'])
        .default(defaultScope)
        .describe('session ends with the daemon'),
      expires_at: z.iso.datetime({ offset: true }).optional(),
      hard_links: z.boolean().default(false).describe('Read files with a second hard link, too'),
      granted_by: z
        .enum(['user_explicit', 'user_implicit', 'system_setup'])
        .default('user_explicit'),
    }),
    output: fileResults.add_grant,
    describeTarget: ({ path: target }) => ({ domain: 'files', target }),
    async run(input, { id: call, caller }) {
      const expiresAt = input.expires_at === undefined ? null : Date.parse(input.expires_at)
      if (expiresAt !== null && expiresAt <= now())
        throw new CoworkError('invalid_input', `${input.expires_at} is over.`, {
          hint: 'Give a time to come.',
        })
      await checkKnown(agents, input.agent)
      const pin = await grants.grantable(input.path, input.permission)
      const grant = await db.transact(async (tx) => {
        if (await agents.isRevoked(tx, input.agent))
          throw new CoworkError('agent_revoked', `The agent ${input.agent} was revoked.`, {
            hint: 'Whoever has that name later is another: add it first, with `cowork agents add`.',
          })
        return grants.make(tx, {
          ...pin,
          agent: input.agent,
          permission: input.permission,
          scope: input.scope,
          hardLinks: input.hard_links,
          expiresAt,
          grantedBy: input.granted_by,
          actor: toActor(caller),
          call,
        })
      })
      await grants.refresh()
      return { output: toGrantResult(grant) }
    },
  })

/** Where the door is open, whoever comes has the name it says. */
async function checkKnown(agents: GrantToolDeps['agents'], id: string): Promise<void> {
  if (id === '*' || agents.mode() === 'open') return
  if ((await agents.listAgents()).some((agent) => agent.id === id)) return
  throw new CoworkError('not_found', `There is no agent named ${sanitizeText(id)}.`, {
    hint: '`cowork agents ls` lists them; * is for all.',
  })
}

const revokeGrant = ({ db, grants }: GrantToolDeps) =>
  defineTool({
    ...writes,
    name: 'revoke_grant',
    title: 'Revoke access',
    description: 'Ends a grant at once, also for what is running under it.',
    by: 'human',
    input: z.strictObject({ grant_id: z.string().min(1).max(200) }),
    output: fileResults.revoke_grant,
    describeTarget: ({ grant_id: target }) => ({ domain: 'files', target }),
    async run({ grant_id: id }, call) {
      call.addDetails({ ids: { grant: id } })
      const grant = await db.transact((tx) => grants.revoke(tx, id, toActor(call.caller), call.id))
      await grants.refresh()
      const output = {
        success: true as const,
        revoked_path: grant.path,
        ...(grant.by === configActorId && {
          message:
            'It stands in the configuration and comes back at the next start: remove it there.',
        }),
      }
      return { output }
    },
  })

const mostEntries = 2000

const browseFolder = ({ guard, where }: GrantToolDeps) =>
  defineTool({
    ...reads,
    name: 'browse_folder',
    title: 'Browse the disk',
    description: 'The folders and files of a folder of yours, for choosing one.',
    by: 'human',
    role: 'owner',
    input: z.strictObject({ path }),
    output: fileResults.browse_folder,
    describeTarget: ({ path: target }) => ({ domain: 'files', target }),
    async read({ path: given }) {
      const understood = parsePath(given, where)
      const asked =
        understood.area === 'workspace' ? join(where.workspace, understood.path) : understood.path
      const pin = await pinPath(asked)
      if (pin?.kind !== 'folder')
        throw fileError('not_a_folder', asked, `No folder is at ${sanitizeText(given, 300)}.`)
      const parent = dirname(pin.path)
      return {
        path: pin.path,
        parent: parent === pin.path ? null : parent,
        ...(await entriesOf(pin.path, guard)),
      }
    },
  })

/** Folders first, by name. Links are left out: what they lead to is chosen where it lies. */
async function entriesOf(folder: string, guard: Guard) {
  const entries: { name: string; type: 'directory' | 'file'; forbidden?: true }[] = []
  let capped = false
  try {
    for await (const entry of await opendir(folder)) {
      if (!entry.isDirectory() && !entry.isFile()) continue
      capped = entries.length >= mostEntries
      if (capped) break
      const isClosed = guard.checkForbidden(join(folder, entry.name), 'read') !== undefined
      entries.push({
        name: entry.isDirectory() ? `${entry.name}/` : entry.name,
        type: entry.isDirectory() ? 'directory' : 'file',
        ...(isClosed && { forbidden: true as const }),
      })
    }
  } catch (cause) {
    throw new CoworkError('no_permission', `${sanitizeText(folder, 300)} cannot be read.`, {
      hint: 'Give the account that runs cowork the right to read it.',
      cause,
    })
  }
  const order = new Intl.Collator(undefined, { numeric: true })
  return {
    entries: entries.toSorted(
      (one, other) => one.type.localeCompare(other.type) || order.compare(one.name, other.name),
    ),
    capped,
  }
}

export const timeOrNull = (at: number | null) => (at === null ? null : formatRfc3339(at))

/** `replaced` is said of one whose file or folder lies at its path no more: it opens nothing (PV9). */
export const toGrantResult = (grant: Grant, isInPlace = true): GrantResult => ({
  id: grant.id,
  agent: grant.agent,
  path: grant.path,
  kind: grant.kind,
  permission: grant.permission,
  scope: grant.scope,
  session: grant.session,
  hard_links: grant.hardLinks,
  granted_at: formatRfc3339(grant.grantedAt),
  granted_by: grant.grantedBy,
  expires_at: timeOrNull(grant.expiresAt),
  last_accessed: timeOrNull(grant.lastAccessed),
  access_count: grant.accessCount,
  node: grant.node,
  ...(!isInPlace && { replaced: true }),
})
