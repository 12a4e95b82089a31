import type { Grant, Permission } from './file.ts'
import { formatTimeLeft } from '../shared/time.ts'

const msPerDay = 86_400_000
/** A grant without use for this time counts as unused (GR7). */
const unusedAfterMs = 60 * msPerDay

const names: Record<Permission, string> = {
  read: 'Read',
  'read-write': 'Read and write',
  write: 'Create only',
  deny: 'Blocked',
}
const meanings: Record<Permission, (what: string) => string> = {
  read: (what) => `can read ${what}`,
  'read-write': (what) => `can read and change ${what}`,
  write: (what) => `can create files in ${what} but cannot read`,
  deny: () => 'is blocked',
}

export const permissionName = (permission: Permission): string => names[permission]

export const describePermission = (
  agent: string,
  permission: Permission,
  what = 'this path',
): string => `${agent === '*' ? 'Every agent' : agent} ${meanings[permission](what)}.`

export const formatGrantee = ({ agent }: Pick<Grant, 'agent'>): string =>
  agent === '*' ? 'every agent' : agent

export function formatExpiry({ scope, expires_at: ends }: Grant, now: number): string {
  if (ends !== null) return `expires in ${formatTimeLeft(Date.parse(ends), now)}`
  return scope === 'session' ? 'ends with its session' : 'until revoked'
}

const origins: Record<string, string> = {
  user_explicit: 'granted',
  user_implicit: 'shared',
  system_setup: 'from setup',
}

export const formatOrigin = ({ granted_by: by }: Pick<Grant, 'granted_by'>): string =>
  origins[by] ?? by

export function isUnused(grant: Grant, now: number): boolean {
  if (grant.scope === 'session' || grant.expires_at !== null || grant.permission === 'deny')
    return false
  return now - Date.parse(grant.last_accessed ?? grant.granted_at) > unusedAfterMs
}

/** The access that the grants on a folder itself give. */
export type FolderAccess = {
  readonly all: Grant['permission'] | undefined
  /** Texts about grants of single agents. */
  readonly others: readonly string[]
}

export function getFolderAccess(grants: readonly Grant[], path: string): FolderAccess {
  const here = grants.filter((grant) => grant.path === path && grant.replaced !== true)
  const lasting = here.find(({ agent, scope, expires_at: ends }) => {
    return agent === '*' && scope === 'permanent' && ends === null
  })
  const others = here
    .filter(({ agent }) => agent !== '*')
    .map(({ agent, permission }) =>
      permission === 'deny' ? `blocked for ${agent}` : `${agent} has access`,
    )
  return { all: lasting?.permission, others: [...new Set(others)] }
}
