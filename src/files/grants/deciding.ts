import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Grant, Need } from '../model.ts'
import { closedBelow, coveringOf, decideAmong, decideGrant, deniedFiles } from '../rules/grants.ts'
import type { GrantVerdict, Holder } from '../rules/grants.ts'
import type { Inode } from '../worker/protocol.ts'
import type { Book } from './book.ts'
import { isInPlace } from './pin.ts'

type Deps = {
  readonly book: Pick<Book, 'live' | 'current' | 'settled' | 'isMoving'>
  readonly node: string
  readonly now: Clock
}

/** The rule of `rules/grants.ts` over what is granted now and lies where it was (GR6, PV9). */
export function createDeciding({ book, node, now }: Deps) {
  const decide = (caller: Caller, path: string, need: Need): GrantVerdict =>
    decideGrant(book.live(), { holder: holderOf(caller), path, need, now: now() })

  // A denial is for the path, and of another machine's disk nothing is known here.
  const opens = async (grant: Grant) =>
    grant.permission === 'deny' || grant.node !== node || isInPlace(grant)

  async function deadOf(grants: readonly Grant[]): Promise<ReadonlySet<Grant>> {
    const found = await Promise.all(grants.map(opens))
    return new Set(grants.filter((_, at) => !found[at]))
  }

  /** One alone is as good as it is: the worker finds out. */
  async function inPlace(grants: readonly Grant[]): Promise<readonly Grant[]> {
    if (grants.length < 2) return grants
    const dead = await deadOf(grants)
    return grants.filter((grant) => !dead.has(grant))
  }

  async function decideInPlace(caller: Caller, path: string, need: Need): Promise<GrantVerdict> {
    const asked = { holder: holderOf(caller), path, need, now: now() }
    const covering = coveringOf(book.live(), asked)
    const verdict = decideGrant(covering, asked)
    if (!verdict.grant || covering.length < 2 || (await opens(verdict.grant))) return verdict
    return decideAmong(covering, asked, await deadOf(covering))
  }

  async function decideNow(caller: Caller, path: string, need: Need): Promise<GrantVerdict> {
    const verdict = await decideInPlace(caller, path, need)
    if (verdict.grant && !book.isMoving(verdict.grant)) return verdict
    await (verdict.grant ? book.settled() : book.current())
    return decideInPlace(caller, path, need)
  }

  /** What is dead closes as it did: whether it lies there need not be looked at. */
  const closedAt = (caller: Caller, root: Grant, need: Need): readonly string[] =>
    closedBelow(book.live(), root, { holder: holderOf(caller), need, now: now() })

  /** Numbers of files are given anew, so only what lies where it was denied is known by them. */
  async function deniedTo(caller: Caller): Promise<readonly Inode[]> {
    const denied = deniedFiles(book.live(), { holder: holderOf(caller), now: now() })
    const found = await Promise.all(denied.map(isInPlace))
    return denied.filter((_, at) => found[at]).map(({ dev, ino }) => ({ dev, ino }))
  }

  async function hasMoved({ id, dev, ino }: Grant): Promise<boolean> {
    await book.settled()
    return book.live().some((one) => one.id === id && (one.dev !== dev || one.ino !== ino))
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

export const holderOf = (caller: Caller): Holder =>
  caller.kind === 'human'
    ? { kind: 'human' }
    : { kind: 'agent', agent: caller.id, session: caller.session }
