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

/** The grant tools for people. No tool for agents changes a grant (GR8). */
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
    description: 'Grant agents access to a file or folder.',
    by: 'human',
    role: 'owner',
    input: z.strictObject({
      path,
      permission: z
        .enum(['read', 'read-write', 'write'])
        .describe('write only creates files and cannot read'),
      agent: z.string().min(1).max(128).default('*').describe('An agent’s id, or * for all'),
      scope: z
        .enum(['session', 'permanent'])
        .default(defaultScope)
        .describe('session ends with the daemon'),
      expires_at: z.iso.datetime({ offset: true }).optional(),
      hard_links: z.boolean().default(false).describe('Also read files with other hard links'),
      granted_by: z
        .enum(['user_explicit', 'user_implicit', 'system_setup'])
        .default('user_explicit'),
    }),
    output: fileResults.add_grant,
    describeTarget: ({ path: target }) => ({ domain: 'files', target }),
    async run(input, { id: call, caller }) {
      const expiresAt = input.expires_at === undefined ? null : Date.parse(input.expires_at)
      if (expiresAt !== null && expiresAt <= now())
        throw new CoworkError('invalid_input', `expires_at is in the past: ${input.expires_at}.`, {
          hint: 'Use a future time.',
        })
      await assertAgentExists(agents, input.agent)
      const pin = await grants.resolveTarget(input.path, input.permission)
      const grant = await db.transact(async (tx) => {
        if (await agents.isRevoked(tx, input.agent))
          throw new CoworkError('agent_revoked', `The agent ${input.agent} was revoked.`, {
            hint: 'Add a new agent first with `cowork agents add`.',
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

/** With authentication off, an agent may have any id. */
async function assertAgentExists(agents: GrantToolDeps['agents'], id: string): Promise<void> {
  if (id === '*' || agents.mode() === 'open') return
  if ((await agents.listAgents()).some((agent) => agent.id === id)) return
  throw new CoworkError('not_found', `Unknown agent: ${sanitizeText(id)}.`, {
    hint: 'List the agents with `cowork agents ls`, or use * for all.',
  })
}

const revokeGrant = ({ db, grants }: GrantToolDeps) =>
  defineTool({
    ...writes,
    name: 'revoke_grant',
    title: 'Revoke access',
    description: 'Revoke a grant immediately, also for running calls.',
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
          message: 'The configuration restores this grant at the next start. Remove it there.',
        }),
      }
      return { output }
    },
  })

const maxEntries = 2000

const browseFolder = ({ guard, pathContext }: GrantToolDeps) =>
  defineTool({
    ...reads,
    name: 'browse_folder',
    title: 'Browse the disk',
    description: 'List a folder to choose a path to grant.',
    by: 'human',
    role: 'owner',
    input: z.strictObject({ path }),
    output: fileResults.browse_folder,
    describeTarget: ({ path: target }) => ({ domain: 'files', target }),
    async read({ path: input }) {
      const parsed = parsePath(input, pathContext)
      const folder =
        parsed.area === 'workspace' ? join(pathContext.workspace, parsed.path) : parsed.path
      const pin = await pinPath(folder)
      if (pin?.kind !== 'folder')
        throw fileError('not_a_folder', folder, `Not a folder: ${sanitizeText(input, 300)}.`)
      const parent = dirname(pin.path)
      return {
        path: pin.path,
        parent: parent === pin.path ? null : parent,
        ...(await listEntries(pin.path, guard)),
      }
    },
  })

/** Lists folders first, then files, by name. Symbolic links are omitted: a grant names the real path. */
async function listEntries(folder: string, guard: Guard) {
  const entries: { name: string; type: 'directory' | 'file'; forbidden?: true }[] = []
  let capped = false
  try {
    for await (const entry of await opendir(folder)) {
      if (!entry.isDirectory() && !entry.isFile()) continue
      capped = entries.length >= maxEntries
      if (capped) break
      const isClosed = guard.checkForbidden(join(folder, entry.name), 'read') !== undefined
      entries.push({
        name: entry.isDirectory() ? `${entry.name}/` : entry.name,
        type: entry.isDirectory() ? 'directory' : 'file',
        ...(isClosed && { forbidden: true as const }),
      })
    }
  } catch (cause) {
    throw new CoworkError('no_permission', `Cannot read ${sanitizeText(folder, 300)}.`, {
      hint: 'Give the account that runs cowork read permission.',
      cause,
    })
  }
  const order = new Intl.Collator(undefined, { numeric: true })
  return {
    entries: entries.toSorted(
      (a, b) => a.type.localeCompare(b.type) || order.compare(a.name, b.name),
    ),
    capped,
  }
}

export const formatTimeOrNull = (at: number | null) => (at === null ? null : formatRfc3339(at))

/** `replaced` means that the granted file or folder is no longer at its path: the grant opens nothing (PV9). */
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
  expires_at: formatTimeOrNull(grant.expiresAt),
  last_accessed: formatTimeOrNull(grant.lastAccessed),
  access_count: grant.accessCount,
  node: grant.node,
  ...(!isInPlace && { replaced: true }),
})
