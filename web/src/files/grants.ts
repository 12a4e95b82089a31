import type { Grant } from './file.ts'
import { left } from '../time.ts'

const day = 86_400_000
/** As long without use as makes one ask whether it is still needed (GR7). */
const longUnused = 60 * day

const permissions: Record<Grant['permission'], { readonly name: string; readonly means: string }> =
  {
    read: { name: 'read', means: 'reads, changes nothing' },
    'read-write': { name: 'read-write', means: 'reads and changes' },
    write: { name: 'write', means: 'makes new files, sees nothing that is there' },
    deny: { name: 'never', means: 'is refused without asking' },
  }

export const permissionWords = (permission: Grant['permission']) => permissions[permission]

/** Who it is for, in the words of a sentence. */
export const forWhom = ({ agent }: Pick<Grant, 'agent'>): string =>
  agent === '*' ? 'every agent' : agent

export function lastsText({ scope, expires_at: ends }: Grant, now: number): string {
  if (ends !== null) return `ends in ${left(Date.parse(ends), now)}`
  return scope === 'session' ? 'ends with its session' : 'until revoked'
}

const origins: Record<string, string> = {
  user_explicit: 'allowed',
  user_implicit: 'handed over',
  system_setup: 'from the setup',
}

export const originText = ({ granted_by: by }: Pick<Grant, 'granted_by'>): string =>
  origins[by] ?? by

/** A lasting grant that nobody has used for long. */
export function isUnused(grant: Grant, now: number): boolean {
  if (grant.scope === 'session' || grant.expires_at !== null || grant.permission === 'deny')
    return false
  return now - Date.parse(grant.last_accessed ?? grant.granted_at) > longUnused
}

/** What a folder is to agents by the grants on it alone. */
export type Standing = {
  readonly all: Grant['permission'] | undefined
  /** What single agents were told. */
  readonly others: readonly string[]
}

export function standingOf(grants: readonly Grant[], path: string): Standing {
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
