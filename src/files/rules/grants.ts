import type { Grant, AccessKind } from '../model.ts'
import type { Root } from '../worker/protocol.ts'
import { relativePath, isWithin } from './paths.ts'

/** Who asks, as far as grants care. A person has what any live grant opens. */
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
      /** By which a person said no for good: asking again is of no use. */
      readonly denied?: Grant
    }

/**
 * Which grant lets this through (GR6, GR9): a deny wins over all, then the most specific one decides, also
 * where it allows less than one further up. Of several for the same path any that allows it will do.
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
      (one, other) =>
        other.path.length - one.path.length || Number(other.hardLinks) - Number(one.hardLinks),
    )[0]
  if (grant) return { grant }
  const isReadOnly = need !== 'read' && nearest.some(({ permission }) => permission === 'read')
  return { code: isReadOnly ? 'read_only_grant' : 'no_grant' }
}

/**
 * The same where some of them are dead: what they were for is gone, or another in its place (PV9). Those open nothing,
 * and still narrow what is wider: nobody gains by it that a file was replaced. Where all are dead they decide as ever.
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
 * Grants nearer to a path than the one that is made for it, and for less than that: with them there it would open
 * nothing (GR3). Denials are not among them: they stay.
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

export const outlasts = (one: GrantTerms, other: GrantTerms): boolean =>
  accessByPermission[other.permission].every((need) => allows(one.permission, need)) &&
  (one.scope === 'permanent' || (other.scope === 'session' && one.session === other.session)) &&
  (one.expiresAt === null || (other.expiresAt !== null && other.expiresAt <= one.expiresAt))

export const findCoveringGrants = (
  grants: readonly Grant[],
  query: Omit<AccessQuery, 'need'>,
): Grant[] => grants.filter((grant) => appliesTo(grant, query) && covers(grant, query.path))

/**
 * Below a grant's folder, what this caller may not use so although the folder is granted: for the walk, which
 * may come to it by a link (GR6). Relative to the folder.
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

/** A file grant opens that file only. */
export const covers = ({ kind, path: granted }: Grant, path: string): boolean =>
  kind === 'file' ? path === granted : isWithin(path, granted)

/** Whether it counts for this holder at all. A denial for one agent does not bind people; one for all does. */
export function appliesTo(
  grant: Grant,
  { holder, now }: Pick<AccessQuery, 'holder' | 'now'>,
): boolean {
  if (!isActive(grant, now)) return false
  if (holder.kind === 'human') return grant.permission !== 'deny' || grant.agent === '*'
  const isForAgent = grant.agent === '*' || grant.agent === holder.agent
  // Without a session of its own it lasts as long as the daemon runs.
  const isInSession =
    grant.scope === 'permanent' || grant.session === null || grant.session === holder.session
  return isForAgent && isInSession
}

const accessByPermission: Record<Grant['permission'], readonly AccessKind[]> = {
  read: ['read'],
  'read-write': ['read', 'create', 'write'],
  // Nothing that is there may be seen or overwritten (GR9).
  write: ['create'],
  deny: [],
}

export const allows = (permission: Grant['permission'], need: AccessKind): boolean =>
  accessByPermission[permission].includes(need)

/**
 * From when on a grant has opened a path for reading: not before the last one ended that closed it, a denial or a
 * nearer one that does not read. What could be read before that is not told apart from what could not (GR1).
 */
export function readableSince(grant: Grant, path: string, closingGrants: readonly Grant[]): number {
  const ends = closingGrants
    .filter((one) => covers(one, path) && !allows(one.permission, 'read'))
    .filter((one) => one.permission === 'deny' || one.path.length > grant.path.length)
    .map(({ revokedAt, expiresAt }) => Math.min(revokedAt ?? Infinity, expiresAt ?? Infinity))
  return Math.max(grant.grantedAt, ...ends)
}

/** What the worker holds for these grants. A denied path opens nothing. */
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
