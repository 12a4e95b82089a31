import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { approvalMigrations, createHalts, haltTools } from '#approvals'
import { appendLine, writeFileAtomic } from '#base/atomic-file.ts'
import { rfc3339, systemClock } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Db } from '#base/db/port.ts'
import { openPostgres } from '#base/db/postgres.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { systemActor } from '#base/entry.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { ensureState, ownerToken, takeLock } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import type { Tool } from '#base/tool.ts'
import { checkBy, checkHalt, checkScope, createCatalogue, createDispatch } from '#dispatch'
import { governanceTools } from '#governance'
import type { GovernanceDeps } from '#governance'
import { createIdentity, identityMigrations, identityTools } from '#identity'
import type { Identity, SharedKeys } from '#identity'
import {
  createRedactor,
  createSealer,
  ledgerMigrations,
  ledgerTools,
  openKey,
  openLedger,
} from '#ledger'
import type { Ledger } from '#ledger'
import { createHttp, createMcpDoor, listen, listenSocket } from '#server'
import type { McpFeature, TaskSource } from '#server'

export type AppOptions = {
  readonly config: Config
  readonly paths: StatePaths
  readonly version: string
  readonly log: Log
  /** Secret values in memory, so that they are redacted wherever they turn up (I8). */
  readonly secrets?: readonly string[]
  readonly shared?: SharedKeys
  readonly now?: Clock
  /** Test-only tools and features, for the conformance suite; they take the same path as all others. */
  readonly fixture?: {
    readonly tools: readonly Tool[]
    readonly features: readonly McpFeature[]
    readonly tasks: TaskSource
  }
}

export type App = {
  readonly port: number
  readonly mcpUrl: string
  readonly banner: readonly string[]
  close(): Promise<void>
}

const grace = 10_000

/** The only place where the parts meet: configuration in, running system out. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, paths, version, log, fixture, now = systemClock } = options
  // What is undone, newest first, when a later step of the start fails or the system ends.
  const undo: (() => unknown)[] = []
  const unwind = async () => {
    for (const step of undo.splice(0).toReversed())
      await Promise.resolve(step()).catch((error: unknown) =>
        log.error('a part did not end cleanly', { error: messageOf(error) }),
      )
  }

  try {
    ensureState(paths)
    undo.push(takeLock(paths))
    const owner = ownerToken(paths)
    const { db, ledger } = await openStore(options, owner, now, undo)
    // Asked before the agents are read, so that one added in between is not missed.
    const size = await ledger.size()
    const identity = await createIdentity({
      db,
      config,
      ownerToken: owner,
      ...(options.shared && { shared: options.shared }),
      now,
      note: ledger.note,
      log: log.scope('identity'),
    })
    if (db.dialect === 'postgres') undo.push(followAgents(ledger, identity, size, log))

    const halts = createHalts(db, now)
    const catalogue = createCatalogue([
      ...toolsOf({ ledger, identity, halts, version }),
      ...(fixture?.tools ?? []),
    ])
    const dispatch = createDispatch({
      catalogue,
      checks: [checkBy, checkScope, checkHalt(halts)],
      ledger,
      now,
      log: log.scope('dispatch'),
    })

    const { limits } = config.server
    const mcp = createMcpDoor({
      catalogue,
      dispatch,
      identity,
      version,
      now,
      log: log.scope('mcp'),
      limits: {
        maxSessions: limits.sessions,
        idleMs: limits.session_idle_minutes * 60_000,
        bodyBytes: limits.body_bytes,
        callsInFlight: limits.calls_in_flight,
        graceMs: grace,
      },
      ...(fixture && { features: fixture.features, tasks: fixture.tasks }),
    })
    let isEnding = false
    let port = config.server.port
    const http = createHttp({
      guard: {
        port: () => port,
        allowedHosts: config.server.allowed_hosts.map((host) => host.toLowerCase()),
        allowedOrigins: config.server.allowed_origins,
      },
      identity,
      dispatch,
      ledger,
      mcp,
      log: log.scope('http'),
      bodyBytes: limits.body_bytes,
      unready: () => (isEnding ? 'cowork is shutting down.' : ledger.trouble()?.message),
    })
    const web = await listen(http.fetch, {
      host: config.server.host,
      port,
      headerBytes: limits.header_bytes,
      bodySeconds: limits.body_seconds,
      insecureBind: config.server.insecure_bind,
      closedMode: identity.mode() === 'closed',
      tls: config.server.tls,
    })
    port = web.port
    undo.push(web.close)
    const socket = await listenSocket(paths.socket, mcp, log.scope('stdio'))
    undo.push(socket.close)

    const startedAt = rfc3339(now())
    writeFileAtomic(
      paths.daemon,
      `${JSON.stringify({ pid: process.pid, port, version, startedAt })}\n`,
    )
    writeFileAtomic(paths.pid, `${process.pid}\n`)
    undo.push(
      () => rmSync(paths.daemon, { force: true }),
      () => rmSync(paths.pid, { force: true }),
    )
    await ledger.record({ type: 'daemon.started', actor: systemActor, data: { version, port } })

    const mcpUrl = `${config.server.tls ? 'https' : 'http'}://localhost:${port}/mcp`
    return {
      port,
      mcpUrl,
      banner: [
        `cowork ${version}`,
        `  ${identity.banner()}`,
        `  MCP      ${mcpUrl}`,
        `  Connect  claude mcp add --transport http cowork ${mcpUrl}`,
        `           or over stdio: cowork mcp`,
        `  State    ${paths.dir}`,
      ],
      async close() {
        if (isEnding) return
        isEnding = true
        await mcp.close()
        await ledger.record({ type: 'daemon.stopped', actor: systemActor }).catch(() => undefined)
        await unwind()
      },
    }
  } catch (error) {
    await unwind()
    throw error
  }
}

/** Every tool there is. */
export const toolsOf = (parts: GovernanceDeps): Tool[] => [
  ...governanceTools(parts),
  ...identityTools(parts.identity),
  ...haltTools(parts.halts),
  ...ledgerTools(parts.ledger),
]

