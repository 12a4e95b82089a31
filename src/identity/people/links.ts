import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { mintCode } from '../token.ts'
import { linkTtlMs, endedLinkRetentionMs } from './rules.ts'
import type { Link, LinkErrorCode, Purpose } from './rules.ts'
import type { PeopleStore } from './store.ts'

export type CreatedLink = {
  readonly link: string
  readonly hash: string
  readonly expiresAt: number
}

type Deps = {
  readonly store: PeopleStore
  readonly now: Clock
  readonly consoleUrl: () => string
}

export type CreateLink = ReturnType<typeof createLinkFactory>

/** Creates sign-in links and invitations. The code is in the fragment, which browsers never send (I6, SV26). */
export function createLinkFactory({ store, now, consoleUrl }: Deps) {
  return async function makeLink(tx: Tx, purpose: Purpose): Promise<CreatedLink> {
    const at = now()
    const { token: code, hash } = mintCode()
    const expiresAt = at + linkTtlMs[purpose.kind]
    await store.deleteExpiredLinks(tx, at - endedLinkRetentionMs)
    await store.addLink(tx, { ...purpose, hash, createdAt: at, expiresAt })
    const name = purpose.kind === 'open' ? 'code' : 'invite'
    return { link: `${consoleUrl()}/#${name}=${code}`, hash, expiresAt }
  }
}

const linkMessages: Record<LinkErrorCode, (kind: Link['kind']) => string> = {
  unknown_link: () => 'Unknown link: it is incomplete, was withdrawn, or expired long ago.',
  used_link: () => 'The link was used already; it works once.',
  expired_link: (kind) =>
    `The link has expired; it was valid for ${kind === 'open' ? '5 minutes' : '24 hours'}.`,
  void_link: (kind) =>
    kind === 'open'
      ? 'The link belongs to a person who was removed.'
      : 'The invitation is no longer valid: the person who created it is not an owner any more.',
}

export const linkError = (fault: LinkErrorCode, link: Link | undefined): CoworkError =>
  new CoworkError(fault, linkMessages[fault](link?.kind ?? 'open'), {
    hint:
      link?.kind === 'invite'
        ? 'Ask an owner to invite you again.'
        : 'Create a new link with `cowork open`.',
  })
