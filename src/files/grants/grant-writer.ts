import { toActor } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Call } from '#base/tool.ts'
import { toStoredData } from '#ledger'
import type { RecordedTable } from '#ledger'
import { inodeAfterReplace, isSameInode } from '../confine/inode.ts'
import { toRow } from '../grant-store.ts'
import type { GrantRow, GrantStore } from '../grant-store.ts'
import type { Grant } from '../model.ts'
import { covers } from '../rules/grants.ts'
import type { Inode } from '../worker/protocol.ts'
import type { GrantCache } from './grant-cache.ts'

/** The actor id of grants from the configuration. */
export const configActorId = 'config'

/** The agent id of a grant that only the person who made it may use. No agent can have an empty id. */
export const noAgentId = ''

/** The `reason` in the entry that ends a grant. */
export type EndReason =
  | 'person'
  | 'expired'
  | 'session_ended'
  | 'restart'
  | 'config'
  | 'replaced'
  | 'agent_revoked'
  /** The call of a temporary grant ended. */
  | 'done'

export type NewGrant = Pick<
  Grant,
  'agent' | 'path' | 'kind' | 'permission' | 'scope' | 'grantedBy'
> &
  Inode &
  Partial<Omit<Grant, 'revokedAt' | 'revokedBy'>> & {
    readonly actor: Actor
    /** Time of the pin, if it was taken earlier. */
    readonly pinnedAt?: number
    readonly call?: string | undefined
  }

type Deps = Pick<GrantCache, 'invalidate' | 'invalidateRepinned' | 'getCurrent'> & {
  readonly store: GrantStore
  readonly node: string
  readonly now: Clock
}

export type GrantWriter = ReturnType<typeof createGrantWriter>

