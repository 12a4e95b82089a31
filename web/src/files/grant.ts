import type { Grant, Permission } from './file.ts'
import { formatTimeLeft } from '../shared/time.ts'

const day = 86_400_000
/** As long without use as makes one ask whether it is still needed (GR7). */
const longUnused = 60 * day

const names: Record<Permission, string> = {
  read: 'read',
  'read-write': 'read-write',
  write: 'write',
  deny: 'never',
}
const meanings: Record<Permission, (what: string) => string> = {
  read: (what) => `may read ${what}, and change nothing`,
  'read-write': (what) => `may read and change ${what}`,
  write: (what) => `may make new files in ${what}, and sees nothing that is there`,
  deny: () => 'is refused without asking',
}

export const permissionName = (permission: Permission): string => names[permission]

export const describePermission = (agent: string, permission: Permission, what = 'it'): string =>
  `${agent === '*' ? 'Every agent' : agent} ${meanings[permission](what)}.`

export const formatGrantee = ({ agent }: Pick<Grant, 'agent'>): string =>
  agent === '*' ? 'every agent' : agent

export function formatExpiry({ scope, expires_at: ends }: Grant, now: number): string {
  if (ends !== null) return `ends in ${formatTimeLeft(Date.parse(ends), now)}`
  return scope === 'session' ? 'ends with its session' : 'until revoked'
}

const origins: Record<string, string> = {
  user_explicit: 'allowed',
  user_implicit: 'handed over',
  system_setup: 'from the setup',
}

export const formatOrigin = ({ granted_by: by }: Pick<Grant, 'granted_by'>): string =>
  origins[by] ?? by

export function isUnused(grant: Grant, now: number): boolean {
  if (grant.scope === 'session' || grant.expires_at !== null || grant.permission === 'deny')
    return false
  return now - Date.parse(grant.last_accessed ?? grant.granted_at) > longUnused
}

/** What a folder is to agents by the grants on it alone. */
export type FolderAccess = {
  readonly all: Grant['permission'] | undefined
  /** What single agents were told. */
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
      permission === 'deny' ? `never for ${agent}` : `${agent} has it already`,
    )
  return { all: lasting?.permission, others: [...new Set(others)] }
}
