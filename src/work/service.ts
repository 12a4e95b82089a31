import { join } from 'node:path'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import { currentFolders, expandPath } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import type { Db, Reader } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import { createProjectTransactions } from './project-transaction.ts'
import { createBacklog } from './backlog.ts'
import { createProjectCache } from './project-cache.ts'
import { createClaims, startLeaseExpiry } from './claims.ts'
import { openDataRoot } from './disk/data-root.ts'
import { createProjectSync } from './disk/project-sync.ts'
import type { GuardedFiles } from './guarded.ts'
import { createJournal, unknownProjectError } from './journal.ts'
import { keyRefusal } from './check.ts'
import type { HistoryEntry } from './model.ts'
import { createSprints } from './sprints.ts'
import { createRegistry } from './registry.ts'
import { createReimport, createConflictResolver } from './conflict-resolver.ts'
import { createStories } from './stories.ts'
import { createWorkStore } from './store.ts'
import { createBacklogTexts } from './backlog-texts.ts'

export type WorkDeps = {
  readonly db: Db
  readonly config: Pick<Config, 'work'>
  readonly guarded: GuardedFiles
  /** Whether WORKSYNC_API_KEY is set, so that work tools need a valid token (W2). */
  readonly needsToken?: boolean
  readonly now: Clock
  readonly log: Log
}

export type Work = ReturnType<typeof createWork>

const flushCheckDelayMs = 10

/**
 * Creates the work service. The store is authoritative, reads come from memory, and the YAML files
 * mirror the store for people.
 */
export function createWork({ db, config, guarded, needsToken = false, now, log }: WorkDeps) {
  const { data_root: folder, lease_ttl: leaseMs, vault_path: vault } = config.work
  const store = createWorkStore(db.dialect)
  const journal = createJournal(store)
  const snapshots = createProjectCache(db, store)
  const act = createProjectTransactions({ store, journal, now })
  const root = openDataRoot(folder, log)
  const texts = createBacklogTexts({ store, root, now })
  const { folderOf } = root
  const isProtected = (path: string) => !root.contains(path) && guarded.isProtected(path)
  const projectSync = createProjectSync({
    db,
    store,
    snapshots,
    journal,
    folderOf,
    isProtected,
    now,
    log,
  })
  const registry = createRegistry({ db, store, root, projectSync, snapshots, guarded, log })
  const expiry = startLeaseExpiry({ db, store, journal, now, log })
  let flushTimer: NodeJS.Timeout | undefined
  // Debounced: one check serves all commits of the interval, and no commit waits for it.
  const stopFollowing = db.onAppend(() => {
    if (root.isHolder) flushTimer ??= setTimeout(checkPending, flushCheckDelayMs)
  })
  function checkPending(): void {
    flushTimer = undefined
    projectSync.flushPending().catch(() => undefined)
  }

  return {
    db,
    snapshots,
    root,
    registry,
    projectSync,
    texts,
    guarded,
    keyRefusal: (caller: Caller) => keyRefusal(caller, needsToken),
    now,
    stories: createStories(act),
    sprints: createSprints(act),
    backlog: createBacklog(act, texts),
    claims: createClaims(act, leaseMs),
    resolve: createConflictResolver(act, texts, createReimport({ store, root })),
    projects: registry.names,
    vaultPath: (): string =>
      expandVaultPath(registry.vaultPath()) ?? vault ?? join(folder, 'vault'),
    getInvalidFile: projectSync.broken,
    getWriteFailure: projectSync.unwritten,
    /** Newest first. */
    async listHistory(reader: Reader, project: string): Promise<HistoryEntry[]> {
      if (!(await store.project(reader, project))) throw unknownProjectError(project)
      const entries = await store.listByKind(reader, project, 'history')
      return entries
        .map(({ item }) => item as HistoryEntry)
        .toReversed()
        .toSorted((a, b) =>
          getEntryTime(a) < getEntryTime(b) ? 1 : getEntryTime(a) > getEntryTime(b) ? -1 : 0,
        )
    },
    /**
     * Imports edits made while the daemon was stopped, then writes changes that are not in the
     * files yet.
     */
    async start(): Promise<void> {
      await registry.reloadIfChanged()
      if (root.isHolder) await projectSync.start()
    },
    async close(): Promise<void> {
      stopFollowing()
      clearTimeout(flushTimer)
      await expiry.close()
      await projectSync.close()
      root.close()
    },
  }
}

/** Expands `~` in the path from the registry. */
function expandVaultPath(configuredPath: string | undefined): string | undefined {
  const { home, cwd } = currentFolders()
  return configuredPath === undefined ? undefined : expandPath(configuredPath, home, cwd)
}

const getEntryTime = ({ at, date }: HistoryEntry): string => at ?? date