/** The store with its ledger attached: neither is to be had without the other. */
async function openStore(
  { config, paths, log, secrets = [] }: AppOptions,
  owner: string,
  now: Clock,
  undo: (() => unknown)[],
) {
  const { url, path } = config.storage
  const redact = createRedactor({
    secrets: [owner, ...secrets],
    patterns: [...config.audit.redact],
  })
  const sealer = createSealer(url ? 'postgres' : 'sqlite', redact, now)
  const db: Db = url
    ? await openPostgres({ url, sealer, log: log.scope('store') })
    : openSqlite(path, sealer)
  undo.push(() => db.close())
  const migrations = [...ledgerMigrations, ...identityMigrations, ...approvalMigrations]
  const { applied, backup } = await migrate(db, migrations, now())
  if (backup) log.info('the store was upgraded', { applied, backup })
  const copies = config.ledger.checkpoint_copies
  mkdirSync(copies, { recursive: true, mode: 0o700 })
  const ledger: Ledger = await openLedger({
    db,
    sealer,
    openKey: (known) =>
      openKey({ ledgerKey: config.ledger.key_path, ledgerPublicKey: paths.ledgerPublicKey }, known),
    copyCheckpoint: (line) => appendLine(join(copies, 'checkpoints.jsonl'), line),
    now,
    log: log.scope('ledger'),
  })
  undo.push(() => ledger.close())
  return { db, ledger }
}

/** Agents that another daemon of the same database added or revoked. */
function followAgents(ledger: Ledger, identity: Identity, from: number, log: Log): () => void {
  const stop = new AbortController()
  const follow = async () => {
    for await (const entries of ledger.follow(from, stop.signal))
      if (entries.some(({ type }) => type.startsWith('agent.'))) await identity.refresh()
  }
  follow().catch((error: unknown) =>
    log.error('agents of other daemons are no longer followed', { error: messageOf(error) }),
  )
  return () => stop.abort()
}
