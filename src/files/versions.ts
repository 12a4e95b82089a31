import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Call } from '#base/tool.ts'
import { systemActor } from '#base/entry.ts'
import { newId } from '#base/ids.ts'
import { fileError, hasCode } from './error-text.ts'
import { isOwner } from './grants/temporary-grants.ts'
import { pinPath, resolveRealPath } from './grants/pin.ts'
import type { Version } from './history-store.ts'
import type { ResolvedPath } from './path-resolver.ts'
import { allows, covers, readableSince } from './rules/grants.ts'
import { isWithin } from './rules/paths.ts'
import { totalBytes, selectUnusedContents, selectExpiredVersions } from './rules/retention.ts'
import type { VersionLimits } from './rules/retention.ts'
import type { OpResponse } from './worker/protocol.ts'
import type { WriteResult } from './file-writer.ts'
import type { FileParts } from './service.ts'

type Deps = Omit<FileParts, 'worker' | 'now' | 'log'> & {
  readonly limits: Pick<VersionLimits, 'maxPerFile'>
}

/**
 * Earlier contents of files (TR3): whoever may read a file may see them, whoever may write it may put one back; and
 * the owner in any case.
 */
export function createVersions(deps: Deps) {
  const { db, store, history, disk, places, grants, workspace, limits } = deps
  /** Versions are known by the path without links; where nothing is any more, by the one that was given. */
  async function realOf(
    call: Call,
    placed: ResolvedPath,
  ): Promise<{ path: string; isThere: boolean }> {
    try {
      const { real } = await disk.ask(call, 'stat', [placed], { at: placed.at })
      return { path: places.pathIn(placed, real), isThere: true }
    } catch (error) {
      if (!hasCode(error, 'not_found')) throw error
      return { path: placed.path, isThere: false }
    }
  }

  /** From when on this agent could have read what lay at a path: the workspace is everybody's. */
  async function knownSince(caller: Caller, path: string, { grant: used }: ResolvedPath) {
    if (isWithin(path, workspace)) return -Infinity
    if (!(await grants.decideNow(caller, path, 'read')).grant) return Infinity
    const reading = (await grants.of(caller)).filter(
      (grant) => covers(grant, path) && allows(grant.permission, 'read'),
    )
    const closing = await grants.closing(caller)
    const since = reading.map(async (grant) => {
      // The one that was used just now opens what it is for.
      const isOpen = grant.id === used?.id || (await grants.isInPlace(grant))
      return isOpen ? readableSince(grant, path, closing) : Infinity
    })
    return Math.min(...(await Promise.all(since)))
  }

  /**
   * Outside the workspace a path may have had another file, and others than an agent it is granted to now; and a file
   * may come from where that one reads nothing. It knows what it could have read where that lay when it was replaced,
   * and what it changed itself: the rest is not there (GR1).
   */
  async function known({ caller }: Call, placed: ResolvedPath, versions: readonly Version[]) {
    if (caller.kind !== 'agent') return versions
    const origins = [...new Set(versions.map(({ origin }) => origin))]
    const times = await Promise.all(origins.map((origin) => knownSince(caller, origin, placed)))
    return versions.filter(
      ({ at, by, origin }) =>
        isOwnRecord(caller, by, at) || at > (times[origins.indexOf(origin)] ?? Infinity),
    )
  }

  const knownOf = async (call: Call, placed: ResolvedPath, path: string) =>
    known(call, placed, await store.versionsOf(db, path, limits.maxPerFile))

  async function find(
    call: Call,
    placed: ResolvedPath,
    path: string,
    id: string,
  ): Promise<Version> {
    const found = await store.version(db, id)
    // Of another file it would be a way around that file's grant.
    const [version] = found?.path === path ? await known(call, placed, [found]) : []
    if (version) return version
    throw new CoworkError('not_found', `${path} has no version ${id.slice(0, 100)}.`, {
      hint: 'file_versions names those it has.',
    })
  }

  return {
    async list(call: Call, given: string) {
      const { path, isThere, versions } = await listed(call, given)
      if (!isThere && versions.length === 0)
        throw fileError(
          'not_found',
          path,
          `${sanitizeText(path, 300)}: There is nothing at that path.`,
        )
      return { path, versions }
    },

    restore: (call: Call, given: string, id: string): Promise<WriteResult & { version: Version }> =>
      grants.lend(call, given, 'write', (path) => restore(call, path, id)),

    diff: (
      call: Call,
      given: string,
      other: Other,
    ): Promise<{ path: string } & OpResponse<'diff'>> =>
      grants.lend(call, given, 'read', (path) => diff(call, path, other)),
  }

  async function listed(call: Call, given: string) {
    try {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const found = await realOf(call, placed)
      return { ...found, versions: await knownOf(call, placed, found.path) }
    } catch (error) {
      const isClosed = hasCode(error, 'no_grant', 'read_only_grant', 'root_replaced')
      if (!isOwner(call.caller) || !isClosed) throw error
      // What is kept is cowork's own: for that the owner needs nobody's grant.
      const { path: abs } = places.locate(given)
      const path = await resolveRealPath(abs)
      const isThere = (await pinPath(path)) !== undefined
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
    call.addDetails({ data: { size_bytes: stat.size, sha256, version: id } })
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

type UpkeepDeps = Pick<FileParts, 'db' | 'store' | 'history' | 'worker' | 'now'> & {
  readonly limits: VersionLimits
}

/** Contents in one call: however slow the disk, it is done before the call's deadline. */
const mostAtOnce = 1000
const mostNamed = 100

/** Keeps the version store within its limits (TR4). Rows and contents are both of this node alone. */
export function createVersionCleanup({ db, store, history, worker, limits, now }: UpkeepDeps) {
  /** What versions take up; too much where equal contents came since it was counted. */
  let storedBytes = 0
  /** Contents that could go, and had to be spared the last time. */
  let spared: readonly string[] = []

  /** What a file was that a crash left half written, and that no grant opens any more, is a version like others. */
  async function adoptNotes(): Promise<void> {
    await history.cleaning(async () => {
      const { journals: notes } = await worker.ask('orphanedJournals', { settled: [] })
      if (notes.length === 0) return
      await db.transact(async (tx) => {
        for (const { path, before, at } of notes)
          await store.keepVersion(tx, {
            id: newId(),
            path,
            ...before,
            at,
            by: 'unknown',
            operation: 'update_file',
            call: '',
          })
        tx.append({
          type: 'versions.found',
          actor: systemActor,
          domain: 'files',
          data: {
            versions: notes.length,
            found: notes.map(({ path }) => path).slice(0, mostNamed),
          },
        })
      })
      await worker.ask('orphanedJournals', { settled: notes.map(({ name }) => name) })
    })
  }

  /** What is beyond the limits goes for good, and contents that no version names. */
  async function expire(): Promise<void> {
    await adoptNotes()
    const lying = await contentsThere()
    await history.cleaning(async (isExpected) => {
      const all = await store.versions(db)
      const over = new Set(selectExpiredVersions(all, limits, now()))
      const kept = all.filter((one) => !over.has(one))
      const there = new Set([...lying, ...[...over].map(({ sha256 }) => sha256)])
      const ids = [...over].map(({ id }) => id)
      await drop(ids, selectUnusedContents([...there], kept), isExpected)
      storedBytes = totalBytes(kept)
    })
  }

  /**
   * All that lie in the store for as long as a version is kept, also those a crash left there before a version
   * could name them: until then such a one may be the only copy of what was overwritten.
   */
  async function contentsThere(): Promise<readonly string[]> {
    const all: string[] = []
    const before = now() - limits.retentionMs
    let after: string | undefined
    do {
      const { sha256, next } = await worker.ask('listVersions', {
        before,
        ...(after !== undefined && { after }),
      })
      all.push(...sha256)
      after = next
    } while (after !== undefined)
    return all
  }

  /** On record first: contents that are left over when that fails are found the next time. */
  async function drop(
    ids: readonly string[],
    contents: readonly string[],
    isExpected: (sha256: string) => boolean,
  ): Promise<void> {
    const unneeded = contents.filter((sha256) => !isExpected(sha256))
    spared = contents.filter(isExpected)
    if (ids.length + unneeded.length === 0) return
    await db.transact(async (tx) => {
      for (const id of ids) await store.dropVersion(tx, id)
      tx.append({
        type: 'versions.dropped',
        actor: systemActor,
        domain: 'files',
        data: { versions: ids.length, contents: unneeded.length, why: 'retention' },
      })
    })
    for (let at = 0; at < unneeded.length; at += mostAtOnce)
      await worker.ask('deleteVersions', { sha256: unneeded.slice(at, at + mostAtOnce) })
  }

  return {
    expire,
    /** What came since the last time. All is gone through only where there may be too much in all. */
    async trim(): Promise<void> {
      const { bytes, surplus } = history.takeGrowth()
      storedBytes += bytes
      const perhaps = [...new Set([...spared, ...surplus])]
      if (storedBytes > limits.maxBytes) await expire()
      else if (perhaps.length > 0)
        await history.cleaning(async (isExpected) => {
          const named = await store.named(db, perhaps)
          await drop(
            [],
            perhaps.filter((sha256) => !named.has(sha256)),
            isExpected,
          )
        })
    },
  }
}
