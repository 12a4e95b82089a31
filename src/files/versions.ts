import type { Db } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { plainText } from '#base/plain.ts'
import type { Call } from '#base/tool.ts'
import type { Disk } from './disk.ts'
import { fileFault } from './faults.ts'
import { isOwner } from './grants/lend.ts'
import { pinOf, realPathOf } from './grants/pin.ts'
import type { Grants } from './grants/service.ts'
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
  readonly places: Pick<Places, 'isRisky' | 'locate' | 'pathIn'>
  readonly grants: Pick<Grants, 'lend'>
  readonly limits: Pick<VersionLimits, 'maxPerFile'>
}

/**
 * Earlier contents of files (TR3): whoever may read a file may see them, whoever may write it may put one back; and
 * the owner in any case.
 */
export function createVersions(deps: Deps) {
  const { db, store, history, disk, places, grants, limits } = deps
  /** Versions are known by the path without links; where nothing is any more, by the one that was given. */
  async function realOf(call: Call, placed: Placed): Promise<{ path: string; isThere: boolean }> {
    try {
      const { real } = await disk.ask(call, 'stat', [placed], { at: placed.at })
      return { path: places.pathIn(placed, real), isThere: true }
    } catch (error) {
      if (!(error instanceof CoworkError) || error.code !== 'not_found') throw error
      return { path: placed.path, isThere: false }
    }
  }

  /**
   * Outside the workspace a path may have had another file, and others than an agent it is granted to now: that one
   * knows what was there since its grant, and what it changed itself. What it could not have read is not there (GR1).
   */
  const isKnownTo =
    ({ caller }: Call, { grant }: Placed) =>
    ({ at, by }: Version): boolean =>
      !grant || caller.kind !== 'agent' || by === caller.id || at > grant.grantedAt

  const knownOf = async (call: Call, placed: Placed, path: string) =>
    (await store.versionsOf(db, path, limits.maxPerFile)).filter(isKnownTo(call, placed))

  async function find(call: Call, placed: Placed, path: string, id: string): Promise<Version> {
    const version = await store.version(db, id)
    // Of another file it would be a way around that file's grant.
    if (version?.path === path && isKnownTo(call, placed)(version)) return version
    throw new CoworkError('not_found', `${path} has no version ${id.slice(0, 100)}.`, {
      hint: 'file_versions names those it has.',
    })
  }

  return {
    async list(call: Call, given: string) {
      const { path, isThere, versions } = await listed(call, given)
      if (!isThere && versions.length === 0)
        throw fileFault(
          'not_found',
          path,
          `${plainText(path, 300)}: There is nothing at that path.`,
        )
      return { path, versions }
    },

    restore: (call: Call, given: string, id: string): Promise<Written & { version: Version }> =>
      grants.lend(call, given, 'write', (path) => restore(call, path, id)),

    /** What differs between a version, or another file, and the file as it is. */
    diff: (call: Call, given: string, other: Other): Promise<{ path: string } & Answered<'diff'>> =>
      grants.lend(call, given, 'read', (path) => diff(call, path, other)),
  }

  async function listed(call: Call, given: string) {
    try {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const found = await realOf(call, placed)
      return { ...found, versions: await knownOf(call, placed, found.path) }
    } catch (error) {
      if (!isOwner(call.caller) || !isClosed(error)) throw error
      // What is kept is cowork's own: for that the owner needs nobody's grant.
      const { path: abs } = places.locate(given)
      const path = await realPathOf(abs)
      const isThere = (await pinOf(path)) !== undefined
      return { path, isThere, versions: await store.versionsOf(db, path, limits.maxPerFile) }
    }
  }

  async function restore(call: Call, given: string, id: string) {
    const placed = await disk.place(call, { path: given, need: 'write' })
    const version = await find(call, placed, (await realOf(call, placed)).path, id)
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
  }

  async function diff(call: Call, given: string, other: Other) {
    const placed = await disk.place(call, { path: given, need: 'read' })
    const { at } = placed
    if (other.path !== undefined) {
      const second = await disk.place(call, { path: other.path, need: 'read' }, false)
      const answer = await disk.ask(call, 'diff', [placed, second], { from: at, to: second.at })
      return { path: placed.path, ...answer }
    }
    const { path } = await realOf(call, placed)
    const version =
      other.version === undefined
        ? (await knownOf(call, placed, path))[0]
        : await find(call, placed, path, other.version)
    if (!version)
      throw new CoworkError('not_found', `${path} has no earlier version.`, {
        hint: 'Name another file in `with` to compare with that.',
      })
    const from = { sha256: version.sha256, name: version.id }
    return { path, ...(await disk.ask(call, 'diff', [placed], { from, to: at })) }
  }
}

type Other = { readonly version?: string | undefined; readonly path?: string | undefined }

const isClosed = (error: unknown) =>
  error instanceof CoworkError &&
  ['no_grant', 'read_only_grant', 'root_replaced'].includes(error.code)
