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

type Deps = Pick<GrantsDeps, 'db' | 'config' | 'guard' | 'where' | 'node' | 'now' | 'log'> &
  Pick<GrantWriter, 'make' | 'end'> & { readonly store: GrantStore }

type Entry = Config['grants']['entries'][number]

/** What stands in config and opens nothing, with why and what to do about it. */
export type SkippedGrant = { readonly path: string; readonly why: string }

/** Makes what config lists and ends what it lists no more (GR5, GR9). The file is read anew at every start. */
export async function syncConfigGrants(deps: Deps): Promise<readonly SkippedGrant[]> {
  const { db, config, store, node, now } = deps
  const found = await Promise.all(config.grants.entries.map((entry) => grantOf(entry, deps)))
  const wanted = found.flatMap((one) => (one && !('why' in one) ? [one] : []))
  await db.transact(async (tx) => {
    const before = (await store.live(tx, node)).filter(({ by }) => by === configActorId)
    const isKept = (grant: Grant) => wanted.some((one) => isSame(one, grant))
    for (const grant of before) if (!isKept(grant)) await deps.end(tx, grant, 'config', systemActor)
    for (const grant of wanted)
      if (!before.some((one) => isSame(grant, one) && isActive(one, now())))
        await deps.make(tx, grant)
  })
  return found.flatMap((one) => (one && 'why' in one ? [one] : []))
}

async function grantOf(entry: Entry, deps: Deps): Promise<NewGrant | SkippedGrant | undefined> {
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
    deps.log.warn('a grant of the configuration is left out', { path, why: errorMessage(error) })
    return { path, why: whyOf(error) }
  }
}

const whys: Readonly<Record<string, string>> = {
  not_found: 'nothing is there. Make it, or mend the path in the configuration, and restart.',
  forbidden_path: 'no grant opens it to agents. Take it out of the configuration.',
}

function whyOf(error: unknown): string {
  if (!(error instanceof CoworkError)) return errorMessage(error)
  const { code, message, hint = '' } = error
  return whys[code] ?? `${message} ${hint}`.trimEnd()
}

const isSame = (one: NewGrant, other: Grant): boolean =>
  one.path === other.path &&
  isSameInode(one, other) &&
  one.permission === other.permission &&
  one.scope === other.scope &&
  (one.hardLinks ?? false) === other.hardLinks &&
  (one.expiresAt ?? null) === other.expiresAt
