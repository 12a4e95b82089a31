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

/** Lists, compares and restores versions (TR3). They need read or write access to the file; the owner needs no grant. */
export function createVersions(deps: Deps) {
  const { db, store, history, disk, resolver, grants, workspace, limits } = deps
  /** Returns the real path, under which versions are stored; for a missing file, the resolved input path. */
  async function findRealPath(
    call: Call,
    placed: ResolvedPath,
  ): Promise<{ path: string; isThere: boolean }> {
    try {
      const { real } = await disk.request(call, 'stat', [placed], { at: placed.at })
      return { path: resolver.toRealPath(placed, real), isThere: true }
    } catch (error) {
      if (!hasCode(error, 'not_found')) throw error
      return { path: placed.path, isThere: false }
    }
  }

  /** Returns the time since when this agent could read the path; the workspace is always readable. */
  async function visibleSince(caller: Caller, path: string, { grant: used }: ResolvedPath) {
    if (isWithin(path, workspace)) return -Infinity
    if (!(await grants.decideNow(caller, path, 'read')).grant) return Infinity
    const reading = (await grants.listFor(caller)).filter(
      (grant) => covers(grant, path) && allows(grant.permission, 'read'),
    )
    const listBlocking = await grants.listBlocking(caller)
    const since = reading.map(async (grant) => {
      // The grant of this call was checked already.
      const isOpen = grant.id === used?.id || (await grants.isInPlace(grant))
      return isOpen ? readableSince(grant, path, listBlocking) : Infinity
    })
    return Math.min(...(await Promise.all(since)))
  }

  /**
   * Filters versions for an agent. It sees its own changes, and versions that it could read at their original path when
   * they were replaced. Outside the workspace, the path may have had another file, or the file may come from a path
   * that the agent cannot read (GR1).
   */
  async function filterVisible(
    { caller }: Call,
    placed: ResolvedPath,
    versions: readonly Version[],
  ) {
    if (caller.kind !== 'agent') return versions
    const origins = [...new Set(versions.map(({ origin }) => origin))]
    const times = await Promise.all(origins.map((origin) => visibleSince(caller, origin, placed)))
    return versions.filter(
      ({ at, by, origin }) =>
        isOwnRecord(caller, by, at) || at > (times[origins.indexOf(origin)] ?? Infinity),
    )
  }

  const listVisible = async (call: Call, placed: ResolvedPath, path: string) =>
    filterVisible(call, placed, await store.listVersions(db, path, limits.maxPerFile))

  async function find(
    call: Call,
    placed: ResolvedPath,
    path: string,
    id: string,
  ): Promise<Version> {
    const found = await store.findVersion(db, id)
    // A version of another file would bypass the grant of that file.
    const [version] = found?.path === path ? await filterVisible(call, placed, [found]) : []
    if (version) return version
    throw new CoworkError('not_found', `Unknown version of ${path}: ${id.slice(0, 100)}.`, {
      hint: 'List the versions with file_versions.',
    })
  }

  return {
    async list(call: Call, given: string) {
      const { path, isThere, versions } = await listWithPath(call, given)
      if (!isThere && versions.length === 0)
        throw fileError('not_found', path, `Not found: ${sanitizeText(path, 300)}`)
      return { path, versions }
    },

    restore: (call: Call, given: string, id: string): Promise<WriteResult & { version: Version }> =>
      grants.withTemporaryGrant(call, given, 'write', (path) => restore(call, path, id)),

    diff: (
      call: Call,
      given: string,
      other: DiffTarget,
    ): Promise<{ path: string } & OpResponse<'diff'>> =>
      grants.withTemporaryGrant(call, given, 'read', (path) => diff(call, path, other)),
  }

  async function listWithPath(call: Call, given: string) {
    try {
      const placed = await disk.resolve(call, { path: given, need: 'read' })
      const found = await findRealPath(call, placed)
      return { ...found, versions: await listVisible(call, placed, found.path) }
    } catch (error) {
      const isClosed = hasCode(error, 'no_grant', 'read_only_grant', 'root_replaced')
      if (!isOwner(call.caller) || !isClosed) throw error
      // Versions belong to cowork, so the owner needs no grant.
      const { path: abs } = resolver.locate(given)
      const path = await resolveRealPath(abs)
      const isThere = (await pinPath(path)) !== undefined
      return { path, isThere, versions: await store.listVersions(db, path, limits.maxPerFile) }
    }
  }

  async function restore(call: Call, given: string, id: string) {
    const placed = await disk.resolve(call, { path: given, need: 'write' })
    const version = await find(call, placed, (await findRealPath(call, placed)).path, id)
    const { sha256, mode } = version
    const { stat, real, before } = await history.withWriteLock(() =>
      disk.request(call, 'restoreVersion', [placed], {
        at: placed.at,
        sha256,
        mode,
        reviewed: resolver.isRisky(given),
      }),
    )
    call.addDetails({ data: { size_bytes: stat.size, sha256, version: id } })
    return { path: resolver.toRealPath(placed, real), stat, version, ...(before && { before }) }
  }

  async function diff(call: Call, given: string, other: DiffTarget) {
    const placed = await disk.resolve(call, { path: given, need: 'read' })
    const { at } = placed
    if (other.path !== undefined) {
      const second = await disk.resolve(call, { path: other.path, need: 'read' }, false)
      const answer = await disk.request(call, 'diff', [placed, second], { from: at, to: second.at })
      return { path: placed.path, ...answer }
    }
    const { path } = await findRealPath(call, placed)
    const version =
      other.version === undefined
        ? (await listVisible(call, placed, path))[0]
        : await find(call, placed, path, other.version)
    if (!version)
      throw new CoworkError('not_found', `${path} has no versions.`, {
        hint: 'Compare with another file by `with`.',
      })
    const from = { sha256: version.sha256, name: version.id }
    return { path, ...(await disk.request(call, 'diff', [placed], { from, to: at })) }
  }
}

