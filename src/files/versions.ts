import type { Db } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import type { Disk } from './disk.ts'
import type { HistoryStore, Version } from './history-store.ts'
import type { History } from './history.ts'
import type { Placed, Places } from './places.ts'
import type { VersionLimits } from './rules/retention.ts'
import type { Answered } from './worker/protocol.ts'
import type { Written } from './writing.ts'

type Deps = {
  readonly db: Db
  readonly store: HistoryStore
  readonly history: History
  readonly disk: Disk
  readonly places: Pick<Places, 'isRisky' | 'pathIn'>
  readonly limits: Pick<VersionLimits, 'maxPerFile'>
}

/** Earlier contents of files (TR3): whoever may read a file may see them, whoever may write it may put one back. */
export function createVersions(deps: Deps) {
  const { db, store, history, disk, places, limits } = deps
  /** Versions are known by the path without links; where nothing is any more, by the one that was given. */
  async function realOf(call: Call, placed: Placed): Promise<string> {
    try {
      const { real } = await disk.ask(call, 'stat', [placed], { at: placed.at })
      return places.pathIn(placed, real)
    } catch (error) {
      if (error instanceof CoworkError && error.code === 'not_found') return placed.path
      throw error
    }
  }

  async function find(path: string, id: string): Promise<Version> {
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
      const path = await realOf(call, placed)
      return { path, versions: await store.versionsOf(db, path, limits.maxPerFile) }
    },

    async restore(call: Call, given: string, id: string): Promise<Written & { version: Version }> {
      const placed = await disk.place(call, { path: given, need: 'write', makes: true })
      const version = await find(await realOf(call, placed), id)
      const { sha256, mode } = version
      const { stat, real, before } = await history.writing(() =>
        disk.ask(call, 'restoreVersion', [placed], {
          at: placed.at,
          sha256,
          mode,
          reviewed: places.isRisky(given),
        }),
      )
      call.tell({ data: { size_bytes: stat.size, sha256, version: id } })
      return { path: places.pathIn(placed, real), stat, version, ...(before && { before }) }
    },

    /** What differs between a version, or another file, and the file as it is. */
    async diff(
      call: Call,
      given: string,
      other: { readonly version?: string | undefined; readonly path?: string | undefined },
    ): Promise<{ path: string } & Answered<'diff'>> {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const { at } = placed
      if (other.path !== undefined) {
        const second = await disk.place(call, { path: other.path, need: 'read' }, false)
        const answer = await disk.ask(call, 'diff', [placed, second], { from: at, to: second.at })
        return { path: placed.path, ...answer }
      }
      const path = await realOf(call, placed)
      const version =
        other.version === undefined
          ? (await store.versionsOf(db, path, 1))[0]
          : await find(path, other.version)
      if (!version)
        throw new CoworkError('not_found', `${path} has no earlier version.`, {
          hint: 'Name another file in `with` to compare with that.',
        })
      const from = { sha256: version.sha256 }
      return { path, ...(await disk.ask(call, 'diff', [placed], { from, to: at })) }
    },
  }
}
