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
  readonly book: Pick<GrantCache, 'live' | 'current' | 'settled' | 'isMoving' | 'movesOf'>
  readonly underWay: Pick<PendingReplacements, 'over'>
  readonly node: string
  readonly now: Clock
}

/** The rule of `rules/grants.ts` over what is granted now and lies where it was (GR6, PV9). */
export function createAccessDecision({ book, underWay, node, now }: Deps) {
  const decide = (caller: Caller, path: string, need: AccessKind): GrantVerdict =>
    decideGrant(book.live(), { holder: toHolder(caller), path, need, now: now() })

  /**
   * Whether it opens anything: what was granted may be gone, or another in its place (PV9). A denial is for the path,
   * and of another machine's disk nothing is known here.
   */
  async function opens(grant: Grant): Promise<boolean> {
    const { id, kind, path, permission } = grant
    const moves = book.movesOf(id)
    if (permission === 'deny' || grant.node !== node || (await isStillAtPath(grant))) return true
    if (kind === 'folder') return false
    await underWay.over(path)
    const later = book.live().find((one) => one.id === id)
    if (!later || (isSameInode(later, grant) && book.movesOf(id) === moves)) return false
    return opens(later)
  }

  async function deadOf(grants: readonly Grant[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(grants.map(opens))
    return new Set(grants.filter((_, at) => !found[at]).map(({ id }) => id))
  }

  /** One alone is as good as it is: the worker finds out. */
  async function inPlace(grants: readonly Grant[]): Promise<readonly Grant[]> {
    if (grants.length < 2) return grants
    const dead = await deadOf(grants)
    return grants.filter(({ id }) => !dead.has(id))
  }

  async function decideInPlace(
    caller: Caller,
    path: string,
    need: AccessKind,
  ): Promise<GrantVerdict> {
    const asked = { holder: toHolder(caller), path, need, now: now() }
    const covering = findCoveringGrants(book.live(), asked)
    const verdict = decideGrant(covering, asked)
    if (!verdict.grant || covering.length < 2 || (await isStillAtPath(verdict.grant)))
      return verdict
    const dead = await deadOf(covering)
    // What was decided while they were looked at counts, too.
    const later = findCoveringGrants(book.live(), asked)
    return decideWithStaleGrants(later, asked, new Set(later.filter(({ id }) => dead.has(id))))
  }

  /**
   * As `decide`; before a refusal it sees what was decided in this very moment. Where several grants have a say, those
   * whose file or folder is there no more open nothing, and allow no more than they did (PV9). Denials hold by their path.
   */
  async function decideNow(caller: Caller, path: string, need: AccessKind): Promise<GrantVerdict> {
    const verdict = await decideInPlace(caller, path, need)
    if (verdict.grant && !book.isMoving(verdict.grant)) return verdict
    await (verdict.grant ? book.settled() : book.current())
    return decideInPlace(caller, path, need)
  }

  /** For `Place.closed`. What is dead closes as it did: whether it lies there need not be looked at. */
  const closedAt = (caller: Caller, root: Grant, need: AccessKind): readonly string[] =>
    listClosedSubpaths(book.live(), root, { holder: toHolder(caller), need, now: now() })

  /** For `Place.denied`. Numbers of files are given anew, so only what lies where it was denied is known by them. */
  async function deniedTo(caller: Caller): Promise<readonly Inode[]> {
    const denied = deniedFiles(book.live(), { holder: toHolder(caller), now: now() })
    const found = await Promise.all(denied.map(isStillAtPath))
    return denied.filter((_, at) => found[at]).map(({ dev, ino }) => ({ dev, ino }))
  }

  async function hasMoved(grant: Grant): Promise<boolean> {
    await underWay.over(grant.path)
    return book.live().some((one) => one.id === grant.id && !isSameInode(one, grant))
  }

  return {
    decide,
    decideNow,
    closedBelow: closedAt,
    deniedFiles: deniedTo,
    opens,
    inPlace,
    hasMoved,
  }
}

export const toHolder = (caller: Caller): Holder =>
  caller.kind === 'human'
    ? { kind: 'human' }
    : { kind: 'agent', agent: caller.id, session: caller.session }
