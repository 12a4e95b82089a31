import { join } from 'node:path'
import { createHalts } from '#approvals'
import { currentFolders } from '#base/config/index.ts'
import { readOrCreateNodeId } from '#base/state.ts'
import { createGovernance } from '#governance'
import type { Governance, GovernanceOptions } from '#governance'
import { createIdentity } from '#identity'
import { loadedModules } from './loaded-modules.ts'
import type { ModuleContext, RunningModule } from './module.ts'
import { guardedToolsets } from './modules.ts'
import type { StartupContext } from './startup.ts'
import { followOtherDaemons } from './store.ts'
import type { Store } from './store.ts'

export type Modules = Awaited<ReturnType<typeof openModules>>

/** Calls to other tools for modules and kinds; dispatch serves them later. */
type Calls = Pick<ModuleContext, 'call'> & Required<Pick<GovernanceOptions, 'readCall'>>

/** Opens identity, halts and governance, and around governance the modules that serve tools. */
export async function openModules(
  start: StartupContext,
  store: Store,
  owner: string,
  { call, readCall }: Calls,
) {
  const { config, paths, shared, address, now, log, undo } = start
  const { db, ledger } = store
  // Before the agents are read, so an agent added in between is not missed.
  const follow = await followOtherDaemons(start, store)
  const identity = await createIdentity({
    db,
    config,
    ownerToken: owner,
    consoleUrl: address.consoleUrl,
    ...(shared && { shared }),
    now,
    appendDeferred: ledger.appendDeferred,
    log: log.scope('identity'),
  })
  follow('agent.', () => identity.refresh())
  const halts = createHalts(db, now)

  const running: RunningModule[] = []
  const context: ModuleContext = {
    db,
    ledger,
    identity,
    config,
    configFile: start.configFile ?? paths.config,
    paths,
    home: currentFolders().home,
    version: start.version,
    mcpSettings: start.mcpSettings ?? join(paths.dir, 'mcp-settings.json'),
    maskSecrets: store.maskSecrets,
    shared,
    approvals: () => governance.approvals,
    policyVersion: () => governance.versions.version(),
    guarded() {
      const guarded = onlyOne(running.map((module) => module.guarded))
      if (!guarded) throw new Error('no earlier module guards files')
      return guarded
    },
    call,
    follow,
    onClose: (close) => undo.add(close),
    now,
    log,
  }
  const opened = loadedModules.flatMap(({ open }) => (open ? [open(context)] : []))
  const undoCall = onlyOne(opened.map((module) => module.undo))
  const governance: Governance = createGovernance({
    db,
    config,
    agents: identity,
    people: identity.people,
    kinds: opened.flatMap(({ kinds = [] }) => kinds),
    guardedToolsets,
    reviewUrl: (approval) => `${address.inboxUrl()}/${approval}`,
    readCall,
    ...(undoCall && { undo: undoCall }),
    protection: { redact: store.redact, key: ledger.derive('pending arguments') },
    onErase: ledger.onErase,
    drawKeys: { draw: ledger.derive('spot checks'), lot: ledger.derive('look-backs') },
    ...(start.draw && { draw: start.draw }),
    node: readOrCreateNodeId(paths),
    now,
    log: log.scope('governance'),
  })
  undo.add(governance.close)
  if ((await governance.convert()) > 0) await ledger.eraseRemainingCopies()
  await governance.versions.start()
  follow('policy.', () => governance.versions.refresh())
  for (const module of opened) running.push(await module.start())
  return { identity, halts, governance, running }
}

/** Returns the single service that one module provides to all others. */
export function onlyOne<T>(offers: readonly (T | undefined)[]): T | undefined {
  const [offer, second] = offers.filter((one) => one !== undefined)
  if (second) throw new Error('two modules provide the same service')
  return offer
}
