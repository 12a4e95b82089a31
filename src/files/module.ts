import { join } from 'node:path'
import type { Config } from '#base/config/index.ts'
import { systemActor } from '#base/entry.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { readOrCreateNodeId } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import { checkFiles, inspectReplacedTargets } from './check.ts'
import { grantTable } from './grants/grant-writer.ts'
import { createGrants } from './grants/service.ts'
import type { GrantsDeps } from './grants/service.ts'
import { toGuardSettings } from './guard-settings.ts'
import { createHistoryStore } from './history-store.ts'
import { fileMigrations } from './migrations.ts'
import { fileResources } from './resources.ts'
import type { CallTool } from './resources.ts'
import { createGuard } from './rules/guard.ts'
import { importFileOpsWorkspace } from './fileops-import.ts'
import { markRecorded, prepareWorkspace, toWorkspaceAuditEntry } from './workspace.ts'
import type { Workspace } from './workspace.ts'
import { createFiles } from './service.ts'
import { fileTools } from './tools/index.ts'
import { createUndo } from './history.ts'
import { checkConfiguredWorkspace, createConfiguredWorkspaceReader } from './workspace-choice.ts'

type Context = Pick<GrantsDeps, 'db' | 'approvals' | 'policyVersion' | 'now' | 'log'> & {
  readonly ledger: Pick<Ledger, 'mirror'>
  readonly identity: Pick<Identity, 'isRevoked' | 'onRevoked' | 'listAgents' | 'mode' | 'sessions'>
  readonly config: Config
  readonly configFile: string
  readonly paths: StatePaths
  readonly home: string
  readonly call: CallTool
  readonly follow: (noun: string, refresh: () => Promise<void>) => void
  readonly onClose: (close: () => unknown) => void
}

export const module = { migrations: fileMigrations, tables: [grantTable], open: openFiles }

/** Opens the workspace and the grants; `start` then opens the file tools. Governance needs the approval kinds first. */
function openFiles(context: Context) {
  const { db, ledger, identity, config, configFile, paths, home, approvals, now, onClose } = context
  const log = context.log.scope('files')
  const { path: wanted } = config.workspace
  const wantedGuard = toGuardSettings({ config, paths, home, workspace: wanted, configFile })
  checkConfiguredWorkspace(wanted, { guard: wantedGuard, state: paths.dir })
  const workspace = prepareWorkspace(config.workspace, log)
  const settings = toGuardSettings({ config, paths, home, workspace: workspace.path, configFile })
  const guard = createGuard(settings)
  const pathContext = { home, workspace: workspace.path, configuredPath: workspace.configuredPath }
  const node = readOrCreateNodeId(paths)
  const nextWorkspace = createConfiguredWorkspaceReader(configFile, workspace.path)
  const grants = createGrants({
    ...context,
    agents: identity,
    sessions: identity.sessions,
    guard,
    pathContext,
    node,
    log,
  })
  onClose(grants.close)

  async function recordWorkspace(): Promise<void> {
    const imported = importFileOpsWorkspace(workspace, log)
    const store = createHistoryStore(db.dialect, node)
    const { path: subject } = workspace
    await db.transact(async (tx) => {
      tx.append({ type: 'workspace.made', actor: systemActor, domain: 'files', subject })
      if (!imported) return
      const { made, audit } = imported
      for (const { path, by, at } of made) await store.recordMade(tx, path, by, at)
      const data = { files: made.length, ...(audit && { audit }) }
      tx.append({ type: 'workspace.imported', actor: systemActor, domain: 'files', subject, data })
    })
    markRecorded(workspace)
  }

  return {
    kinds: grants.kinds,
    undo: createUndo(db.dialect, node),
    async start() {
      await grants.start()
      if (workspace.isNew) await recordWorkspace()
      const files = createFiles({
        db,
        config,
        workspace,
        guard: settings,
        grants,
        node,
        versionsFolder: join(paths.dir, 'versions'),
        now,
        log,
      })
      onClose(files.close)
      context.follow('grant.', () => grants.refresh())
      if (config.audit.enabled) ledger.mirror(toMirrorOptions(workspace, config))
      return {
        tools: fileTools({
          files,
          grants: {
            db,
            grants,
            agents: identity,
            approvals,
            guard,
            pathContext,
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
        checks: [checkFiles(files.resolver), inspectReplacedTargets(grants)],
        resources: fileResources({ files, grants, call: context.call }),
        notices: grants
          .listSkipped()
          .map(
            ({ path, reason }) =>
              `Skipped the configured grant for ${sanitizeText(path, 300)}: ${reason}`,
          ),
        guarded: files.guarded,
        pathPrefixes: (filter: string) => files.resolver.listPrefixes(filter),
      }
    },
  }
}

/** The audit log of the workspace files, inside the workspace (F6). */
const toMirrorOptions = (
  { path, internalFolder }: Workspace,
  { audit }: Config,
): Parameters<Ledger['mirror']>[0] => ({
  path: join(internalFolder, 'audit.jsonl'),
  maxBytes: audit.max_log_size_mb * 1_000_000,
  // Older logs may name grants and files outside the workspace. Agents cannot read this folder.
  quarantineDir: join(internalFolder, 'aside'),
  toLines: toWorkspaceAuditEntry(path),
})
