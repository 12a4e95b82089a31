import * as z from 'zod'
import { rfc3339 } from '#base/clock.ts'
import type { Grant } from '../model.ts'

const text = z.string().nullable()

/** A grant on the wire (GR4). Bare types: every word of a schema is read by every agent (FT9). */
export const grantShape = z.object({
  id: z.string(),
  agent: z.string(),
  path: z.string(),
  kind: z.string(),
  permission: z.string(),
  scope: z.string(),
  session: text,
  hard_links: z.boolean(),
  granted_at: z.string(),
  granted_by: z.string(),
  expires_at: text,
  last_accessed: text,
  access_count: z.number(),
  node: z.string(),
  replaced: z.boolean().optional(),
})

const timeOf = (at: number | null) => (at === null ? null : rfc3339(at))

/** `replaced` is said of one whose file or folder lies at its path no more: it opens nothing (PV9). */
export const shownGrant = (grant: Grant, isInPlace = true): z.output<typeof grantShape> => ({
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
