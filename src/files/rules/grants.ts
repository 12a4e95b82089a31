import type { Grant, AccessKind } from '../model.ts'
import type { Root } from '../worker/protocol.ts'
import { relativePath, isWithin } from './paths.ts'

/** The holder of grants. A person has the access of every active grant. */
export type Holder =
  | { readonly kind: 'agent'; readonly agent: string; readonly session: string }
  | { readonly kind: 'human' }

export type AccessQuery = {
  readonly holder: Holder
  readonly path: string
  readonly need: AccessKind
  readonly now: number
}

export type GrantVerdict =
  | { readonly grant: Grant }
  | {
      readonly grant?: never
      readonly code: 'no_grant' | 'read_only_grant'
      /** A permanent denial: asking again has no effect. */
      readonly denied?: Grant
    }

/**
 * Decides a query (GR6, GR9). A deny takes precedence, then the most specific grant decides, even if it allows
 * less than a parent's. Among grants for the same path, any that allows the access suffices.
 */
export function decideGrant(grants: readonly Grant[], query: AccessQuery): GrantVerdict {
  const { need } = query
  const covering = findCoveringGrants(grants, query)
  const denied = covering.find(({ permission }) => permission === 'deny')
  if (denied) return { code: 'no_grant', denied }
  const depth = Math.max(0, ...covering.map((grant) => grant.path.length))
  const nearest =
    query.holder.kind === 'human'
      ? covering
      : covering.filter((grant) => grant.path.length === depth)
  const grant = nearest
    .filter(({ permission }) => allows(permission, need))
    .toSorted(
      (left, right) =>
        right.path.length - left.path.length || Number(right.hardLinks) - Number(left.hardLinks),
    )[0]
  if (grant) return { grant }
  const isReadOnly = need !== 'read' && nearest.some(({ permission }) => permission === 'read')
  return { code: isReadOnly ? 'read_only_grant' : 'no_grant' }
}

/**
 * Decides a query when some grants are stale: their file is gone or was replaced (PV9). Stale grants open nothing
 * but still narrow wider grants, so that no one gains access by replacing a file. If all covering grants are stale,
 * they decide as usual.
 */
export function decideWithStaleGrants(
  grants: readonly Grant[],
  query: AccessQuery,
  stale: ReadonlySet<Grant>,
): GrantVerdict {
  const verdict = decideGrant(grants, query)
  if (!verdict.grant || stale.size === 0) return verdict
  const active = findCoveringGrants(grants, query).filter((grant) => !stale.has(grant))
  return active.length === 0 ? verdict : decideGrant(active, query)
}

/**
 * Finds more specific grants that allow less than a new grant and would make it ineffective (GR3). Denials are not
 * included, because they stay.
 */
export function findBlockingGrants(
  grants: readonly Grant[],
  newGrant: Pick<Grant, 'path'>,
  query: AccessQuery,
): readonly Grant[] {
  const nearer = findCoveringGrants(grants, query).filter(
    ({ path, permission }) => permission !== 'deny' && path.length > newGrant.path.length,
  )
  const open = nearer.filter(({ permission }) => allows(permission, query.need))
  const depth = Math.max(0, ...open.map(({ path }) => path.length))
  return nearer.filter(({ path }) => path.length > depth)
}

type GrantTerms = Pick<Grant, 'permission' | 'scope' | 'session' | 'expiresAt'>

export const outlasts = (left: GrantTerms, right: GrantTerms): boolean =>
  accessByPermission[right.permission].every((need) => allows(left.permission, need)) &&
  (left.scope === 'permanent' || (right.scope === 'session' && left.session === right.session)) &&
  (left.expiresAt === null || (right.expiresAt !== null && right.expiresAt <= left.expiresAt))

export const findCoveringGrants = (
  grants: readonly Grant[],
  query: Omit<AccessQuery, 'need'>,
): Grant[] => grants.filter((grant) => appliesTo(grant, query) && covers(grant, query.path))

/**
 * Lists the paths below a granted folder that this caller cannot use, relative to the folder. The walk needs them,
 * because it may reach one through a link (GR6).
 */
export function listClosedSubpaths(
  grants: readonly Grant[],
  root: Grant,
  { holder, need, now }: Omit<AccessQuery, 'path'>,
): readonly string[] {
  if (root.kind === 'file') return []
  const below = grants.filter(
    (grant) =>
      grant.path !== root.path &&
      isWithin(grant.path, root.path) &&
      appliesTo(grant, { holder, now }) &&
      (grant.permission === 'deny' || holder.kind === 'agent'),
  )
  const closed = below
    .map(({ path }) => path)
    .filter((path) => !decideGrant(grants, { holder, path, need, now }).grant)
  return [...new Set(closed)].map((path) => relativePath(path, root.path))
}

export const deniedFiles = (
  grants: readonly Grant[],
  query: Pick<AccessQuery, 'holder' | 'now'>,
): readonly Grant[] =>
  grants.filter(
    (grant) => grant.permission === 'deny' && grant.kind === 'file' && appliesTo(grant, query),
  )

export const isActive = ({ revokedAt, expiresAt }: Grant, now: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now)

/** A file grant covers that file only. */
export const covers = ({ kind, path: granted }: Grant, path: string): boolean =>
  kind === 'file' ? path === granted : isWithin(path, granted)

/** Returns true if the grant counts for this holder. A denial for one agent does not bind people; one for all does. */
export function appliesTo(
  grant: Grant,
  { holder, now }: Pick<AccessQuery, 'holder' | 'now'>,
): boolean {
  if (!isActive(grant, now)) return false
  if (holder.kind === 'human') return grant.permission !== 'deny' || grant.agent === '*'
  const isForAgent = grant.agent === '*' || grant.agent === holder.agent
  // A session grant without a session id lasts as long as the daemon runs.
  const isInSession =
    grant.scope === 'permanent' || grant.session === null || grant.session === holder.session
  return isForAgent && isInSession
}

const accessByPermission: Record<Grant['permission'], readonly AccessKind[]> = {
  read: ['read'],
  'read-write': ['read', 'create', 'write'],
  // Create only: existing files can be neither read nor overwritten (GR9).
  write: ['create'],
  deny: [],
}

export const allows = (permission: Grant['permission'], need: AccessKind): boolean =>
  accessByPermission[permission].includes(need)

/**
 * Returns the time since which a grant has made a path readable: not before the last closing grant ended, which is
 * a denial or a more specific grant without read access. Earlier access is unknown (GR1).
 */
export function readableSince(grant: Grant, path: string, closingGrants: readonly Grant[]): number {
  const ends = closingGrants
    .filter((closing) => covers(closing, path) && !allows(closing.permission, 'read'))
    .filter((closing) => closing.permission === 'deny' || closing.path.length > grant.path.length)
    .map(({ revokedAt, expiresAt }) => Math.min(revokedAt ?? Infinity, expiresAt ?? Infinity))
  return Math.max(grant.grantedAt, ...ends)
}

/** Builds the worker's roots for these grants. A denied path has no root. */
export const toRoots = (grants: readonly Grant[], now: number): readonly Root[] =>
  grants
    .filter((grant) => grant.permission !== 'deny' && isActive(grant, now))
    .map(({ id, path, kind, dev, ino, born, permission, hardLinks }) => ({
      key: id,
      path,
      kind,
      dev,
      ino,
      born,
      access: permission === 'read' ? 'read' : 'read-write',
      hardLinks,
    }))
