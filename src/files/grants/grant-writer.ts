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

/** Who made a grant that stands in the configuration. */
export const configActorId = 'config'

/** Of a grant that is for the person alone who makes it: no agent can be called so. */
export const noAgentId = ''

/** Why a grant ended, as its entry says. */
export type EndReason =
  | 'person'
  | 'expired'
  | 'session_ended'
  | 'restart'
  | 'config'
  | 'replaced'
  | 'agent_revoked'
  /** What it was made for. */
  | 'done'

export type NewGrant = Pick<
  Grant,
  'agent' | 'path' | 'kind' | 'permission' | 'scope' | 'grantedBy'
> &
  Inode &
  Partial<Omit<Grant, 'revokedAt' | 'revokedBy'>> & {
    readonly actor: Actor
    /** When it was looked at, where that was before. */
    readonly pinnedAt?: number
    readonly call?: string | undefined
  }

type Deps = Pick<GrantCache, 'changing' | 'moving' | 'known'> & {
  readonly store: GrantStore
  readonly node: string
  readonly now: Clock
}

export type GrantWriter = ReturnType<typeof createGrantWriter>

/** The only ways in which a grant comes and goes: each with its entry, in one transaction. */
export function createGrantWriter({ store, node, changing, moving, known, now }: Deps) {
  /** Of files that the worker replaced, what is there instead: a request may have waited over it. */
  const swapped: (Swap & { readonly at: number })[] = []

  /** Numbers of files are given anew: only what was replaced after they were looked at counts, and in its order. */
  function latest(path: string, { dev, ino, born = null }: Inode, since: number): Inode {
    let last: Inode = { dev, ino, born }
    for (const { path: there, from, to, at } of swapped)
      if (there === path && at >= since && isSameInode(last, from))
        last = inodeAfterReplace(last, to)
    return last
  }

  async function make(tx: Tx, made: NewGrant): Promise<Grant> {
    changing()
    const { actor, call, pinnedAt, ...given } = made
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
      ...given,
      ...(pinnedAt !== undefined && latest(given.path, given, pinnedAt)),
    }
    const live = await store.live(tx, grant.node)
    if (grant.permission !== 'deny') assertNotDenied(live, grant)
    for (const before of live)
      if (isReplacedBy(before, grant) || isGoneFor(before, grant))
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
        ...told(grant),
        granted_by: grant.grantedBy,
        kind: grant.kind,
        ...(expiresAt !== null && { expires_at: expiresAt }),
        ...(grant.hardLinks && { hard_links: true }),
        ...storedGrant(toRow(grant)),
      },
    })
    return grant
  }

  /** False when it had ended before. */
  async function end(
    tx: Tx,
    grant: Grant,
    reason: EndReason,
    actor: Actor,
    call?: string,
  ): Promise<boolean> {
    changing()
    const row = await store.end(tx, grant.id, now(), actor.id)
    if (!row) return false
    const before = reason === 'person' ? undefined : { ...row, revoked_at: null, revoked_by: null }
    tx.append({
      type: 'grant.revoked',
      actor,
      domain: 'files',
      subject: grant.path,
      ids: { grant: grant.id, ...(call && { call }) },
      data: { ...told(grant), reason, ...storedGrant(row, before) },
    })
    return true
  }

  /**
   * The worker put a new file in the place of the one that was granted: the grant is for that from now on (PV9).
   * Never for what anybody else put there, nor in place of another file than the one it was for.
   */
  async function follow(tx: Tx, { path, from, to }: Swap, call: FollowedCall): Promise<void> {
    swapped.push({ path, from, to, at: now() })
    if (swapped.length > mostSwapped) swapped.shift()
    for (const grant of await filesAt(tx, path)) {
      if (!isSameInode(grant, from)) continue
      moving(grant.id)
      const row = await store.repin(tx, grant.id, from, inodeAfterReplace(grant, to))
      if (!row) continue
      tx.append({
        type: 'grant.repinned',
        actor: toActor(call.caller),
        domain: 'files',
        subject: path,
        ids: { grant: grant.id, call: call.id },
        data: {
          ...told(grant),
          from: nameOf(from),
          to: nameOf(to),
          ...storedGrant(row, toRow(grant)),
        },
      })
    }
  }

  /** Mostly memory knows that there is none, and the store is not asked. */
  async function filesAt(tx: Tx, path: string): Promise<readonly Grant[]> {
    const isThat = (grant: Grant) =>
      grant.kind === 'file' && grant.path === path && grant.permission !== 'deny'
    const inMemory = known()
    if (inMemory && !inMemory.some(isThat)) return []
    return (await store.live(tx, node)).filter(isThat)
  }

  async function revoke(tx: Tx, id: string, by: Actor, call?: string): Promise<Grant> {
    const grant = await store.find(tx, id)
    if (grant && (await end(tx, grant, 'person', by, call))) return grant
    throw new CoworkError('not_found', `There is no grant ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: '`cowork grants list` shows those there are.',
    })
  }

  /** Whoever has that name later is another: it has none of them. What was denied stays so. */
  async function endOf(tx: Tx, agent: string, { id, caller }: FollowedCall): Promise<void> {
    for (const grant of await store.live(tx))
      if (grant.agent === agent && grant.permission !== 'deny')
        await end(tx, grant, 'agent_revoked', toActor(caller), id)
  }

  return { make, end, endOf, latest, follow, revoke }
}

type Swap = { readonly path: string; readonly from: Inode; readonly to: Inode }
type FollowedCall = Pick<Call, 'id' | 'caller'>

const mostSwapped = 10_000

const nameOf = ({ dev, ino }: Inode) => `${dev}:${ino}`

/** A denial from further up, or one that lasts longer, would win, and the grant would do nothing (GR6). */
export function assertNotDenied(live: readonly Grant[], made: Lasting): void {
  const denial = live.find(
    (grant) =>
      grant.permission === 'deny' &&
      (grant.agent === made.agent || grant.agent === '*') &&
      covers(grant, made.path) &&
      !isReplacedBy(grant, made),
  )
  if (denial)
    throw new CoworkError('denied_above', `${sanitizeText(denial.path, 300)} is denied for good.`, {
      hint: `Revoke ${denial.id} first.`,
    })
}

type Lasting = Pick<Grant, 'agent' | 'path' | 'scope' | 'session' | 'expiresAt' | 'by'>

/**
 * One grant for each agent, path and time it lasts: what is said last counts, and takes nothing that was given for
 * longer (GR3). Config speaks for itself only.
 */
const isReplacedBy = (before: Grant, made: Lasting): boolean =>
  before.agent === made.agent &&
  before.path === made.path &&
  before.scope === made.scope &&
  before.session === made.session &&
  (before.permission === 'deny' || lastOf(before) <= lastOf(made)) &&
  (before.by === configActorId) === (made.by === configActorId)

const lastOf = ({ expiresAt }: Pick<Grant, 'expiresAt'>) => expiresAt ?? Infinity

/**
 * Whomever it is for: what it opened is not there any more. A request's own pin may be the older one, and what is lent
 * for a moment changes nothing for others.
 */
const isGoneFor = (before: Grant, made: Grant): boolean =>
  made.agent !== noAgentId &&
  before.path === made.path &&
  !isSameInode(before, made) &&
  before.permission !== 'deny' &&
  made.permission !== 'deny' &&
  made.approval === null

const told = ({ agent, by, permission, scope, node, session }: Grant) => ({
  ...(agent === noAgentId ? { person: by } : { agent_id: agent }),
  permission,
  scope,
  node,
  ...(session !== null && { session }),
})

/** The grant rows that `verify` replays from the ledger (L20). */
export const grantTable: RecordedTable = {
  name: 'grant',
  table: 'file_grant',
  baseline: 'grant.baselined',
  key: ['id'],
  // Uses are counted in memory and written at most each second.
  ignoredColumns: ['last_accessed', 'access_count'],
  describe: ({ id, path }) => `grant ${id} of ${JSON.stringify(path)}`,
}

const storedGrant = (row: GrantRow, before?: GrantRow) => toStoredData(grantTable, row, before)
