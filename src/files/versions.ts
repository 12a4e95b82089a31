import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import type { FileWorker } from './client.ts'
import type { Disk } from './disk.ts'
import type { HistoryStore, Version } from './history-store.ts'
import type { History } from './history.ts'
import type { Placed, Places } from './places.ts'
import { contentsToDrop, versionsToDrop } from './rules/retention.ts'
import type { VersionLimits } from './rules/retention.ts'
import type { Written } from './writing.ts'

type Deps = {
  readonly db: Db
  readonly store: HistoryStore
  readonly history: History
  readonly worker: Pick<FileWorker, 'ask'>
  readonly disk: Disk
  readonly places: Pick<Places, 'isRisky'>
  readonly limits: VersionLimits
  readonly now: Clock
}

/** Earlier contents of files (TR3): whoever may read a file may see them, whoever may write it may put one back. */
export function createVersions(deps: Deps) {
  const { db, store, history, worker, disk, places, limits, now } = deps

  async function find({ path }: Placed, id: string): Promise<Version> {
    const version = await store.version(db, id)
    // Of another file it would be a way around that file's grant.
    if (version?.path === path) return version
    throw new CoworkError('not_found', `${path} has no version ${id.slice(0, 100)}.`, {
      hint: 'file_versions names those it has.',
    })
  }

  return {
    async list(call: Call, given: string) {
      const placed = await disk.place(call, { path: given, need: 'read' })
      return {
        path: placed.path,
        versions: await store.versionsOf(db, placed.path, limits.maxPerFile),
      }
    },

    async restore(call: Call, given: string, id: string): Promise<Written & { version: Version }> {
      const placed = await disk.place(call, { path: given, need: 'write', makes: true })
      const version = await find(placed, id)
      const { sha256, mode } = version
      const { stat, before } = await history.writing(() =>
        disk.ask(call, 'restoreVersion', [placed], {
          at: placed.at,
          sha256,
          mode,
          reviewed: places.isRisky(given),
        }),
      )
      call.tell({ data: { size_bytes: stat.size, sha256, version: id } })
      return { path: placed.path, stat, version, ...(before && { before }) }
    },

    /** What differs between a version, or another file, and the file as it is. */
    async diff(
      call: Call,
      given: string,
      other: { readonly version?: string | undefined; readonly path?: string | undefined },
    ): Promise<{ path: string; diff: string }> {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const { at, path } = placed
      if (other.path !== undefined) {
        const second = await disk.place(call, { path: other.path, need: 'read' })
        const { diff } = await disk.ask(call, 'diff', [placed, second], { from: at, to: second.at })
        return { path, diff }
      }
      const version =
        other.version === undefined
          ? (await store.versionsOf(db, path, 1))[0]
          : await find(placed, other.version)
      if (!version)
        throw new CoworkError('not_found', `${path} has no earlier version.`, {
          hint: 'Name another file in `with` to compare with that.',
        })
      const from = { sha256: version.sha256 }
      const { diff } = await disk.ask(call, 'diff', [placed], { from, to: at })
      return { path, diff }
    },

    /** What is beyond the limits goes for good (TR4). On record first. */
    async expire(): Promise<void> {
      await history.cleaning(async (spared) => {
        const all = await store.versions(db)
        const over = versionsToDrop(all, limits, now())
        if (over.length === 0) return
        const contents = contentsToDrop(all, over).filter((sha256) => !spared(sha256))
        await db.transact(async (tx) => {
          for (const { id } of over) await store.dropVersion(tx, id)
          tx.append({
            type: 'versions.dropped',
            actor: systemActor,
            domain: 'files',
            data: { versions: over.length, contents: contents.length, why: 'retention' },
          })
        })
        if (contents.length > 0) await worker.ask('dropVersions', { sha256: contents })
      })
    },
  }
}
