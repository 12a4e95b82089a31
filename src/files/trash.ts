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

type Deps = Pick<FileParts, 'db' | 'store' | 'worker' | 'disk' | 'places' | 'now'> & {
  readonly retentionMs: number
}

/** After every id: a page begins at the newest. */
const pastAll = 'g'

/** Deleted files: each lies in the trash with a record beside it, and has a row here (TR1). */
export function createTrash(deps: Deps) {
  const { db, store, worker, disk, places, retentionMs, now } = deps

  /** What was asked back, and when: it may be back, and that not on record yet. */
  const askedBack = new Set<{ readonly id: string; readonly at: number }>()
  const isComing = (id: string) => askedBack.values().some((asked) => asked.id === id)
  function forgetAsked(): void {
    for (const asked of askedBack)
      if (now() - asked.at > recordedMs) askedBack.delete(asked)
      else break
  }

  async function find(id: string): Promise<TrashItem> {
    const item = await store.trashed(db, id)
    if (item) return item
    throw new CoworkError('not_found', `There is nothing in the trash under ${id.slice(0, 100)}.`, {
      hint: 'trash_list names what is there.',
    })
  }

  /** Whether whoever was asked about this destination knew what would come there: the name it had counts, too. */
  function isAskedFor({ path }: TrashItem, destination: string | undefined): boolean {
    if (destination === undefined || !places.isRisky(destination)) return false
    return !places.isSensitive(path) || places.isSensitive(destination)
  }

  /** Whether that is what came back there, as far as can be told when nobody said so; and where that is. */
  async function placeOf(
    item: TrashItem,
    to: ResolvedPath | undefined,
  ): Promise<string | undefined> {
    if (!to) return undefined
    const found = await worker.ask('stat', { at: to.at }).catch(() => undefined)
    const isIt =
      found?.stat.type === item.type && (item.type !== 'file' || found.stat.size === item.size)
    return isIt ? places.pathIn(to, found.real) : undefined
  }

  /**
   * After a crash: rows of what lies in the trash without one, none of what is not there any more. What is known of
   * that goes along to where it was to come back, if it did.
   */
  async function reconcile(
    isMeant: (id: string) => boolean = () => true,
    to?: ResolvedPath,
  ): Promise<void> {
    forgetAsked()
    // Rows first: what is deleted meanwhile has no row here that its record could lack.
    const rows = (await store.trash(db)).filter(({ id }) => isMeant(id))
    const records = (await worker.ask('listTrash', {})).records.filter(({ id }) => isMeant(id))
    const known = new Set(rows.map(({ id }) => id))
    const there = new Set(records.map(({ id }) => id))
    const found = records.flatMap(({ id, record }) => {
      const item = known.has(id) ? undefined : trashedOf(id, record)
      return item ? [item] : []
    })
    const gone = await Promise.all(
      rows
        .filter(({ id }) => !there.has(id) && (to !== undefined || !isComing(id)))
        .map(async (item) => ({ ...item, back: await placeOf(item, to) })),
    )
    if (found.length + gone.length === 0) return
    await db.transact(async (tx) => {
      // Of the others their own calls have told since.
      const kept: TrashItem[] = []
      const dropped: TrashItem[] = []
      for (const item of found) if ((await store.keepFound(tx, item)) > 0) kept.push(item)
      for (const { back, ...item } of gone) {
        if (!(await store.trashed(tx, item.id))) continue
        if (back === undefined) await store.dropTrash(tx, item.id)
        else await store.takeFromTrash(tx, item.id, back)
        dropped.push(item)
      }
      if (kept.length + dropped.length === 0) return
      tx.append({
        type: 'trash.reconciled',
        actor: systemActor,
        domain: 'files',
        data: {
          found: kept.slice(0, mostNamed).map(({ id, path }) => ({ id, path })),
          gone: dropped.slice(0, mostNamed).map(({ id, path }) => ({ id, path })),
          counts: { found: kept.length, gone: dropped.length },
        },
      })
    })
  }

  /** Where this fails, the upkeep of the day does it. */
  async function reconcileSoon(ids: readonly string[], to?: ResolvedPath): Promise<void> {
    const meant = new Set(ids)
    await reconcile((id) => meant.has(id), to).catch(() => undefined)
  }

  /** What may have been done, and nobody could say, is looked for as soon as there is a worker. */
  async function orReconciled<T>(
    ids: readonly string[],
    act: () => Promise<T>,
    to?: ResolvedPath,
    /** It was not done, or is known by now to be. */
    over: (code?: string) => void = () => {},
  ): Promise<T> {
    try {
      return await act()
    } catch (error) {
      const code = error instanceof CoworkError ? error.code : undefined
      if (code === 'interrupted') void reconcileSoon(ids, to).then(() => over())
      else over(code)
      throw error
    }
  }

  return {
    find,

    async remove(call: Call, given: string): Promise<Omit<TrashItem, 'by' | 'call'>> {
      const placed = await disk.place(call, { path: given, need: 'delete' })
      const { at, path } = placed
      if (at.path === '')
        throw fileError('forbidden_path', path, 'The workspace itself cannot be deleted.')
      const id = newId()
      const deletedAt = now()
      const record = { path, by: call.caller.id, call: call.id, deleted_at: deletedAt }
      const answer = await orReconciled([id], () =>
        disk.ask(call, 'trash', [placed], { at, id, record }),
      ).catch(async (error: unknown) => {
        // Of a folder on another disk perhaps all is here, and something could not be taken away there.
        if (hasCode(error, 'stale', 'no_permission', 'unreadable')) await reconcileSoon([id])
        throw error
      })
      const { stat, sha256 = null } = answer
      call.addDetails({ data: { size_bytes: stat.size, trash: id, ...(sha256 && { sha256 }) } })
      const real = places.pathIn(placed, answer.real)
      return { id, path: real, type: stat.type, size: stat.size, sha256, deletedAt }
    },

    /** Back to where it was, or to where the caller may make it; never over something (TR1). */
    async restore(
      call: Call,
      id: string,
      destination: string | undefined,
    ): Promise<{ path: string; stat: Stat }> {
      const item = await find(id)
      const given =
        destination === undefined ? item.path : resolveDestination(destination, item.path)
      // What comes back to where it was is not made.
      const makes = item.type === 'file' && places.locate(given).path !== item.path
      // Where nobody said where to, the entry is about an id.
      const isSubject = destination !== undefined
      const to = await disk.place(
        call,
        { path: given, need: 'create', createsFile: makes },
        isSubject,
      )
      const risky = [item.path, to.path].find(places.isRisky)
      const isRisky = risky !== undefined
      if (isRisky && call.caller.kind === 'agent' && !isAskedFor(item, destination))
        throw fileError(
          'forbidden_path',
          risky,
          `${sanitizeText(risky, 300)} comes back only after a person or trust has looked.`,
          'Give that path as destination, and a person is asked; move_file takes it elsewhere.',
        )
      const asked = { id, at: now() }
      forgetAsked()
      askedBack.add(asked)
      const { stat, real } = await disk.arrive(call, to, lastSegment(item.path), () =>
        orReconciled(
          [id],
          () => disk.ask(call, 'restore', [to], { id, to: to.at, reviewed: isRisky }),
          to,
          (code) => {
            askedBack.delete(asked)
            // Somebody else took it, and perhaps nobody could say so.
            if (code === 'not_found') void reconcileSoon([id])
          },
        ),
      )
      call.addDetails({ data: { size_bytes: stat.size, trash: id } })
      return { path: places.pathIn(to, real), stat }
    },

    async list(after: string | undefined, limit: number) {
      if (after !== undefined && !/^[0-9a-f-]{36}$/.test(after))
        throw fileError('invalid_query', '', 'That is no cursor of this list.')
      const items = await store.trashPage(db, after ?? pastAll, limit + 1)
      const page = items.slice(0, limit)
      const last = page.at(-1)
      return { items: page, ...(items.length > limit && last && { next: last.id }) }
    },

    expiresAt: ({ deletedAt }: TrashItem) => deletedAt + retentionMs,

    /** `left` is where some of it could not be removed. */
    async purge(
      call: Call,
      ids: readonly string[] | 'all',
    ): Promise<{ readonly purged: readonly TrashItem[]; readonly left: readonly string[] }> {
      const all = await store.trash(db)
      const wanted = ids === 'all' ? all : await Promise.all([...new Set(ids)].map(find))
      const asked = wanted.map(({ id }) => id)
      const { purged, left } = await orReconciled(asked, () =>
        disk.ask(call, 'purge', [], { ids: asked }),
      )
      const some = left.length > 0 && { left: left.slice(0, mostNamed) }
      call.addDetails({ data: { purged: purged.length, ...some } })
      const gone = new Set(purged)
      const missing = asked.filter((id) => !gone.has(id))
      if (missing.length > 0) void reconcileSoon(missing)
      return { purged: wanted.filter(({ id }) => gone.has(id)), left }
    },

    /** What is too old goes for good. On record first: what cannot be recorded is not done. */
    async expire(): Promise<void> {
      const over = selectExpiredTrash(await store.trash(db), retentionMs, now())
      if (over.length === 0) return
      await db.transact(async (tx) => {
        for (const { id, path, by, deletedAt } of over)
          if ((await store.dropTrash(tx, id)) > 0)
            tx.append({
              type: 'trash.purged',
              actor: systemActor,
              domain: 'files',
              subject: path,
              data: { area: 'workspace', trash: id, by, deleted_at: deletedAt, why: 'retention' },
            })
      })
      const ids = over.map(({ id }) => id)
      const some: string[] = []
      for (let at = 0; at < ids.length; at += mostAtOnce) {
        const { left } = await worker.ask('purge', { ids: ids.slice(at, at + mostAtOnce) })
        some.push(...left)
      }
      if (some.length > 0)
        throw new Error(`some of what was purged is left in ${some.slice(0, mostNamed).join(', ')}`)
    },

    reconcile: () => reconcile(),
  }
}

const mostNamed = 100
/** Things purged in one call: what is not gone by its deadline is found again the next day. */
const mostAtOnce = 100
/** Longer than any call waits for its commit. */
const recordedMs = 10 * 60_000

/** A record that was written before the file was moved there: what it lacks is not known any more. */
function trashedOf(id: string, record: Readonly<Record<string, unknown>>): TrashItem | undefined {
  const { origin, by, call, deleted_at: at, type, size, sha256 } = record
  // Over a link it was given another path than its own.
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
