import { join } from 'node:path'
import { currentFolders } from '#base/config/index.ts'
import { isUsable } from '#dispatch'
import { approvalResources, governancePrompts } from '#governance'
import { ledgerResources } from '#ledger'
import { createHttpServer, createMcpEndpoint, promptFeature, resourceFeature } from '#server'
import type { McpFeature } from '#server'
import type { CallPipeline } from './call-pipeline.ts'
import { toHttpStatus } from './errors.ts'
import type { LiveTools } from './module.ts'
import { onlyOne } from './open-modules.ts'
import type { Modules } from './open-modules.ts'
import type { StartupContext } from './startup.ts'
import { openLedgerSnapshot } from './store.ts'
import type { Store } from './store.ts'

/** How long shutdown waits for running calls. */
const graceMs = 10_000

export type Endpoints = ReturnType<typeof createEndpoints>

/**
 * Creates the MCP and HTTP endpoints; they do not listen yet. `unready` returns why no request
 * should be sent, if so.
 */
export function createEndpoints(
  start: StartupContext,
  { ledger }: Store,
  { identity, governance, running }: Modules,
  { registry, dispatch }: CallPipeline,
  unready: () => string | undefined,
) {
  const { config, address, version, fixture, metrics, now, log, undo } = start
  const { limits } = config.server
  const resources = resourceFeature(
    [
      ledgerResources(ledger),
      ...approvalResources(governance.inbox, ledger),
      ...running.flatMap(({ resources: sources = [] }) => sources),
    ],
    (caller, name) => {
      const tool = registry.find(name)
      return tool !== undefined && isUsable(tool, caller, identity.mode() === 'open')
    },
  )
  undo.add(resources.close)
  const prompts = promptFeature((caller) => [
    ...governancePrompts(governance.inbox, address.inboxUrl),
    ...running.flatMap((module) => module.prompts?.(caller) ?? []),
  ])
  const liveTools = onlyOne(running.map((module) => module.liveTools))
  const mcp = createMcpEndpoint({
    registry,
    dispatch,
    approvals: governance.approvals,
    identity,
    version,
    note: ledger.appendDeferred,
    now,
    toHttpStatus: toHttpStatus,
    log: log.scope('mcp'),
    agentId: start.shared?.agentId,
    limits: {
      maxSessions: limits.sessions,
      idleMs: limits.session_idle_minutes * 60_000,
      bodyBytes: limits.body_bytes,
      callsInFlight: limits.calls_in_flight,
      graceMs,
    },
    features: [resources, prompts, ...watchTools(liveTools), ...(fixture?.features ?? [])],
    ...(liveTools && { servers: liveTools.servers }),
    ...(fixture && { tasks: fixture.tasks }),
  })
  // Links use the public URL, so the guards must allow it.
  const known = config.server.public_url ? [new URL(config.server.public_url)] : []
  const http = createHttpServer({
    guard: {
      port: address.port,
      isSecure: config.server.tls !== undefined,
      allowedHosts: [...config.server.allowed_hosts, ...known.map(({ host }) => host)].map((host) =>
        host.toLowerCase(),
      ),
      allowedOrigins: [...config.server.allowed_origins, ...known.map(({ origin }) => origin)],
    },
    identity,
    registry,
    dispatch,
    ledger,
    inbox: governance.inbox,
    snapshot: () => openLedgerSnapshot(config),
    mcp,
    legacySse: config.server.transport === 'sse',
    metrics,
    log: log.scope('http'),
    version,
    ...(start.command && { command: start.command.anywhere }),
    home: currentFolders().home,
    webFolder: start.webFolder ?? join(import.meta.dirname, '..', '..', 'web', 'dist'),
    bodyBytes: limits.body_bytes,
    callsInFlight: limits.calls_in_flight,
    toHttpStatus: toHttpStatus,
    getUnreadyReason: unready,
  })
  return { mcp, http }
}

/** Notifies clients when the tools of upstream servers change. */
const watchTools = (tools: LiveTools | undefined): McpFeature[] =>
  tools
    ? [
        {
          capabilities: {},
          start: ({ toolsChanged }) => void tools.onChange(toolsChanged),
          attach: () => undefined,
        },
      ]
    : []
