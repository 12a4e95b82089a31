import { mkdirSync } from 'node:fs'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import { createDiskAccess } from './disk-access.ts'
import type { DiskAccess } from './disk-access.ts'
import { createFileWorker } from './worker-client.ts'
import type { FileWorker } from './worker-client.ts'
import { hasCode } from './error-text.ts'
import type { Grants } from './grants/service.ts'
import { createGuardedFiles } from './guarded-files.ts'
import { createHistoryStore } from './history-store.ts'
import type { HistoryStore } from './history-store.ts'
import { createHistory } from './history.ts'
import type { History } from './history.ts'
import { createIndexFile } from './index-file.ts'
import type { Grant } from './model.ts'
import { createPathResolver } from './path-resolver.ts'
import type { PathResolver } from './path-resolver.ts'
import { createFileReader } from './file-reader.ts'
import { toRoots } from './rules/grants.ts'
import { createGuard } from './rules/guard.ts'
import { createTrash } from './trash.ts'
import { createVersions, createVersionCleanup } from './versions.ts'
import type { GuardSettings, RootedPath, Root, Stat } from './worker/protocol.ts'
import type { Workspace } from './workspace.ts'
import { createFileWriter } from './file-writer.ts'

export type FilesDeps = {
  readonly db: Db
  readonly config: Pick<Config, 'security' | 'versions' | 'trash'>
  readonly workspace: Workspace
  readonly guard: GuardSettings
  readonly grants: Grants
  readonly node: string
  readonly versionsFolder: string
  readonly now: Clock
  readonly log: Log
  /** False in tests of the path walk without Landlock. */
  readonly landlock?: boolean
}

/** Shared dependencies of the services in this module. */
export type FileParts = {
  readonly db: Db
  readonly store: HistoryStore
  readonly history: History
  readonly worker: Pick<FileWorker, 'ask'>
  readonly disk: DiskAccess
  readonly resolver: PathResolver
  readonly grants: Grants
  readonly workspace: string
  readonly now: Clock
  readonly log: Log
}

export type Files = ReturnType<typeof createFiles>

const bytesPerMegabyte = 1024 * 1024
const msPerMinute = 60_000
/** The first maintenance run starts the file worker; the delay lets the daemon serve first. */
const startDelayMs = 1000

/** Manages files in the workspace and under grants. The daemon decides and records; only the worker accesses the disk. */
export function createFiles(deps: FilesDeps) {
  const { db, config, workspace, grants, node, now, log } = deps
  const { security, versions: versionConfig, trash: trashConfig } = config
  const maxFileBytes = security.max_file_size_mb * bytesPerMegabyte
  mkdirSync(deps.versionsFolder, { recursive: true, mode: 0o700 })
  const guard = createGuard(deps.guard)
  const internalRoot = (key: string, path: string): Root => ({
    key,
    path,
    kind: 'folder',
    access: 'read-write',
    hardLinks: true,
  })
  /** Folders that other modules read, in addition to the grants. */
  let folders: readonly Root[] = []
  const roots = (live: readonly Grant[]): readonly Root[] => [
    internalRoot('workspace', workspace.path),
    internalRoot('trash', workspace.trash),
    internalRoot('versions', deps.versionsFolder),
    ...folders,
    ...toRoots(live, now()),
  ]
  const worker = createFileWorker({
    setup: {
      roots: roots(grants.listActive()),
      guard: deps.guard,
      limits: { maxFileBytes, maxBinaryReadBytes: security.max_binary_read_mb * bytesPerMegabyte },
    },
    log: log.scope('worker'),
    ...(deps.landlock !== undefined && { landlock: deps.landlock }),
  })

  const unfollow = grants.onChange(({ active, ended }) =>
    ended.length > 0 ? worker.revoke(ended, roots(active)) : worker.setRoots(roots(active)),
  )

  const store = createHistoryStore(db.dialect, node)
  const history = createHistory(store, now, versionConfig.max_per_file, grants.repin)
  const resolver = createPathResolver({ workspace, home: deps.guard.home, guard, grants })
  const disk = createDiskAccess({ worker, resolver, grants })
  const guarded = createGuardedFiles({
    worker,
    guard,
    home: deps.guard.home,
    setFolders(next) {
      folders = next
      return worker.setRoots(roots(grants.listActive()))
    },
    disk,
  })
  const parts: FileParts = {
    db,
    store,
    history,
    worker,
    disk,
    resolver,
    grants,
    workspace: workspace.path,
    now,
    log,
  }
  const index = createIndexFile(parts)
  const trash = createTrash({ ...parts, retentionMs: trashConfig.retention })
  const limits = {
    retentionMs: versionConfig.retention,
    maxPerFile: versionConfig.max_per_file,
    maxBytes: versionConfig.max_total_gb * 1024 * bytesPerMegabyte,
  }
  const versions = createVersions({ ...parts, limits })
  const { expire, trim } = createVersionCleanup({ ...parts, limits })
  const unwatch = history.onChange(index.markChanged)
  index.schedule()
  const dailyMaintenance = startMaintenance(
    { 'deleted files': trash.reconcile, trash: trash.expire, versions: expire },
    log,
  )
  const minuteMaintenance = startMaintenance({ versions: trim }, log, msPerMinute)

  const statIfExists = (at: RootedPath) =>
    worker.ask('stat', { at }).catch((error: unknown) => {
      if (hasCode(error, 'not_found')) return undefined
      throw error
    })

  return {
    workspace,
    resolver,
    guarded,
    history,
    store,
    db,
    reader: createFileReader(parts),
    writer: createFileWriter({ ...parts, maxFileBytes }),
    trash,
    versions,
    limits: { maxFileBytes },
    containment: worker.containment,
    /** Returns the stat of a workspace file, or undefined if it does not exist. */
    stat: async (path: string): Promise<Stat | undefined> =>
      (await statIfExists({ root: 'workspace', path }))?.stat,
    /** Returns the path and the state of a file for the fingerprint of an approval; null if it does not exist (A15). */
    async getTargetState(
      caller: Caller,
      requestedPath: string,
    ): Promise<readonly [string, unknown]> {
      const { at, path } = await resolver.resolve(caller, { path: requestedPath, need: 'read' })
      const found = await statIfExists(at)
      return [path, found ? { identity: found.identity, real: found.real } : null]
    },
    async close(): Promise<void> {
      unfollow()
      unwatch()
      await Promise.all([dailyMaintenance.close(), minuteMaintenance.close()])
      await index.close()
      await worker.close()
    },
  }
}

const msPerDay = 24 * 60 * 60 * 1000

/** Runs the steps soon after the start and then once per interval. A failed step does not prevent the next one. */
function startMaintenance(
  steps: Readonly<Record<string, () => Promise<void>>>,
  log: Log,
  intervalMs = msPerDay,
) {
  const failure = 'file maintenance failed'
  let isClosed = false

  async function run(): Promise<void> {
    for (const [name, step] of Object.entries(steps))
      try {
        if (!isClosed) await step()
      } catch (error) {
        // Ignore errors during shutdown.
        if (!isClosed) log.warn(failure, { step: name, error: errorMessage(error) })
      }
  }
  const task = startPeriodicTask({ intervalMs, run, failure, log, runsAtStart: false })
  task.runWithin(startDelayMs)

  return {
    async close(): Promise<void> {
      isClosed = true
      await task.close()
    },
  }
}
