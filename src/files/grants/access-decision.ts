import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import { isSameInode } from '../confine/inode.ts'
import type { Grant, AccessKind } from '../model.ts'
import {
  listClosedSubpaths,
  findCoveringGrants,
  decideWithStaleGrants,
  decideGrant,
  deniedFiles,
} from '../rules/grants.ts'
import type { GrantVerdict, Holder } from '../rules/grants.ts'
import type { Inode } from '../worker/protocol.ts'
import type { GrantCache, PendingReplacements } from './grant-cache.ts'
import { isStillAtPath } from './pin.ts'

type Deps = {
  readonly cache: Pick<
    GrantCache,
    'listActive' | 'waitUntilCurrent' | 'waitForListeners' | 'isBeingRepinned' | 'getRepinCount'
  >
  readonly pendingReplacements: Pick<PendingReplacements, 'waitUntilRead'>
  readonly node: string
  readonly now: Clock
}

/** Applies `rules/grants.ts` to the active grants whose files are still at their paths (GR6, PV9). */
export function createAccessDecision({ cache, pendingReplacements, node, now }: Deps) {
  const decide = (caller: Caller, path: string, need: AccessKind): GrantVerdict =>
    decideGrant(cache.listActive(), { holder: toHolder(caller), path, need, now: now() })

  /**
   * Whether the granted file or folder is still at its path (PV9). A denial applies to the path itself, and the disk of
   * another node cannot be inspected; both count as in place.
   */
  async function isInPlace(grant: Grant): Promise<boolean> {
    const { id, kind, path, permission } = grant
    const moves = cache.getRepinCount(id)
    if (permission === 'deny' || grant.node !== node || (await isStillAtPath(grant))) return true
    if (kind === 'folder') return false
    await pendingReplacements.waitUntilRead(path)
    const later = cache.listActive().find((one) => one.id === id)
    if (!later || (isSameInode(later, grant) && cache.getRepinCount(id) === moves)) return false
    return isInPlace(later)
  }

  async function findStale(grants: readonly Grant[]): Promise<ReadonlySet<string>> {
    const inPlace = await Promise.all(grants.map(isInPlace))
    return new Set(grants.filter((_, index) => !inPlace[index]).map(({ id }) => id))
  }

  /** A single grant is not checked here: the worker checks it. */
  async function filterInPlace(grants: readonly Grant[]): Promise<readonly Grant[]> {
    if (grants.length < 2) return grants
    const stale = await findStale(grants)
    return grants.filter(({ id }) => !stale.has(id))
  }

  async function decideAmongInPlace(
    caller: Caller,
    path: string,
    need: AccessKind,
  ): Promise<GrantVerdict> {
    const query = { holder: toHolder(caller), path, need, now: now() }
    const covering = findCoveringGrants(cache.listActive(), query)
    const verdict = decideGrant(covering, query)
    if (!verdict.grant || covering.length < 2 || (await isStillAtPath(verdict.grant)))
      return verdict
    const stale = await findStale(covering)
    // Use the grants that changed during the check.
    const later = findCoveringGrants(cache.listActive(), query)
    return decideWithStaleGrants(later, query, new Set(later.filter(({ id }) => stale.has(id))))
  }

  /**
   * Like `decide`, but waits for pending changes before a refusal. If several grants cover the path, those whose file or
   * folder is gone open nothing and still narrow wider grants (PV9). Denials apply by path.
   */
  async function decideNow(caller: Caller, path: string, need: AccessKind): Promise<GrantVerdict> {
    const verdict = await decideAmongInPlace(caller, path, need)
    if (verdict.grant && !cache.isBeingRepinned(verdict.grant)) return verdict
    await (verdict.grant ? cache.waitForListeners() : cache.waitUntilCurrent())
    return decideAmongInPlace(caller, path, need)
  }

  /** Lists subpaths that stay closed under a root. Stale grants still close theirs, so the disk is not inspected. */
  const listClosedBelow = (caller: Caller, root: Grant, need: AccessKind): readonly string[] =>
    listClosedSubpaths(cache.listActive(), root, { holder: toHolder(caller), need, now: now() })

  /** Lists the inodes of denied files. Inode numbers are reused, so only files still at their paths are listed. */
  async function listDeniedFiles(caller: Caller): Promise<readonly Inode[]> {
    const denied = deniedFiles(cache.listActive(), { holder: toHolder(caller), now: now() })
    const inPlace = await Promise.all(denied.map(isStillAtPath))
    return denied.filter((_, index) => inPlace[index]).map(({ dev, ino }) => ({ dev, ino }))
  }

  async function wasRepinned(grant: Grant): Promise<boolean> {
    await pendingReplacements.waitUntilRead(grant.path)
    return cache.listActive().some((one) => one.id === grant.id && !isSameInode(one, grant))
  }

  return {
    decide,
    decideNow,
    listClosedBelow,
    listDeniedFiles,
    isInPlace,
    filterInPlace,
    wasRepinned,
  }
}

export const toHolder = (caller: Caller): Holder =>
  caller.kind === 'human'
    ? { kind: 'human' }
    : { kind: 'agent', agent: caller.id, session: caller.session }
