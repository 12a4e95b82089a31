import { systemActor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Call } from '#base/tool.ts'
import { fileError, hasCode } from './error-text.ts'
import type { TrashItem } from './history-store.ts'
import type { ResolvedPath } from './path-resolver.ts'
import { resolveDestination, lastSegment } from './rules/paths.ts'
import { selectExpiredTrash } from './rules/retention.ts'
import type { Stat } from './worker/protocol.ts'
import type { FileParts } from './service.ts'

type Deps = Pick<FileParts, 'db' | 'store' | 'worker' | 'disk' | 'resolver' | 'now'> & {
  readonly retentionMs: number
}

/** Sorts after every id, so that the first page starts with the newest item. */
const firstPageCursor = 'g'

/** Manages deleted files. Each is in the trash folder with a record and has a row in the store (TR1). */
export function createTrash(deps: Deps) {
  const { db, store, worker, disk, resolver, retentionMs, now } = deps

  /** Restores that may have happened on disk without a committed row. */
  const pendingRestores = new Set<{ readonly id: string; readonly at: number }>()
  const isRestorePending = (id: string) => pendingRestores.values().some((asked) => asked.id === id)
  function prunePendingRestores(): void {
    for (const asked of pendingRestores)
      if (now() - asked.at > recordTimeoutMs) pendingRestores.delete(asked)
      else break
  }

  async function find(id: string): Promise<TrashItem> {
    const item = await store.findTrashItem(db, id)
    if (item) return item
    throw new CoworkError('not_found', `Unknown trash item: ${id.slice(0, 100)}.`, {
      hint: 'List the trash with trash_list.',
    })
  }

  /** Whether the review of this destination covered the item: a sensitive original name needs a sensitive destination. */
  function isReviewedFor({ path }: TrashItem, destination: string | undefined): boolean {
    if (destination === undefined || !resolver.isRisky(destination)) return false
    return !resolver.isSensitive(path) || resolver.isSensitive(destination)
  }

  /** Returns the real path if the file at the destination looks like the restored item: same type and size. */
  async function findRestoredPath(
    item: TrashItem,
    to: ResolvedPath | undefined,
  ): Promise<string | undefined> {
    if (!to) return undefined
    const found = await worker.ask('stat', { at: to.at }).catch(() => undefined)
    const isIt =
      found?.stat.type === item.type && (item.type !== 'file' || found.stat.size === item.size)
    return isIt ? resolver.toRealPath(to, found.real) : undefined
  }

  /**
   * Repairs the rows after a crash: adds rows for items without one, and deletes rows of items that are gone. If the item
   * was restored to `to`, its versions move to that path.
   */
  async function reconcile(
    isSelected: (id: string) => boolean = () => true,
    to?: ResolvedPath,
  ): Promise<void> {
    prunePendingRestores()
    // Read the rows first: an item deleted during this run is then only in the records, never only in the rows.
    const rows = (await store.listTrash(db)).filter(({ id }) => isSelected(id))
    const records = (await worker.ask('listTrash', {})).records.filter(({ id }) => isSelected(id))
    const known = new Set(rows.map(({ id }) => id))
    const there = new Set(records.map(({ id }) => id))
    const found = records.flatMap(({ id, record }) => {
      const item = known.has(id) ? undefined : parseTrashRecord(id, record)
      return item ? [item] : []
    })
    const gone = await Promise.all(
      rows
        .filter(({ id }) => !there.has(id) && (to !== undefined || !isRestorePending(id)))
        .map(async (item) => ({ ...item, back: await findRestoredPath(item, to) })),
    )
    if (found.length + gone.length === 0) return
    await db.transact(async (tx) => {
      // Skip items whose calls have committed since.
      const kept: TrashItem[] = []
      const dropped: TrashItem[] = []
      for (const item of found) if ((await store.addFoundTrashItem(tx, item)) > 0) kept.push(item)
      for (const { back, ...item } of gone) {
        if (!(await store.findTrashItem(tx, item.id))) continue
        if (back === undefined) await store.deleteTrashItem(tx, item.id)
        else await store.restoreFromTrash(tx, item.id, back)
        dropped.push(item)
      }
      if (kept.length + dropped.length === 0) return
      tx.append({
        type: 'trash.reconciled',
        actor: systemActor,
        domain: 'files',
        data: {
          found: kept.slice(0, maxNamed).map(({ id, path }) => ({ id, path })),
          gone: dropped.slice(0, maxNamed).map(({ id, path }) => ({ id, path })),
          counts: { found: kept.length, gone: dropped.length },
        },
      })
    })
  }

  /** Ignores failures: the daily maintenance repeats the repair. */
  async function reconcileItems(ids: readonly string[], to?: ResolvedPath): Promise<void> {
    const meant = new Set(ids)
    await reconcile((id) => meant.has(id), to).catch(() => undefined)
  }

  /** Runs `act`. If it was interrupted, repairs the rows of the items as soon as a worker runs. */
  async function withReconcile<T>(
    ids: readonly string[],
    act: () => Promise<T>,
    to?: ResolvedPath,
    /** Called after a failure, and after the repair of an interrupted call. */
    expired: (code?: string) => void = () => {},
  ): Promise<T> {
    try {
      return await act()
    } catch (error) {
      const code = error instanceof CoworkError ? error.code : undefined
      if (code === 'interrupted') void reconcileItems(ids, to).then(() => expired())
      else expired(code)
      throw error
    }
  }

  return {
    find,

    async remove(call: Call, requestedPath: string): Promise<Omit<TrashItem, 'by' | 'call'>> {
      const placed = await disk.resolve(call, { path: requestedPath, need: 'delete' })
      const { at, path } = placed
      if (at.path === '')
        throw fileError('forbidden_path', path, 'The workspace itself cannot be deleted.')
      const id = newId()
      const deletedAt = now()
      const record = { path, by: call.caller.id, call: call.id, deleted_at: deletedAt }
      const answer = await withReconcile([id], () =>
        disk.request(call, 'trash', [placed], { at, id, record }),
      ).catch(async (error: unknown) => {
        // A folder from another disk may be completely in the trash although part of the source remains.
        if (hasCode(error, 'stale', 'no_permission', 'unreadable')) await reconcileItems([id])
        throw error
      })
      const { stat, sha256 = null } = answer
      call.addDetails({ data: { size_bytes: stat.size, trash: id, ...(sha256 && { sha256 }) } })
      const real = resolver.toRealPath(placed, answer.real)
      return { id, path: real, type: stat.type, size: stat.size, sha256, deletedAt }
    },

    /** Restores an item to its original path or to another destination; never replaces a file (TR1). */
    async restore(
      call: Call,
      id: string,
      destination: string | undefined,
    ): Promise<{ path: string; stat: Stat }> {
      const item = await find(id)
      const targetPath =
        destination === undefined ? item.path : resolveDestination(destination, item.path)
      // A restore to the original path creates no new file name.
      const createsFile = item.type === 'file' && resolver.locate(targetPath).path !== item.path
      // Without a destination, the subject of the entry is the id.
      const isSubject = destination !== undefined
      const to = await disk.resolve(
        call,
        { path: targetPath, need: 'create', createsFile },
        isSubject,
      )
      const risky = [item.path, to.path].find(resolver.isRisky)
      const isRisky = risky !== undefined
      if (isRisky && call.caller.kind === 'agent' && !isReviewedFor(item, destination))
        throw fileError(
          'forbidden_path',
          risky,
          `Restoring ${sanitizeText(risky, 300)} needs a review.`,
          'Repeat the call with that path as destination.',
        )
      const asked = { id, at: now() }
      prunePendingRestores()
      pendingRestores.add(asked)
      const { stat, real } = await disk.withDestinationHint(call, to, lastSegment(item.path), () =>
        withReconcile(
          [id],
          () => disk.request(call, 'restore', [to], { id, to: to.at, reviewed: isRisky }),
          to,
          (code) => {
            pendingRestores.delete(asked)
            // Another call restored or deleted the item, possibly without a row.
            if (code === 'not_found') void reconcileItems([id])
          },
        ),
      )
      call.addDetails({ data: { size_bytes: stat.size, trash: id } })
      return { path: resolver.toRealPath(to, real), stat }
    },

    async list(after: string | undefined, limit: number) {
      if (after !== undefined && !/^[0-9a-f-]{36}$/.test(after))
        throw fileError('invalid_query', '', 'Invalid cursor.')
      const items = await store.listTrashPage(db, after ?? firstPageCursor, limit + 1)
      const page = items.slice(0, limit)
      const last = page.at(-1)
      return { items: page, ...(items.length > limit && last && { next: last.id }) }
    },

    expiresAt: ({ deletedAt }: TrashItem) => deletedAt + retentionMs,

    /** `left` lists folders in which files could not be removed. */
    async purge(
      call: Call,
      ids: readonly string[] | 'all',
    ): Promise<{ readonly purged: readonly TrashItem[]; readonly left: readonly string[] }> {
      const all = await store.listTrash(db)
      const wanted = ids === 'all' ? all : await Promise.all([...new Set(ids)].map(find))
      const asked = wanted.map(({ id }) => id)
      const { purged, left } = await withReconcile(asked, () =>
        disk.request(call, 'purge', [], { ids: asked }),
      )
      const some = left.length > 0 && { left: left.slice(0, maxNamed) }
      call.addDetails({ data: { purged: purged.length, ...some } })
      const gone = new Set(purged)
      const missing = asked.filter((id) => !gone.has(id))
      if (missing.length > 0) void reconcileItems(missing)
      return { purged: wanted.filter(({ id }) => gone.has(id)), left }
    },

    /** Deletes expired items permanently. Records the deletion first: an unrecorded deletion must not happen. */
    async expire(): Promise<void> {
      const expired = selectExpiredTrash(await store.listTrash(db), retentionMs, now())
      if (expired.length === 0) return
      await db.transact(async (tx) => {
        for (const { id, path, by, deletedAt } of expired)
          if ((await store.deleteTrashItem(tx, id)) > 0)
            tx.append({
              type: 'trash.purged',
              actor: systemActor,
              domain: 'files',
              subject: path,
              data: { area: 'workspace', trash: id, by, deleted_at: deletedAt, why: 'retention' },
            })
      })
      const ids = expired.map(({ id }) => id)
      const some: string[] = []
      for (let at = 0; at < ids.length; at += maxBatchSize) {
        const { left } = await worker.ask('purge', { ids: ids.slice(at, at + maxBatchSize) })
        some.push(...left)
      }
      if (some.length > 0)
        throw new Error(`files not deleted in ${some.slice(0, maxNamed).join(', ')}`)
    },

    reconcile: () => reconcile(),
  }
}

const maxNamed = 100
/** Items per purge; items left at the deadline are deleted the next day. */
const maxBatchSize = 100
/** Longer than any call takes to commit. */
const recordTimeoutMs = 10 * 60_000

/** Parses a trash record. It was written before the move, so fields may be missing; they get defaults. */
function parseTrashRecord(
  id: string,
  record: Readonly<Record<string, unknown>>,
): TrashItem | undefined {
  const { origin, by, call, deleted_at: at, type, size, sha256 } = record
  // `path` is the requested path, which may contain symbolic links.
  const path = typeof origin === 'string' ? origin : record['path']
  if (typeof path !== 'string') return undefined
  const isType = type === 'folder' || type === 'link' || type === 'other'
  return {
    id,
    path,
    type: isType ? type : 'file',
    size: typeof size === 'number' ? size : 0,
    sha256: typeof sha256 === 'string' ? sha256 : null,
    by: typeof by === 'string' ? by : 'unknown',
    call: typeof call === 'string' ? call : '',
    deletedAt: typeof at === 'number' ? at : 0,
  }
}
