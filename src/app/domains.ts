import { join } from 'node:path'
import { createHalts } from '#approvals'
import { currentFolders } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import { nodeName } from '#base/state.ts'
import { prepareFiles } from '#files'
import { createGovernance } from '#governance'
import type { Governance, GovernanceOptions } from '#governance'
import { createIdentity } from '#identity'
import { createWork } from '#work'
import type { Start } from './start.ts'
import { followOthers } from './store.ts'
import type { Store } from './store.ts'
import { workspaceAudit } from './workspace-audit.ts'

export type Domains = Awaited<ReturnType<typeof openDomains>>

/** Who there is, and what they work with: each domain started, in the order in which they need each other. */
export async function openDomains(
  start: Start,
  store: Store,
  owner: string,
  readCall: NonNullable<GovernanceOptions['readCall']>,
) {
  const { config, paths, shared, address, now, log, undo } = start
  const { db, ledger } = store
  // Before the agents are read, so that one added in between is not missed.
  const follow = await followOthers(start, store)
  const identity = await createIdentity({
    db,
    config,
    ownerToken: owner,
    consoleUrl: address.consoleUrl,
    ...(shared && { shared }),
    now,
    note: ledger.note,
    log: log.scope('identity'),
  })
  follow('agent.', () => identity.refresh())
  const halts = createHalts(db, now)

  const prepared = prepareFiles({
    db,
    config,
    paths,
    home: currentFolders().home,
    configFile: start.configFile ?? paths.config,
    agents: identity,
    sessions: identity.sessions,
    approvals: () => governance.approvals,
    policyVersion: () => governance.versions.version(),
    now,
    log: log.scope('files'),
  })
  const { grants, workspace } = prepared
  undo.add(grants.close)
  const governance: Governance = createGovernance({
    db,
    config,
    agents: identity,
    people: identity.people,
    kinds: grants.kinds,
    reviewUrl: (approval) => `${address.inboxUrl()}/${approval}`,
    readCall,
    undo: prepared.undo,
    protection: { redact: store.redact, key: ledger.derive('pending arguments') },
    onErase: ledger.onErase,
    drawKeys: { draw: ledger.derive('spot checks'), lot: ledger.derive('look-backs') },
    ...(start.draw && { draw: start.draw }),
    node: nodeName(paths),
    now,
    log: log.scope('governance'),
  })
  undo.add(governance.close)
  if ((await governance.convert()) > 0) await ledger.eraseCopiesAgain()
  await governance.versions.start()
  follow('policy.', () => governance.versions.refresh())
  const files = await prepared.start()
  undo.add(files.close)
  follow('grant.', () => grants.refresh())
  if (config.audit.enabled) ledger.mirror(mirrorOf(workspace.path, workspace.own, config))

  const work = createWork({
    db,
    config,
    guarded: files.guarded,
    needsToken: shared?.worksyncKey !== undefined,
    now,
    log: log.scope('work'),
  })
  undo.add(work.close)
  await work.start()
  return { identity, halts, governance, grants, files, fileTools: prepared.toolDeps(files), work }
}

/** What happened to files of the workspace, beside them (F6). */
const mirrorOf = (workspace: string, own: string, { audit }: Config) => ({
  path: join(own, 'audit.jsonl'),
  maxBytes: audit.max_log_size_mb * 1_000_000,
  // An earlier one may tell of grants and of files elsewhere: agents cannot read it there.
  asideIn: join(own, 'aside'),
  shows: workspaceAudit(workspace),
})