type DiffTarget = { readonly version?: string | undefined; readonly path?: string | undefined }

type CleanupDeps = Pick<FileParts, 'db' | 'store' | 'history' | 'worker' | 'now'> & {
  readonly limits: VersionLimits
}

/** Contents per delete, few enough for the deadline on a slow disk. */
const maxBatchSize = 1000
const maxNamed = 100

/** Keeps the version store of this node within its limits (TR4). */
export function createVersionCleanup({ db, store, history, worker, limits, now }: CleanupDeps) {
  /** Size of all versions; an overestimate if equal contents were added since the last count. */
  let storedBytes = 0
  /** Unused contents that the last run had to keep. */
  let spared: readonly string[] = []

  /** Turns journals of interrupted in-place writes into versions if no grant covers their files any more. */
  async function importOrphanedJournals(): Promise<void> {
    await history.withCleanupLock(async () => {
      const { journals } = await worker.ask('orphanedJournals', { settled: [] })
      if (journals.length === 0) return
      await db.transact(async (tx) => {
        for (const { path, before, at } of journals)
          await store.addVersion(tx, {
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
            versions: journals.length,
            found: journals.map(({ path }) => path).slice(0, maxNamed),
          },
        })
      })
      await worker.ask('orphanedJournals', { settled: journals.map(({ name }) => name) })
    })
  }

  /** Deletes versions beyond the limits, and contents without a version. */
  async function expire(): Promise<void> {
    await importOrphanedJournals()
    const stored = await listStoredContents()
    await history.withCleanupLock(async (isExpected) => {
      const all = await store.listAllVersions(db)
      const expired = new Set(selectExpiredVersions(all, limits, now()))
      const kept = all.filter((one) => !expired.has(one))
      const there = new Set([...stored, ...[...expired].map(({ sha256 }) => sha256)])
      const ids = [...expired].map(({ id }) => id)
      await drop(ids, selectUnusedContents([...there], kept), isExpected)
      storedBytes = totalBytes(kept)
    })
  }

  /**
   * Lists stored contents older than the retention. A crash may leave a content without a version, and that content may
   * be the only copy of an overwritten file, so it is kept as long as a version.
   */
  async function listStoredContents(): Promise<readonly string[]> {
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

  /** Records the deletion first; the next run finds contents that could not be deleted. */
  async function drop(
    ids: readonly string[],
    contents: readonly string[],
    isExpected: (sha256: string) => boolean,
  ): Promise<void> {
    const unneeded = contents.filter((sha256) => !isExpected(sha256))
    spared = contents.filter(isExpected)
    if (ids.length + unneeded.length === 0) return
    await db.transact(async (tx) => {
      for (const id of ids) await store.deleteVersion(tx, id)
      tx.append({
        type: 'versions.dropped',
        actor: systemActor,
        domain: 'files',
        data: { versions: ids.length, contents: unneeded.length, why: 'retention' },
      })
    })
    for (let at = 0; at < unneeded.length; at += maxBatchSize)
      await worker.ask('deleteVersions', { sha256: unneeded.slice(at, at + maxBatchSize) })
  }

  return {
    expire,
    /** Deletes contents that became unused since the last run. Checks all versions only if the total limit is exceeded. */
    async trim(): Promise<void> {
      const { bytes, surplus } = history.takeAdded()
      storedBytes += bytes
      const candidates = [...new Set([...spared, ...surplus])]
      if (storedBytes > limits.maxBytes) await expire()
      else if (candidates.length > 0)
        await history.withCleanupLock(async (isExpected) => {
          const named = await store.findReferenced(db, candidates)
          await drop(
            [],
            candidates.filter((sha256) => !named.has(sha256)),
            isExpected,
          )
        })
    },
  }
}
