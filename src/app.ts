import { mkdirSync, rmSync } from 'node:fs'
import { join, sep } from 'node:path'
import {
  approvalMigrations,
  createHalts,
  haltTools,
  notifyMigrations,
  notifyTools,
  startNotify,
  telegramClient,
} from '#approvals'
import type { DecideAs, Notify } from '#approvals'
import type { Caller } from '#base/caller.ts'
import { appendLine, writeFileAtomic } from '#base/atomic-file.ts'
import { createClockWatch, rfc3339, systemClock } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import { currentFolders } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Migration } from '#base/db/migrate.ts'
import type { Db } from '#base/db/port.ts'
import { openPostgres, readPostgres } from '#base/db/postgres.ts'
import { openSqlite, readSqlite } from '#base/db/sqlite.ts'
import { systemActor } from '#base/entry.ts'
import { messageOf } from '#base/errors.ts'
import { collectWhenIdle } from '#base/idle.ts'
import type { Log } from '#base/log.ts'
import { ensureState, ownerToken, takeLock } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import type { Tool } from '#base/tool.ts'
import {
  checkAssured,
  checkBy,
  checkHalt,
  checkRole,
  checkScope,
  createCatalogue,
  createDispatch,
  readCall,
} from '#dispatch'
import type { Dispatch } from '#dispatch'
import { checkFiles, fileMigrations, fileResources, fileTools, prepareFiles } from '#files'
import type { FileToolDeps } from '#files'
import {
  approvalResources,
  createGovernance,
  governanceMigrations,
  governancePrompts,
  governanceTools,
} from '#governance'
import type { Governance, GovernanceDeps } from '#governance'
import { createIdentity, identityMigrations, identityTools } from '#identity'
import type { Identity, SharedKeys } from '#identity'
import {
  createRedactor,
  createSealer,
  databaseSource,
  exportNames,
  ledgerResources,
  ledgerMigrations,
  ledgerTools,
  openKey,
  openLedger,
  readCheckpoints,
  refuseCut,
} from '#ledger'
import type { Entry, Ledger } from '#ledger'
import {
  createHttp,
  createMcpDoor,
  createMetrics,
  createToolsetHttp,
  listen,
  listenSocket,
  promptFeature,
  resourceFeature,
  startTelemetry,
} from '#server'
import type { McpDoor, McpFeature, Metrics, TaskSource } from '#server'
import { checkWork, createWork, workMigrations, workPrompts, workResources, workTools } from '#work'
import type { Work } from '#work'

/** For whoever sets up a place where nothing runs yet. */
export { checkWorkspace } from '#files'

