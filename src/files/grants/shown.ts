import { rfc3339 } from '#base/clock.ts'
import type { Grant } from '../model.ts'
import type { GrantResult } from '../wire.ts'

const timeOf = (at: number | null) => (at === null ? null : rfc3339(at))

/** `replaced` is said of one whose file or folder lies at its path no more: it opens nothing (PV9). */
export const shownGrant = (grant: Grant, isInPlace = true): GrantResult => ({
  id: grant.id,
  agent: grant.agent,
  path: grant.path,
  kind: grant.kind,
  permission: grant.permission,
  scope: grant.scope,
  session: grant.session,
  hard_links: grant.hardLinks,
  granted_at: rfc3339(grant.grantedAt),
  granted_by: grant.grantedBy,
  expires_at: timeOf(grant.expiresAt),
  last_accessed: timeOf(grant.lastAccessed),
  access_count: grant.accessCount,
  node: grant.node,
  ...(!isInPlace && { replaced: true }),
})
