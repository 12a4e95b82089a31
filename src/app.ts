import { rmSync } from 'node:fs'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { formatRfc3339, systemClock } from '#base/clock.ts'
import { systemActor } from '#base/entry.ts'
import {
  ensureStateDir,
  readOrCreateNodeId,
  readOrCreateOwnerToken,
  acquireLock,
} from '#base/state.ts'
import type { Tool } from '#base/tool.ts'
import { parseCallArguments, startRunner } from '#dispatch'
import { createMetrics } from '#server'
import { openListeners } from './app/listeners.ts'
import { createModuleCall, createCallPipeline } from './app/call-pipeline.ts'
import type { CallPipeline } from './app/call-pipeline.ts'
import { createEndpoints } from './app/endpoints.ts'
import { openModules } from './app/open-modules.ts'
import { createPublicUrl, createCleanupStack } from './app/startup.ts'
import type { AppOptions, StartupContext } from './app/startup.ts'
import { openStore } from './app/store.ts'

/** For setup commands, which run before any daemon. */
export { checkWorkspace } from '#files'
export type { AppOptions } from './app/startup.ts'
export { migrations, recordedTables, createReplays } from './app/loaded-modules.ts'

export type App = {
  readonly port: number
  readonly mcpUrl: string
  readonly banner: readonly string[]
  readonly tools: readonly Tool[]
  close(): Promise<void>
}

/** Starts the system from its configuration. Only this file combines the modules. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, paths, version, log, consoleLink = true, now = systemClock } = options
  const { here: command } = options.command ?? { here: 'cowork' }
  const undo = createCleanupStack(log)
  try {
    ensureStateDir(paths)
    undo.add(acquireLock(paths))
    const owner = readOrCreateOwnerToken(paths)
    const metrics = createMetrics()
    undo.add(metrics.close)
    const address = createPublicUrl(config.server)
    const start: StartupContext = { ...options, now, metrics, address, undo }

    const store = await openStore(start, owner)
    const { ledger } = store
    const modules = await openModules(start, store, owner, {
      call: createModuleCall(() => calls.dispatch),
      readCall: (tool, args) => parseCallArguments(calls.registry)(tool, args),
    })
    const { identity, halts, governance, running } = modules
    const [newest] = await ledger.find({ limit: 1, newestFirst: true })
    const calls: CallPipeline = createCallPipeline(start, store, modules, newest?.at ?? 0)
    await governance.spotChecks.catchUp(ledger, newest?.at ?? 0)
    let isClosing = false
    const endpoints = createEndpoints(start, store, modules, calls, () =>
      isClosing ? 'cowork is shutting down.' : ledger.outage()?.message,
    )
    const { workUrl } = await openListeners(start, identity, endpoints)
    const runner = startRunner({
      db: store.db,
      approvals: governance.approvals,
      halts,
      agents: identity,
      ...calls,
      node: readOrCreateNodeId(paths),
      now,
      log: log.scope('runner'),
    })
    undo.add(runner.close)
    writeDaemonInfo(start, workUrl)
    const port = address.port()
    await ledger.record({ type: 'daemon.started', actor: systemActor, data: { version, port } })

    const mcpUrl = `${address.here()}/mcp`
    const consoleLine = consoleLink
      ? [`  Console  ${(await identity.people.ownerLink()).link}`]
      : []
    return {
      port,
      mcpUrl,
      banner: [
        `cowork ${version}`,
        ...consoleLine,
        `  MCP      ${mcpUrl}`,
        ...(workUrl === undefined ? [] : [`  Work     ${workUrl}`]),
        `  Connect  ${command} connect claude-code (\`${command} connect\` lists the others)`,
        `  ${identity.banner()}`,
        `  State    ${paths.dir}`,
        ...running.flatMap(({ notices = [] }) => notices.map((notice) => `  ${notice}`)),
      ],
      tools: calls.registry.list(),
      async close() {
        if (isClosing) return
        isClosing = true
        await endpoints.mcp.close()
        await ledger.record({ type: 'daemon.stopped', actor: systemActor }).catch(() => undefined)
        await undo.all()
      },
    }
  } catch (error) {
    await undo.all()
    throw error
  }
}

/** Writes pid and daemon data to the state directory, for other commands. */
function writeDaemonInfo(
  { paths, version, address, now, undo }: StartupContext,
  workUrl?: string,
): void {
  const startedAt = formatRfc3339(now())
  // Written before daemon.json, because commands wait for that file.
  writeFileAtomic(paths.pid, `${process.pid}\n`)
  writeFileAtomic(
    paths.daemon,
    `${JSON.stringify({ pid: process.pid, port: address.port(), version, startedAt, workUrl })}\n`,
  )
  rmSync(paths.stopped, { force: true })
  undo.add(
    () => rmSync(paths.daemon, { force: true }),
    () => rmSync(paths.pid, { force: true }),
  )
}
