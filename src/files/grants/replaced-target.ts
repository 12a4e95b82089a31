import type { Approval, Approvals, Decision } from '#approvals'
import { CoworkError } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { formatInode } from '../confine/inode.ts'
import type { Pin } from '../rules/choices.ts'
import type { GrantWriter } from './grant-writer.ts'
import { isStillAtPath, pinPath } from './pin.ts'
import { getGrantRequest } from './request-content.ts'
import type { GrantsDeps } from './service.ts'
import type { PendingReplacements } from './grant-cache.ts'

type Deps = Pick<GrantsDeps, 'node' | 'now'> & {
  readonly approvals: () => Pick<Approvals, 'get'>
  readonly latest: GrantWriter['latest']
  readonly underWay: Pick<PendingReplacements, 'over'>
}

export type ReplacedTargetCheck = ReturnType<typeof createReplacedTargetCheck>

/**
 * What took the place of what was asked for, while the request waited, is opened by nobody who does not know of it
 * (PV9): who decides is told, and decides again about what lies there now (GR3).
 */
export function createReplacedTargetCheck({ node, approvals, latest, underWay, now }: Deps) {
  /** By request and path: what lies there instead, if it can be meant. Of the last look. */
  const looks = new Map<string, { readonly at: number; readonly found: Map<string, Pin | null> }>()
  /** By request: whom it was told to last, and what. A restart or another daemon tells it once more. */
  const told = new Map<string, string>()

  /** Before the transaction of a decision, which waits for no disk. */
  async function look(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map(lookAtOne))
  }

  async function lookAtOne(id: string): Promise<void> {
    const approval = await approvals().get(id)
    if (approval?.kind !== 'grant' || approval.status !== 'pending') return
    const { node: theirs, pin: asked, folder_pin: folder } = getGrantRequest(approval)
    const since = pinnedAt(approval)
    if (theirs !== node) return
    const lies = (pin: Pin) => isStillAtPath({ ...pin, ...latest(pin.path, pin, since) })
    const at = now()
    const found = new Map<string, Pin | null>()
    for (const pin of [asked, folder]) {
      if (!pin || (await lies(pin))) continue
      const { path, kind } = pin
      // What cowork itself puts there is no other file.
      await underWay.over(path)
      if (await lies(pin)) continue
      const other = await pinPath(path)
      // Where a link leads by now nobody has asked for.
      found.set(path, other?.path === path && other.kind === kind ? other : null)
    }
    looks.set(id, { at, found })
  }

  function check({ id }: Approval, { by }: Decision, { path }: Pin): void {
    const found = looks.get(id)?.found.get(path)
    if (found === undefined) return
    if (found === null)
      throw new CoworkError('stale', `${sanitizeText(path, 300)} is not there any more.`, {
        hint: 'Allow a folder around it, or deny it: the agent may ask again.',
      })
    const it = `${by.id} ${formatInode(found)} ${path}`
    if (told.get(id) === it) return
    told.set(id, it)
    throw new CoworkError(
      'stale',
      `${sanitizeText(path, 300)} was replaced since it was asked for: another ${found.kind} is there now.`,
      { hint: 'Look at that, then decide again to allow it.' },
    )
  }

  function pinFor(approval: Approval, { path, kind, dev, ino, born = null }: Pin) {
    const asked = pinnedAt(approval)
    const { at = asked, found } = looks.get(approval.id) ?? {}
    const other = found?.get(path)
    return other ? { ...other, pinnedAt: at } : { path, kind, dev, ino, born, pinnedAt: asked }
  }

  function forget({ id }: Approval): void {
    looks.delete(id)
    told.delete(id)
  }

  return { look, check, pinFor, forget }
}

/** Of a request of an older version only when it was made is known. */
const pinnedAt = (approval: Approval): number =>
  getGrantRequest(approval).pinned_at ?? approval.createdAt
