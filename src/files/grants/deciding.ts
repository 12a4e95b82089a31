import { join } from 'node:path'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Grant, Need } from '../model.ts'
import { closedBelow, coveringOf, decideGrant, deniedFiles } from '../rules/grants.ts'
import type { GrantVerdict, Holder } from '../rules/grants.ts'
import type { Inode } from '../worker/protocol.ts'
import type { Book } from './book.ts'
import { isInPlace } from './pin.ts'

type Deps = {
  readonly book: Pick<Book, 'live' | 'current' | 'isMoving'>
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

  /** One alone is as good as it is: the worker finds out. */
  async function inPlace(grants: readonly Grant[]): Promise<readonly Grant[]> {
    if (grants.length < 2) return grants
    const found = await Promise.all(grants.map(opens))
    return grants.filter((_, at) => found[at])
  }

  async function decideInPlace(caller: Caller, path: string, need: Need): Promise<GrantVerdict> {
    const asked = { holder: holderOf(caller), path, need, now: now() }
    const covering = coveringOf(book.live(), asked)
    const open = await inPlace(covering)
    return decideGrant(open.length > 0 ? open : covering, asked)
  }

  async function decideNow(caller: Caller, path: string, need: Need): Promise<GrantVerdict> {
    const verdict = await decideInPlace(caller, path, need)
    if (verdict.grant && !book.isMoving(verdict.grant)) return verdict
    await book.current()
    return decideInPlace(caller, path, need)
  }

  /** Only what closes something is looked at: mostly nothing does. */
  async function closedAt(caller: Caller, root: Grant, need: Need): Promise<readonly string[]> {
    const asked = { holder: holderOf(caller), need, now: now() }
    const live = book.live()
    const closed = new Set(closedBelow(live, root, asked).map((path) => join(root.path, path)))
    if (closed.size === 0) return []
    const closing = live.filter(({ path }) => closed.has(path))
    const found = await Promise.all(closing.map(opens))
    const dead = new Set(closing.filter((_, at) => !found[at]))
    return closedBelow(
      live.filter((grant) => !dead.has(grant)),
      root,
      asked,
    )
  }

  /** Numbers of files are given anew, so only what lies where it was denied is known by them. */
  async function deniedTo(caller: Caller): Promise<readonly Inode[]> {
    const denied = deniedFiles(book.live(), { holder: holderOf(caller), now: now() })
    const found = await Promise.all(denied.map(isInPlace))
    return denied.filter((_, at) => found[at]).map(({ dev, ino }) => ({ dev, ino }))
  }

  return { decide, decideNow, closedBelow: closedAt, deniedFiles: deniedTo, opens, inPlace }
}

export const holderOf = (caller: Caller): Holder =>
  caller.kind === 'human'
    ? { kind: 'human' }
    : { kind: 'agent', agent: caller.id, session: caller.session }
