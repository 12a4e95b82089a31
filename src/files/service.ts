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
  /** Off for tests of the walk alone. */
  readonly landlock?: boolean
}

/** What the verbs of this module are made of. */
export type FileParts = {
  readonly db: Db
  readonly store: HistoryStore
  readonly history: History
  readonly worker: Pick<FileWorker, 'ask'>
  readonly disk: DiskAccess
  readonly places: PathResolver
  readonly grants: Grants
  readonly workspace: string
  readonly now: Clock
  readonly log: Log
}

export type Files = ReturnType<typeof createFiles>

const megabyte = 1024 * 1024
const minute = 60_000
/** The first upkeep starts the file worker. It waits, so that the daemon serves first. */
const startDelayMs = 1000

/** Files of the workspace and under grants. The daemon decides and records; the worker alone touches the disk. */
export function createFiles(deps: FilesDeps) {
  const { db, config, workspace, grants, node, now, log } = deps
  const { security, versions: kept, trash: deleted } = config
  const maxFileBytes = security.max_file_size_mb * megabyte
  mkdirSync(deps.versionsFolder, { recursive: true, mode: 0o700 })
  const guard = createGuard(deps.guard)
  const own = (key: string, path: string): Root => ({
    key,
    path,
    kind: 'folder',
    access: 'read-write',
    hardLinks: true,
  })
  /** Folders that other modules read from, besides what is granted. */
  let folders: readonly Root[] = []
  const roots = (live: readonly Grant[]): readonly Root[] => [
    own('workspace', workspace.path),
    own('trash', workspace.trash),
    own('versions', deps.versionsFolder),
    ...folders,
    ...toRoots(live, now()),
  ]
  const worker = createFileWorker({
    setup: {
      roots: roots(grants.live()),
      guard: deps.guard,
      limits: { maxFileBytes, maxBinaryReadBytes: security.max_binary_read_mb * megabyte },
    },
    log: log.scope('worker'),
    ...(deps.landlock !== undefined && { landlock: deps.landlock }),
  })

  const unfollow = grants.onChange(({ live, ended }) =>
    ended.length > 0 ? worker.revoke(ended, roots(live)) : worker.setRoots(roots(live)),
  )

  const store = createHistoryStore(db.dialect, node)
  const history = createHistory(store, now, kept.max_per_file, grants.follow)
  const places = createPathResolver({ workspace, home: deps.guard.home, guard, grants })
  const disk = createDiskAccess({ worker, places, grants })
  const guarded = createGuardedFiles({
    worker,
    guard,
    home: deps.guard.home,
    setFolders(next) {
      folders = next
      return worker.setRoots(roots(grants.live()))
    },
    disk,
  })
  const parts: FileParts = {
    db,
    store,
    history,
    worker,
    disk,
    places,
    grants,
    workspace: workspace.path,
    now,
    log,
  }
  const index = createIndexFile(parts)
  const trash = createTrash({ ...parts, retentionMs: deleted.retention })
  const limits = {
    retentionMs: kept.retention,
    maxPerFile: kept.max_per_file,
    maxBytes: kept.max_total_gb * 1024 * megabyte,
  }
  const versions = createVersions({ ...parts, limits })
  const { expire, trim } = createVersionCleanup({ ...parts, limits })
  const unwatch = history.onChange(index.touch)
  index.renew()
  const upkeep = startMaintenance(
    { 'deleted files': trash.reconcile, trash: trash.expire, versions: expire },
    log,
  )
  const trimming = startMaintenance({ versions: trim }, log, minute)

  const statOf = (at: RootedPath) =>
    worker.ask('stat', { at }).catch((error: unknown) => {
      if (hasCode(error, 'not_found')) return undefined
      throw error
    })

  return {
    workspace,
    places,
    guarded,
    history,
    store,
    db,
    reading: createFileReader(parts),
    writing: createFileWriter({ ...parts, maxFileBytes }),
    trash,
    versions,
    limits: { maxFileBytes },
    containment: worker.containment,
    /** Of a file in the workspace, for whoever watches it; nothing where there is none. */
    stat: async (path: string): Promise<Stat | undefined> =>
      (await statOf({ root: 'workspace', path }))?.stat,
    /** Path and state of what this caller names, for approvals: null where nothing is there (A15). */
    async stateOf(caller: Caller, given: string): Promise<readonly [string, unknown]> {
      const { at, path } = await places.place(caller, { path: given, need: 'read' })
      const found = await statOf(at)
      return [path, found ? { identity: found.identity, real: found.real } : null]
    },
    async close(): Promise<void> {
      unfollow()
      unwatch()
      await Promise.all([upkeep.close(), trimming.close()])
      await index.close()
      await worker.close()
    },
  }
}

const day = 24 * 60 * 60 * 1000

/** Does the steps soon after the start and then in each interval. A step that fails does not prevent the next. */
function startMaintenance(
  steps: Readonly<Record<string, () => Promise<void>>>,
  log: Log,
  intervalMs = day,
) {
  const failure = 'the upkeep of files failed'
  let isOver = false

  async function run(): Promise<void> {
    for (const [what, step] of Object.entries(steps))
      try {
        if (!isOver) await step()
      } catch (error) {
        // What ends with the daemon is no trouble.
        if (!isOver) log.warn(failure, { what, error: errorMessage(error) })
      }
  }
  const task = startPeriodicTask({ intervalMs, run, failure, log, runsAtStart: false })
  task.runWithin(startDelayMs)

  return {
    async close(): Promise<void> {
      isOver = true
      await task.close()
    },
  }
}
