import type { Config } from '#base/config/index.ts'
import { systemActor } from '#base/entry.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { isSameInode } from '../confine/inode.ts'
import type { GrantStore } from '../grant-store.ts'
import type { Grant } from '../model.ts'
import { isActive } from '../rules/grants.ts'
import { configActorId } from './grant-writer.ts'
import type { GrantWriter, NewGrant } from './grant-writer.ts'
import { resolveGrantTarget } from './pin.ts'
import type { GrantsDeps } from './service.ts'

type Deps = Pick<GrantsDeps, 'db' | 'config' | 'guard' | 'pathContext' | 'node' | 'now' | 'log'> &
  Pick<GrantWriter, 'make' | 'end'> & { readonly store: GrantStore }

type Entry = Config['grants']['entries'][number]

/** A grant of the configuration that cannot be made; `reason` includes the next step. */
export type SkippedGrant = { readonly path: string; readonly reason: string }

/** Makes the grants that the configuration lists and ends those that it no longer lists (GR5, GR9). Runs at each start. */
export async function syncConfigGrants(deps: Deps): Promise<readonly SkippedGrant[]> {
  const { db, config, store, node, now } = deps
  const results = await Promise.all(config.grants.entries.map((entry) => toNewGrant(entry, deps)))
  const configured = results.flatMap((one) => (one && !('reason' in one) ? [one] : []))
  await db.transact(async (tx) => {
    const before = (await store.listUnrevoked(tx, node)).filter(({ by }) => by === configActorId)
    const isKept = (grant: Grant) => configured.some((one) => isSameGrant(one, grant))
    for (const grant of before) if (!isKept(grant)) await deps.end(tx, grant, 'config', systemActor)
    for (const grant of configured)
      if (!before.some((one) => isSameGrant(grant, one) && isActive(one, now())))
        await deps.make(tx, grant)
  })
  return results.flatMap((one) => (one && 'reason' in one ? [one] : []))
}

async function toNewGrant(entry: Entry, deps: Deps): Promise<NewGrant | SkippedGrant | undefined> {
  const { path, permission, scope, hard_links, expires_at } = entry
  const expiresAt = expires_at === undefined ? null : Date.parse(expires_at)
  if (expiresAt !== null && expiresAt <= deps.now()) return undefined
  try {
    return {
      ...(await resolveGrantTarget(path, permission, deps)),
      agent: '*',
      permission,
      scope,
      hardLinks: hard_links,
      expiresAt,
      grantedBy: 'system_setup',
      by: configActorId,
      actor: systemActor,
    }
  } catch (error) {
    deps.log.warn('configured grant skipped', { path, error: errorMessage(error) })
    return { path, reason: describeReason(error) }
  }
}

const reasons: Readonly<Record<string, string>> = {
  not_found: 'not found. Create it or correct the path in the configuration, then restart.',
  forbidden_path: 'protected path. Remove it from the configuration.',
}

function describeReason(error: unknown): string {
  if (!(error instanceof CoworkError)) return errorMessage(error)
  const { code, message, hint = '' } = error
  return reasons[code] ?? `${message} ${hint}`.trimEnd()
}

const isSameGrant = (one: NewGrant, other: Grant): boolean =>
  one.path === other.path &&
  isSameInode(one, other) &&
  one.permission === other.permission &&
  one.scope === other.scope &&
  (one.hardLinks ?? false) === other.hardLinks &&
  (one.expiresAt ?? null) === other.expiresAt