/** Makes, repins and ends grants, each with its entry in one transaction. */
export function createGrantWriter({
  store,
  node,
  invalidate,
  invalidateRepinned,
  getCurrent,
  now,
}: Deps) {
  /** Files that the worker replaced: an older pin of a pending request may refer to them. */
  const recentSwaps: (Swap & { readonly at: number })[] = []

  /** Applies the swaps since a pin was taken. Inode numbers are reused, so earlier swaps and another order do not count. */
  function latestInode(path: string, { dev, ino, born = null }: Inode, since: number): Inode {
    let inode: Inode = { dev, ino, born }
    for (const swap of recentSwaps)
      if (swap.path === path && swap.at >= since && isSameInode(inode, swap.from))
        inode = inodeAfterReplace(inode, swap.to)
    return inode
  }

  async function make(tx: Tx, newGrant: NewGrant): Promise<Grant> {
    invalidate()
    const { actor, call, pinnedAt, ...fields } = newGrant
    const grant: Grant = {
      id: `grant_${newId()}`,
      node,
      session: null,
      hardLinks: false,
      born: null,
      grantedAt: now(),
      by: actor.id,
      approval: null,
      expiresAt: null,
      lastAccessed: null,
      accessCount: 0,
      revokedAt: null,
      revokedBy: null,
      ...fields,
      ...(pinnedAt !== undefined && latestInode(fields.path, fields, pinnedAt)),
    }
    const existing = await store.listUnrevoked(tx, grant.node)
    if (grant.permission !== 'deny') assertNotDenied(existing, grant)
    for (const before of existing)
      if (isSupersededBy(before, grant) || isStaleFor(before, grant))
        await end(tx, before, 'replaced', actor, call)
    await store.add(tx, grant)
    const { id, path, approval, expiresAt } = grant
    tx.append({
      type: 'grant.made',
      actor,
      domain: 'files',
      subject: path,
      ids: { grant: id, ...(approval && { approval }), ...(call && { call }) },
      data: {
        ...toEntryData(grant),
        granted_by: grant.grantedBy,
        kind: grant.kind,
        ...(expiresAt !== null && { expires_at: expiresAt }),
        ...(grant.hardLinks && { hard_links: true }),
        ...toRecordedRow(toRow(grant)),
      },
    })
    return grant
  }

  /** Returns false if the grant had ended before. */
  async function end(
    tx: Tx,
    grant: Grant,
    reason: EndReason,
    actor: Actor,
    call?: string,
  ): Promise<boolean> {
    invalidate()
    const row = await store.end(tx, grant.id, now(), actor.id)
    if (!row) return false
    const before = reason === 'person' ? undefined : { ...row, revoked_at: null, revoked_by: null }
    tx.append({
      type: 'grant.revoked',
      actor,
      domain: 'files',
      subject: grant.path,
      ids: { grant: grant.id, ...(call && { call }) },
      data: { ...toEntryData(grant), reason, ...toRecordedRow(row, before) },
    })
    return true
  }

  /**
   * Pins the grants of a file to the new file that the worker wrote in its place (PV9). A file that another program put
   * there, or that replaced a file other than the granted one, gets no grant.
   */
  async function repin(tx: Tx, { path, from, to }: Swap, call: GrantCall): Promise<void> {
    recentSwaps.push({ path, from, to, at: now() })
    if (recentSwaps.length > maxSwaps) recentSwaps.shift()
    for (const grant of await listFileGrants(tx, path)) {
      if (!isSameInode(grant, from)) continue
      invalidateRepinned(grant.id)
      const row = await store.repin(tx, grant.id, from, inodeAfterReplace(grant, to))
      if (!row) continue
      tx.append({
        type: 'grant.repinned',
        actor: toActor(call.caller),
        domain: 'files',
        subject: path,
        ids: { grant: grant.id, call: call.id },
        data: {
          ...toEntryData(grant),
          from: formatDevIno(from),
          to: formatDevIno(to),
          ...toRecordedRow(row, toRow(grant)),
        },
      })
    }
  }

  /** Skips the store if the cache is current and has no such grant, which is the usual case. */
  async function listFileGrants(tx: Tx, path: string): Promise<readonly Grant[]> {
    const isMatch = (grant: Grant) =>
      grant.kind === 'file' && grant.path === path && grant.permission !== 'deny'
    const cached = getCurrent()
    if (cached && !cached.some(isMatch)) return []
    return (await store.listUnrevoked(tx, node)).filter(isMatch)
  }

  async function revoke(tx: Tx, id: string, by: Actor, call?: string): Promise<Grant> {
    const grant = await store.find(tx, id)
    if (grant && (await end(tx, grant, 'person', by, call))) return grant
    throw new CoworkError('not_found', `Unknown grant: ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: 'List the grants with `cowork grants list`.',
    })
  }

  /** Ends the grants of a revoked agent: a later agent with that id gets none of them. Denials stay. */
  async function endForAgent(tx: Tx, agent: string, { id, caller }: GrantCall): Promise<void> {
    for (const grant of await store.listUnrevoked(tx))
      if (grant.agent === agent && grant.permission !== 'deny')
        await end(tx, grant, 'agent_revoked', toActor(caller), id)
  }

  return { make, end, endForAgent, latestInode, repin, revoke }
}

type Swap = { readonly path: string; readonly from: Inode; readonly to: Inode }
type GrantCall = Pick<Call, 'id' | 'caller'>

const maxSwaps = 10_000

const formatDevIno = ({ dev, ino }: Inode) => `${dev}:${ino}`

/** Refuses a grant without effect: a denial of a parent folder, or one that lasts longer, wins (GR6). */
export function assertNotDenied(existing: readonly Grant[], made: GrantTerms): void {
  const denial = existing.find(
    (grant) =>
      grant.permission === 'deny' &&
      (grant.agent === made.agent || grant.agent === '*') &&
      covers(grant, made.path) &&
      !isSupersededBy(grant, made),
  )
  if (denial)
    throw new CoworkError(
      'denied_above',
      `Cannot grant access: ${sanitizeText(denial.path, 300)} is blocked.`,
      { hint: `Revoke ${denial.id} first.` },
    )
}

type GrantTerms = Pick<Grant, 'agent' | 'path' | 'scope' | 'session' | 'expiresAt' | 'by'>

/**
 * Each agent has one grant per path, scope and session. A newer grant replaces it unless the older one lasts longer
 * (GR3). The configuration replaces only its own grants.
 */
const isSupersededBy = (before: Grant, made: GrantTerms): boolean =>
  before.agent === made.agent &&
  before.path === made.path &&
  before.scope === made.scope &&
  before.session === made.session &&
  (before.permission === 'deny' || getExpiry(before) <= getExpiry(made)) &&
  (before.by === configActorId) === (made.by === configActorId)

const getExpiry = ({ expiresAt }: Pick<Grant, 'expiresAt'>) => expiresAt ?? Infinity

/**
 * Whether the file or folder of an earlier grant is gone, for any agent. The pin of a request may be the older one, and
 * temporary grants do not affect other grants.
 */
const isStaleFor = (before: Grant, made: Grant): boolean =>
  made.agent !== noAgentId &&
  before.path === made.path &&
  !isSameInode(before, made) &&
  before.permission !== 'deny' &&
  made.permission !== 'deny' &&
  made.approval === null

const toEntryData = ({ agent, by, permission, scope, node, session }: Grant) => ({
  ...(agent === noAgentId ? { person: by } : { agent_id: agent }),
  permission,
  scope,
  node,
  ...(session !== null && { session }),
})

/** Grant rows that `verify` replays from the ledger (L20). */
export const grantTable: RecordedTable = {
  name: 'grant',
  table: 'file_grant',
  baseline: 'grant.baselined',
  key: ['id'],
  // Uses are counted in memory and written at most once per second.
  ignoredColumns: ['last_accessed', 'access_count'],
  describe: ({ id, path }) => `grant ${id} of ${JSON.stringify(path)}`,
}

const toRecordedRow = (row: GrantRow, before?: GrantRow) => toStoredData(grantTable, row, before)
