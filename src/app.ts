import { rmSync } from 'node:fs'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { rfc3339, systemClock } from '#base/clock.ts'
import { systemActor } from '#base/entry.ts'
import { plainText } from '#base/plain.ts'
import { ensureState, nodeName, ownerToken, takeLock } from '#base/state.ts'
import { readCall, startRunner } from '#dispatch'
import { createMetrics } from '#server'
import { openAddresses } from './app/addresses.ts'
import { openCalls } from './app/calls.ts'
import type { Calls } from './app/calls.ts'
import { openDomains } from './app/domains.ts'
import { openDoors } from './app/doors.ts'
import { createAddress, createUndo } from './app/start.ts'
import type { AppOptions, Start } from './app/start.ts'
import { openStore } from './app/store.ts'

/** For whoever sets up a place where nothing runs yet. */
export { checkWorkspace } from '#files'
export { toolsOf } from './app/calls.ts'
export type { AppOptions } from './app/start.ts'
export { migrations, recordedTables, replaysOf } from './app/store.ts'

export type App = {
  readonly port: number
  readonly mcpUrl: string
  readonly banner: readonly string[]
  close(): Promise<void>
}

/** The only place where the parts meet: configuration in, running system out. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, paths, version, log, consoleLink = true, now = systemClock } = options
  const { here: command } = options.command ?? { here: 'cowork' }
  const undo = createUndo(log)
  try {
    ensureState(paths)
    undo.add(takeLock(paths))
    const owner = ownerToken(paths)
    const metrics = createMetrics()
    undo.add(metrics.close)
    const address = createAddress(config.server)
    const start: Start = { ...options, now, metrics, address, undo }

    const store = await openStore(start, owner)
    const { ledger } = store
    const domains = await openDomains(start, store, owner, (tool, args) =>
      readCall(calls.catalogue)(tool, args),
    )
    const { identity, grants } = domains
    const [newest] = await ledger.find({ limit: 1, newestFirst: true })
    const calls: Calls = openCalls(start, store, domains, newest?.at ?? 0)
    await domains.governance.spotChecks.catchUp(ledger, newest?.at ?? 0)
    let isEnding = false
    const doors = openDoors(start, store, domains, calls, () =>
      isEnding ? 'cowork is shutting down.' : ledger.trouble()?.message,
    )
    const { workUrl } = await openAddresses(start, identity, doors)
    const runner = startRunner({
      db: store.db,
      approvals: domains.governance.approvals,
      halts: domains.halts,
      agents: identity,
      ...calls,
      node: nodeName(paths),
      now,
      log: log.scope('runner'),
    })
    undo.add(runner.close)
    sayWhereItRuns(start, workUrl)
    const port = address.port()
    await ledger.record({ type: 'daemon.started', actor: systemActor, data: { version, port } })

    const mcpUrl = `${address.here()}/mcp`
    const opening = consoleLink ? [`  Console  ${(await identity.people.ownerLink()).link}`] : []
    return {
      port,
      mcpUrl,
      banner: [
        `cowork ${version}`,
        ...opening,
        `  MCP      ${mcpUrl}`,
        ...(workUrl === undefined ? [] : [`  Work     ${workUrl}`]),
        `  Connect  ${command} connect claude-code (\`${command} connect\` lists the others)`,
        `  ${identity.banner()}`,
        `  State    ${paths.dir}`,
        ...grants
          .leftOut()
          .map(({ path, why }) => `  Left out the grant of ${plainText(path, 300)}: ${why}`),
      ],
      async close() {
        if (isEnding) return
        isEnding = true
        await doors.mcp.close()
        await ledger.record({ type: 'daemon.stopped', actor: systemActor }).catch(() => undefined)
        await undo.all()
      },
    }
  } catch (error) {
    await undo.all()
    throw error
  }
}

/** In files of the state folder, for other commands. */
function sayWhereItRuns({ paths, version, address, now, undo }: Start, workUrl?: string): void {
  const startedAt = rfc3339(now())
  // First, since whoever waits for the daemon waits for what it says of itself.
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
