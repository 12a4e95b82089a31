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

const lookAfter = 10

/**
 * Creates the work service. The store is authoritative, reads come from memory, and the YAML files
 * mirror the store for people.
 */
export function createWork({ db, config, guarded, needsToken = false, now, log }: WorkDeps) {
  const { data_root: folder, lease_ttl: leaseMs, vault_path: vault } = config.work
  const store = createWorkStore(db.dialect)
  const journal = createJournal(store)
  const boards = createProjectCache(db, store)
  const act = createProjectTransactions({ store, journal, now })
  const root = openDataRoot(folder, log)
  const texts = createBacklogTexts({ store, root, now })
  const { folderOf } = root
  const isProtected = (path: string) => !root.holds(path) && guarded.isProtected(path)
  const keeper = createProjectSync({ db, store, boards, journal, folderOf, isProtected, now, log })
  const registry = createRegistry({ db, store, root, keeper, boards, guarded, log })
  const expiry = startLeaseExpiry({ db, store, journal, now, log })
  let looking: NodeJS.Timeout | undefined
  // Debounced: one check serves all commits of the interval, and no commit waits for it.
  const stopFollowing = db.onAppend(() => {
    if (root.isHolder) looking ??= setTimeout(look, lookAfter)
  })
  function look(): void {
    looking = undefined
    keeper.flushBehind().catch(() => undefined)
  }

  return {
    db,
    boards,
    root,
    registry,
    keeper,
    texts,
    guarded,
    keyRefusal: (caller: Caller) => keyRefusal(caller, needsToken),
    now,
    stories: createStories(act),
    plans: createSprints(act),
    backlog: createBacklog(act, texts),
    claims: createClaims(act, leaseMs),
    resolve: createConflictResolver(act, texts, createReimport({ store, root })),
    projects: registry.names,
    vaultPath: (): string => vaultFolder(registry.vaultPath()) ?? vault ?? join(folder, 'vault'),
    broken: keeper.broken,
    unwritten: keeper.unwritten,
    /** Newest first. */
    async historyOf(reader: Reader, project: string): Promise<HistoryEntry[]> {
      if (!(await store.project(reader, project))) throw unknownProjectError(project)
      const entries = await store.ofKind(reader, project, 'history')
      return entries
        .map(({ item }) => item as HistoryEntry)
        .toReversed()
        .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : timeOf(a) > timeOf(b) ? -1 : 0))
    },
    /**
     * Imports edits made while the daemon was stopped, then writes changes that are not in the
     * files yet.
     */
    async start(): Promise<void> {
      await registry.notice()
      if (root.isHolder) await keeper.start()
    },
    async close(): Promise<void> {
      stopFollowing()
      clearTimeout(looking)
      await expiry.close()
      await keeper.close()
      root.close()
    },
  }
}

/** Expands `~` in the path from the registry. */
function vaultFolder(said: string | undefined): string | undefined {
  const { home, cwd } = currentFolders()
  return said === undefined ? undefined : expandPath(said, home, cwd)
}

const timeOf = ({ at, date }: HistoryEntry): string => at ?? date