export type AppOptions = {
  readonly config: Config
  /** Where it was read from, if not from the state folder. */
  readonly configFile?: string | undefined
  readonly paths: StatePaths
  readonly version: string
  readonly log: Log
  /** Secret values in memory, so that they are redacted wherever they turn up (I8). */
  readonly secrets?: readonly string[]
  readonly shared?: SharedKeys
  readonly now?: Clock
  /** Where the built console lies. */
  readonly webFolder?: string
  /** Whether the banner opens the console. Not where it passes through other hands than the person's. */
  readonly consoleLink?: boolean
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
  const { config, paths, version, log, fixture, consoleLink = true, now = systemClock } = options
  // What is undone, newest first, when a later step of the start fails or the system ends.
  const undo: (() => unknown)[] = []
  const unwind = async () => {
    for (const step of undo.splice(0).toReversed())
      try {
        await step()
      } catch (error) {
        log.error('a part did not end cleanly', { error: messageOf(error) })
      }
  }

  try {
    ensureState(paths)
    undo.push(takeLock(paths))
    const owner = ownerToken(paths)
    const metrics = createMetrics()
    undo.push(metrics.close)
    const { db, ledger, redact } = await openStore(options, owner, now, undo, metrics)
    let { port } = config.server
    const scheme = config.server.tls ? 'https' : 'http'
    const here = () => `${scheme}://localhost:${port}`
    const consoleUrl = () => config.server.public_url?.replace(/\/+$/, '') ?? here()
    // Asked before the agents are read, so that one added in between is not missed.
    const size = await ledger.size()
    const identity = await createIdentity({
      db,
      config,
      ownerToken: owner,
      consoleUrl,
      ...(options.shared && { shared: options.shared }),
      now,
      note: ledger.note,
      log: log.scope('identity'),
    })
    if (db.dialect === 'postgres')
      undo.push(followOthers(ledger, size, log, 'agent.', () => identity.refresh()))

    const halts = createHalts(db, now)
    const prepared = prepareFiles({
      db,
      config,
      paths,
      home: currentFolders().home,
      configFile: options.configFile ?? paths.config,
      sessions: identity.sessions,
      approvals: () => governance.approvals,
      policyVersion: () => governance.versions.version(),
      now,
      log: log.scope('files'),
    })
    const { grants, workspace } = prepared
    undo.push(grants.close)
    const governance: Governance = createGovernance({
      db,
      config,
      kinds: grants.kinds,
      reviewUrl: (approval) => `${consoleUrl()}/inbox/${approval}`,
      readCall: (tool, args) => readCall(catalogue)(tool, args),
      now,
      log: log.scope('governance'),
    })
    undo.push(governance.close)
    await governance.versions.start()
    if (db.dialect === 'postgres')
      undo.push(followOthers(ledger, size, log, 'policy.', () => governance.versions.refresh()))
    const files = await prepared.start()
    undo.push(files.close)
    if (db.dialect === 'postgres')
      undo.push(followOthers(ledger, size, log, 'grant.', () => grants.refresh()))
    if (config.audit.enabled) ledger.mirror(mirrorOf(workspace.path, workspace.own, config))
    const work = createWork({ db, config, now, log: log.scope('work') })
    undo.push(work.close)
    await work.start()
    // Here, since nothing may be awaited between those who decide elsewhere and the path they take.
    const [newest] = await ledger.find({ limit: 1, newestFirst: true })
    const notify = startNotify({
      ledger,
      db,
      channels: config.notify.channels,
      rules: config.notify.rules,
      quietHours: config.notify.quiet_hours,
      digest: config.notify.digest,
      publicUrl: consoleUrl,
      // What leaves this machine has no more in it than what the ledger keeps.
      describe: (reader, ids) => governance.approvals.describe(reader, ids, redact),
      decide: decideAs(identity, (request) => dispatch(request)),
      now,
      log: log.scope('notify'),
    })
    undo.push(notify.close)
    const catalogue = createCatalogue([
      ...toolsOf({
        governance,
        notify,
        ledger,
        identity,
        halts,
        version,
        files: prepared.toolDeps(files),
        work,
      }),
      ...(fixture?.tools ?? []),
    ])
    const uncounted = createDispatch({
      catalogue,
      checks: [
        checkBy(() => `${consoleUrl()}/inbox`),
        checkRole,
        checkScope,
        checkAssured(identity.passkeys, governance.approvals),
        checkHalt(halts),
        checkFiles(files.places),
        checkWork(work),
        governance.judgeCall,
      ],
      approvals: governance.approvals,
      isOpen: () => identity.mode() === 'open',
      clockBehind: createClockWatch(now, newest?.at ?? 0),
      ledger,
      now,
      log: log.scope('dispatch'),
    })
    const isTool = (name: string) => catalogue.find(name) !== undefined
    metrics.watch('cowork_approvals_pending', 'Approvals that wait for a person.', async () => {
      const { all = 0 } = await governance.approvals.counts()
      return all
    })
    const telemetry = startTelemetry({
      settings: config.server,
      metrics,
      isTool,
      version,
      now,
      log: log.scope('telemetry'),
    })
    undo.push(telemetry.close)
    const dispatch = telemetry.traceCalls(metrics.countCalls(uncounted, isTool))

    const { limits } = config.server
    const resources = resourceFeature([
      ledgerResources(ledger),
      ...approvalResources(governance.inbox, ledger),
      ...fileResources({ files, grants, call: callFor(dispatch) }),
      workResources(work),
    ])
    undo.push(resources.close)
    const prompts = promptFeature(() => [
      ...governancePrompts(governance.inbox, () => `${consoleUrl()}/inbox`),
      ...workPrompts(work),
    ])
    const mcp = createMcpDoor({
      catalogue,
      dispatch,
      approvals: governance.approvals,
      identity,
      version,
      now,
      log: log.scope('mcp'),
      agentId: options.shared?.agentId,
      limits: {
        maxSessions: limits.sessions,
        idleMs: limits.session_idle_minutes * 60_000,
        bodyBytes: limits.body_bytes,
        callsInFlight: limits.calls_in_flight,
        graceMs: grace,
      },
      features: [resources, prompts, ...(fixture?.features ?? [])],
      ...(fixture && { tasks: fixture.tasks }),
    })
    let isEnding = false
    // Links lead people to this address, so the guards must know it too.
    const known = config.server.public_url ? [new URL(config.server.public_url)] : []
    const http = createHttp({
      guard: {
        port: () => port,
        isSecure: config.server.tls !== undefined,
        allowedHosts: [...config.server.allowed_hosts, ...known.map(({ host }) => host)].map(
          (host) => host.toLowerCase(),
        ),
        allowedOrigins: [...config.server.allowed_origins, ...known.map(({ origin }) => origin)],
      },
      identity,
      catalogue,
      dispatch,
      ledger,
      inbox: governance.inbox,
      snapshot: () => snapshotOf(config),
      mcp,
      oldAddresses: config.server.transport === 'sse',
      metrics,
      log: log.scope('http'),
      version,
      webFolder: options.webFolder ?? join(import.meta.dirname, '..', 'web', 'dist'),
      bodyBytes: limits.body_bytes,
      callsInFlight: limits.calls_in_flight,
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
      socket: paths.apiSocket,
    })
    port = web.port
    undo.push(web.close, http.close)
    const workUrl = await listenForWork(options, mcp, undo, identity.mode() === 'closed')
    const socket = await listenSocket(paths.socket, mcp, log.scope('stdio'))
    undo.push(socket.close)

    const startedAt = rfc3339(now())
    // First, since whoever waits for the daemon waits for what it says of itself.
    writeFileAtomic(paths.pid, `${process.pid}\n`)
    writeFileAtomic(
      paths.daemon,
      `${JSON.stringify({ pid: process.pid, port, version, startedAt, workUrl })}\n`,
    )
    undo.push(
      () => rmSync(paths.daemon, { force: true }),
      () => rmSync(paths.pid, { force: true }),
    )
    await ledger.record({ type: 'daemon.started', actor: systemActor, data: { version, port } })

    const mcpUrl = `${here()}/mcp`
    const opening = consoleLink ? [`  Console  ${(await identity.people.ownerLink()).link}`] : []
    return {
      port,
      mcpUrl,
      banner: [
        `cowork ${version}`,
        ...opening,
        `  MCP      ${mcpUrl}`,
        ...(workUrl === undefined ? [] : [`  Work     ${workUrl}`]),
        `  Connect  cowork connect claude-code (or codex, gemini, cursor, vscode, claude-desktop)`,
        `  ${identity.banner()}`,
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

/** The tools about work at an address of their own, where that is asked for (W1, W2). */
async function listenForWork(
  { config, log, shared }: AppOptions,
  mcp: McpDoor,
  undo: (() => unknown)[],
  isClosed: boolean,
): Promise<string | undefined> {
  const { listen: isWanted, host } = config.work
  if (!isWanted) return undefined
  const needsBearer = shared?.worksyncKey !== undefined
  if (!needsBearer && !isClosed)
    log.warn('the address for work asks for no key: set WORKSYNC_API_KEY', {
      port: config.work.port,
    })
  let { port } = config.work
  const { limits } = config.server
  const { fetch } = createToolsetHttp({
    guard: { port: () => port, isSecure: false, allowedHosts: [], allowedOrigins: [] },
    mcp,
    toolset: 'work',
    needsBearer,
    log: log.scope('work'),
  })
  const listening = await listen(fetch, {
    host,
    port,
    headerBytes: limits.header_bytes,
    bodySeconds: limits.body_seconds,
    insecureBind: config.server.insecure_bind,
    closedMode: needsBearer || isClosed,
  })
  undo.push(listening.close)
  ;({ port } = listening)
  return `http://${host}:${port}/mcp`
}

/** What a person says elsewhere takes the path of every call, as that person (A5). */
const decideAs =
  (identity: Identity, dispatch: Dispatch): DecideAs =>
  async (person, approval, verdict) => {
    const { people } = await identity.people.list()
    const found = people.find(({ id, removedAt }) => id === person && removedAt === undefined)
    if (!found) return { refused: 'You are not among the people here any more.' }
    const answer = await dispatch({
      tool: 'cowork_decide',
      arguments: { approval_ids: [approval], decision: verdict },
      caller: {
        kind: 'human',
        id: person,
        role: found.role,
        verified: true,
        scopes: ['*'],
        session: `telegram-${person}`,
        client: { name: telegramClient, version: '', transport: 'http' },
      },
    })
    if (answer.status !== 'done') return { refused: answer.message }
    const { outcomes } = answer.output as {
      outcomes: { status: string; error?: { message: string } }[]
    }
    const [{ status, error } = { status: 'error' }] = outcomes
    return error ? { refused: error.message } : { status }
  }

/** What a resource reads of files takes the path of every call, as whoever reads it. */
const callFor =
  (dispatch: Dispatch) =>
  async (caller: Caller, tool: string, args: Readonly<Record<string, unknown>>) => {
    const answer = await dispatch({ tool, arguments: args, caller })
    return answer.status === 'done' ? (answer.output as Record<string, unknown>) : undefined
  }

/** What happened to files of the workspace, beside them (F6). */
const mirrorOf = (workspace: string, own: string, { audit }: Config) => ({
  path: join(own, 'audit.jsonl'),
  maxBytes: audit.max_log_size_mb * 1_000_000,
  filter: ({ domain, subject = '' }: Entry) =>
    domain === 'files' && (subject === workspace || subject.startsWith(workspace + sep)),
})

type ToolParts = GovernanceDeps & {
  readonly notify: Notify
  readonly files: FileToolDeps
  readonly work: Work
}

/** Every tool there is. */
export const toolsOf = (parts: ToolParts): Tool[] => [
  ...governanceTools(parts),
  ...identityTools(parts.identity),
  ...haltTools(parts.halts),
  ...notifyTools(parts.notify),
  ...ledgerTools(parts.ledger),
  ...fileTools(parts.files),
  ...workTools(parts.work),
]

/** Every step of the store's schema, in order. */
export const migrations: readonly Migration[] = [
  ...ledgerMigrations,
  ...identityMigrations,
  ...approvalMigrations,
  ...notifyMigrations,
  ...governanceMigrations,
  ...fileMigrations,
  ...workMigrations,
]

/** The store with its ledger attached: neither is to be had without the other. */
async function openStore(
  { config, paths, log, secrets = [] }: AppOptions,
  owner: string,
  now: Clock,
  undo: (() => unknown)[],
  metrics: Metrics,
) {
  const { url, path } = config.storage
  const redact = createRedactor({
    secrets: [owner, ...secrets],
    patterns: [...config.audit.redact],
  })
  const sealer = metrics.countCommits(createSealer(url ? 'postgres' : 'sqlite', redact, now))
  const db: Db = url
    ? await openPostgres({ url, sealer, log: log.scope('store') })
    : openSqlite(path, sealer)
  undo.push(() => db.close())
  undo.push(collectWhenIdle(db.onGrowth))
  const { applied, backup } = await migrate(db, migrations, now())
  if (backup) log.info('the store was upgraded', { applied, backup })
  const copies = join(config.ledger.checkpoint_copies, exportNames.checkpoints)
  mkdirSync(config.ledger.checkpoint_copies, { recursive: true, mode: 0o700 })
  const ledger: Ledger = await openLedger({
    db,
    sealer,
    openKey: (known) =>
      openKey({ ledgerKey: config.ledger.key_path, ledgerPublicKey: paths.ledgerPublicKey }, known),
    copyCheckpoint: (line) => appendLine(copies, line),
    checkSize: (size) => refuseCut(copies, size),
    now,
    log: log.scope('ledger'),
  })
  undo.push(() => ledger.close())
  const { audit } = config
  if (audit.enabled)
    ledger.mirror({ path: audit.log_path, maxBytes: audit.max_log_size_mb * 1_000_000 })
  if (audit.payload_days > 0) ledger.keepPayloads(audit.payload_days)
  return { db, ledger, redact }
}

/** The ledger as it stands now, with the copies of its checkpoints, for checking it while it is written. */
async function snapshotOf({ storage: { url, path }, ledger }: Config) {
  // Before the store: a copy that is read later may be ahead of what we see of the store.
  const outside = readCheckpoints(join(ledger.checkpoint_copies, exportNames.checkpoints))
  const db = url ? await readPostgres(url) : readSqlite(path)
  const { source } = await databaseSource(db, outside)
  return { source, close: () => db.close() }
}

/** What another daemon of the same database changed: agents it added, policies it saved. */
function followOthers(
  ledger: Ledger,
  from: number,
  log: Log,
  noun: string,
  refresh: () => Promise<void>,
): () => void {
  const stop = new AbortController()
  const follow = async () => {
    for await (const entries of ledger.follow(from, stop.signal))
      if (entries.some(({ type }) => type.startsWith(noun))) await refresh()
  }
  follow().catch((error: unknown) =>
    log.error('what other daemons change is no longer followed', {
      noun,
      error: messageOf(error),
    }),
  )
  return () => stop.abort()
}
