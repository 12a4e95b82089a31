import { join } from 'node:path'
import type { Approvals } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Log } from '#base/log.ts'
import { nodeName } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import type { Identity } from '#identity'
import { createGrants } from './grants/service.ts'
import { guardSettingsOf } from './guard-settings.ts'
import { createHistoryStore } from './history-store.ts'
import { createGuard } from './rules/guard.ts'
import { importSeed } from './seed-workspace.ts'
import { createFiles } from './service.ts'
import type { Files } from './service.ts'
import type { FileToolDeps } from './tools/index.ts'
import { createUndo } from './undo.ts'
import { checkConfiguredWorkspace, watchChoice } from './workspace-choice.ts'
import { markRecorded, prepareWorkspace } from './workspace.ts'

type Deps = {
  readonly db: Db
  readonly config: Config
  readonly paths: StatePaths
  readonly home: string
  /** Where the configuration was read from. */
  readonly configFile: string
  readonly agents: Pick<Identity, 'isRevoked' | 'onRevoked' | 'listAgents' | 'mode'>
  readonly sessions: Identity['sessions']
  /** Made after us, since it must know our kinds. */
  readonly approvals: () => Approvals
  readonly policyVersion: () => string
  readonly now: Clock
  readonly log: Log
}

/** Workspace and grants first, since approvals must know of grants; then, when those can be asked, the rest. */
export function prepareFiles(deps: Deps) {
  const { db, config, paths, home, configFile, approvals, now, log } = deps
  const { path: wanted } = config.workspace
  const wantedGuard = guardSettingsOf({ config, paths, home, workspace: wanted, configFile })
  checkConfiguredWorkspace(wanted, { guard: wantedGuard, state: paths.dir })
  const workspace = prepareWorkspace(config.workspace, log)
  const settings = guardSettingsOf({ config, paths, home, workspace: workspace.path, configFile })
  const guard = createGuard(settings)
  const where = { home, workspace: workspace.path, given: workspace.given }
  const node = nodeName(paths)
  const nextWorkspace = watchChoice(configFile, workspace.path)
  const grants = createGrants({ ...deps, guard, where, node })

  async function recordWorkspace(): Promise<void> {
    const imported = importSeed(workspace, log)
    const store = createHistoryStore(db.dialect, node)
    const { path: subject } = workspace
    await db.transact(async (tx) => {
      tx.append({ type: 'workspace.made', actor: systemActor, domain: 'files', subject })
      if (!imported) return
      const { made, audit } = imported
      for (const { path, by, at } of made) await store.keepMade(tx, path, by, at)
      const data = { files: made.length, ...(audit && { audit }) }
      tx.append({ type: 'workspace.imported', actor: systemActor, domain: 'files', subject, data })
    })
    markRecorded(workspace)
  }

  return {
    grants,
    workspace,
    undo: createUndo(db.dialect, node),
    async start(): Promise<Files> {
      await grants.start()
      if (workspace.isNew) await recordWorkspace()
      const versionsFolder = join(paths.dir, 'versions')
      return createFiles({ ...deps, workspace, guard: settings, grants, node, versionsFolder })
    },
    /** What the tools need besides. */
    toolDeps: (files: Files): FileToolDeps => ({
      files,
      grants: {
        db,
        grants,
        agents: deps.agents,
        approvals,
        guard,
        where,
        defaultScope: config.grants.default_scope,
        now,
      },
      setup: {
        guard: settings,
        state: paths.dir,
        createIfMissing: config.workspace.create_if_missing,
        configFile,
        now,
      },
      nextWorkspace,
    }),
  }
}
