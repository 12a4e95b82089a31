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
  readonly latestInode: GrantWriter['latestInode']
  readonly pendingReplacements: Pick<PendingReplacements, 'waitUntilRead'>
}

export type ReplacedTargetCheck = ReturnType<typeof createReplacedTargetCheck>

/**
 * Detects that another file or folder replaced the target of a pending access request (PV9). The first decision fails
 * with `stale`, so that the person sees the new target and decides again (GR3).
 */
export function createReplacedTargetCheck({
  node,
  approvals,
  latestInode,
  pendingReplacements,
  now,
}: Deps) {
  /** Replacements from the last inspection, by approval id and path; null if the replacement cannot be granted. */
  const inspections = new Map<
    string,
    { readonly at: number; readonly found: Map<string, Pin | null> }
  >()
  /** The last report (person and replacement) by approval id. In memory only: after a restart it is repeated. */
  const reported = new Map<string, string>()

  /** Runs before the transaction of a decision, because a transaction must not wait for the disk. */
  async function inspect(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map(inspectRequest))
  }

  async function inspectRequest(id: string): Promise<void> {
    const approval = await approvals().get(id)
    if (approval?.kind !== 'grant' || approval.status !== 'pending') return
    const { node: requestNode, pin: requested, folder_pin: folder } = getGrantRequest(approval)
    const pinnedAt = getPinnedAt(approval)
    if (requestNode !== node) return
    const isInPlace = (pin: Pin) =>
      isStillAtPath({ ...pin, ...latestInode(pin.path, pin, pinnedAt) })
    const at = now()
    const found = new Map<string, Pin | null>()
    for (const pin of [requested, folder]) {
      if (!pin || (await isInPlace(pin))) continue
      const { path, kind } = pin
      // A replacement by cowork itself is repinned.
      await pendingReplacements.waitUntilRead(path)
      if (await isInPlace(pin)) continue
      const other = await pinPath(path)
      // Nobody requested the target of a new symbolic link.
      found.set(path, other?.path === path && other.kind === kind ? other : null)
    }
    inspections.set(id, { at, found })
  }

  function check({ id }: Approval, { by }: Decision, { path }: Pin): void {
    const found = inspections.get(id)?.found.get(path)
    if (found === undefined) return
    if (found === null)
      throw new CoworkError('stale', `${sanitizeText(path, 300)} no longer exists.`, {
        hint: 'Allow its folder, or reject the request.',
      })
    const report = `${by.id} ${formatInode(found)} ${path}`
    if (reported.get(id) === report) return
    reported.set(id, report)
    throw new CoworkError(
      'stale',
      `${sanitizeText(path, 300)} was replaced by another ${found.kind} since the request.`,
      { hint: 'Check the new target, then decide again.' },
    )
  }

  function pinFor(approval: Approval, { path, kind, dev, ino, born = null }: Pin) {
    const requested = getPinnedAt(approval)
    const { at = requested, found } = inspections.get(approval.id) ?? {}
    const other = found?.get(path)
    return other ? { ...other, pinnedAt: at } : { path, kind, dev, ino, born, pinnedAt: requested }
  }

  function forget({ id }: Approval): void {
    inspections.delete(id)
    reported.delete(id)
  }

  return { inspect, check, pinFor, forget }
}

/** Requests from older versions have no `pinned_at`. */
const getPinnedAt = (approval: Approval): number =>
  getGrantRequest(approval).pinned_at ?? approval.createdAt
