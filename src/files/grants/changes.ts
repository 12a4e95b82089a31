import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { plainText } from '#base/plain.ts'
import type { GrantStore } from '../grant-store.ts'
import type { Grant } from '../model.ts'
import { covers } from '../rules/grants.ts'

/** Who made a grant that stands in the configuration. */
export const configBy = 'config'

/** Why a grant ended, as its entry says. */
export type EndReason = 'person' | 'expired' | 'session_ended' | 'restart' | 'config' | 'replaced'

export type NewGrant = Pick<
  Grant,
  'agent' | 'path' | 'kind' | 'dev' | 'ino' | 'permission' | 'scope' | 'grantedBy'
> &
  Partial<
    Pick<
      Grant,
      'id' | 'node' | 'session' | 'hardLinks' | 'expiresAt' | 'approval' | 'grantedAt' | 'by'
    >
  > &
  Partial<Pick<Grant, 'lastAccessed' | 'accessCount'>> & {
    readonly actor: Actor
    /** The call that makes it. */
    readonly call?: string | undefined
  }

type Deps = {
  readonly store: GrantStore
  readonly node: string
  /** Said inside the transaction, before it is known whether it commits. */
  readonly changing: () => void
  readonly now: Clock
}

export type GrantChanges = ReturnType<typeof createChanges>

/** The only ways in which a grant comes and goes: each with its entry, in one transaction. */
export function createChanges({ store, node, changing, now }: Deps) {
  async function make(tx: Tx, made: NewGrant): Promise<Grant> {
    changing()
    const { actor, call, ...given } = made
    const grant: Grant = {
      id: `grant_${newId()}`,
      node,
      session: null,
      hardLinks: false,
      grantedAt: now(),
      by: actor.id,
      approval: null,
      expiresAt: null,
      lastAccessed: null,
      accessCount: 0,
      revokedAt: null,
      revokedBy: null,
      ...given,
    }
    const live = await store.live(tx, grant.node)
    if (grant.permission !== 'deny') checkDenials(live, grant)
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
    if (!(await store.end(tx, grant.id, now(), actor.id))) return false
    tx.append({
      type: 'grant.revoked',
      actor,
      domain: 'files',
      subject: grant.path,
      ids: { grant: grant.id, ...(call && { call }) },
      data: { ...told(grant), reason },
    })
    return true
  }

  async function revoke(tx: Tx, id: string, by: Actor, call?: string): Promise<Grant> {
    const grant = await store.find(tx, id)
    if (grant && (await end(tx, grant, 'person', by, call))) return grant
    throw new CoworkError('not_found', `There is no grant ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: '`cowork grants list` shows those there are.',
    })
  }

  return { make, end, revoke }
}

/** A denial from further up, or one that lasts longer, would win, and the grant would do nothing (GR6). */
export function checkDenials(live: readonly Grant[], made: Lasting): void {
  const denial = live.find(
    (grant) =>
      grant.permission === 'deny' &&
      (grant.agent === made.agent || grant.agent === '*') &&
      covers(grant, made.path) &&
      !isReplacedBy(grant, made),
  )
  if (denial)
    throw new CoworkError('denied_above', `${plainText(denial.path, 300)} is denied for good.`, {
      hint: `Revoke ${denial.id} first.`,
    })
}

type Lasting = Pick<Grant, 'agent' | 'path' | 'scope' | 'session' | 'by'>

/** One grant for each agent, path and time it lasts: what is said last counts. Config speaks for itself only. */
const isReplacedBy = (before: Grant, { agent, path, scope, session, by }: Lasting): boolean =>
  before.agent === agent &&
  before.path === path &&
  before.scope === scope &&
  before.session === session &&
  (before.by === configBy) === (by === configBy)

/** Whomever it is for: what it opened is not there any more. A request's own pin may be the older one. */
const isGoneFor = (before: Grant, { path, dev, ino, permission, approval }: Grant): boolean =>
  before.path === path &&
  (before.dev !== dev || before.ino !== ino) &&
  before.permission !== 'deny' &&
  permission !== 'deny' &&
  approval === null

const told = ({ agent, permission, scope, node, session }: Grant) => ({
  agent_id: agent,
  permission,
  scope,
  node,
  ...(session !== null && { session }),
})
