import { join } from 'node:path'
import type { Caller } from '#base/caller.ts'
import { currentFolders } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { isUsable } from '#dispatch'
import type { Dispatch } from '#dispatch'
import { fileResources } from '#files'
import { approvalResources, governancePrompts } from '#governance'
import { ledgerResources } from '#ledger'
import { createHttp, createMcpDoor, promptFeature, resourceFeature } from '#server'
import { workPrompts, workResources } from '#work'
import type { Calls } from './calls.ts'
import type { Domains } from './domains.ts'
import { statusOf } from './errors.ts'
import type { Start } from './start.ts'
import { snapshotOf } from './store.ts'
import type { Store } from './store.ts'

/** How long the end waits for calls under way. */
const graceMs = 10_000

export type Doors = ReturnType<typeof openDoors>

/** MCP and HTTP, not yet at any address. `unready` says why nothing should be sent here, if so. */
export function openDoors(
  start: Start,
  { ledger }: Store,
  { identity, governance, grants, files, work }: Domains,
  { catalogue, dispatch }: Calls,
  unready: () => string | undefined,
) {
  const { config, address, version, fixture, metrics, now, log, undo } = start
  const { limits } = config.server
  const resources = resourceFeature(
    [
      ledgerResources(ledger),
      ...approvalResources(governance.inbox, ledger),
      ...fileResources({ files, grants, call: callFor(dispatch) }),
      workResources(work),
    ],
    (caller, name) => {
      const tool = catalogue.find(name)
      return tool !== undefined && isUsable(tool, caller, identity.mode() === 'open')
    },
  )
  undo.add(resources.close)
  const prompts = promptFeature((caller) => [
    ...governancePrompts(governance.inbox, address.inboxUrl),
    ...workPrompts(work, caller),
  ])
  const mcp = createMcpDoor({
    catalogue,
    dispatch,
    approvals: governance.approvals,
    identity,
    version,
    note: ledger.note,
    now,
    statusOf,
    log: log.scope('mcp'),
    agentId: start.shared?.agentId,
    limits: {
      maxSessions: limits.sessions,
      idleMs: limits.session_idle_minutes * 60_000,
      bodyBytes: limits.body_bytes,
      callsInFlight: limits.calls_in_flight,
      graceMs,
    },
    features: [resources, prompts, ...(fixture?.features ?? [])],
    ...(fixture && { tasks: fixture.tasks }),
  })
  // Links lead people to this address, so the guards must know it too.
  const known = config.server.public_url ? [new URL(config.server.public_url)] : []
  const http = createHttp({
    guard: {
      port: address.port,
      isSecure: config.server.tls !== undefined,
      allowedHosts: [...config.server.allowed_hosts, ...known.map(({ host }) => host)].map((host) =>
        host.toLowerCase(),
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
    ...(start.command && { command: start.command.anywhere }),
    home: currentFolders().home,
    webFolder: start.webFolder ?? join(import.meta.dirname, '..', '..', 'web', 'dist'),
    bodyBytes: limits.body_bytes,
    callsInFlight: limits.calls_in_flight,
    statusOf,
    unready,
  })
  return { mcp, http }
}

const notMissing = ['too_large', 'store_unavailable', 'ledger_unwritable']

/** What a resource reads of files takes the path of every call, as whoever reads it. */
const callFor =
  (dispatch: Dispatch) =>
  async (caller: Caller, tool: string, args: Readonly<Record<string, unknown>>) => {
    const answer = await dispatch({ tool, arguments: args, caller })
    if (answer.status === 'done') return answer.output as Record<string, unknown>
    // What is there and does not fit, or cannot be had just now, is not to be taken for missing.
    if (notMissing.includes(answer.code)) throw new CoworkError(answer.code, answer.message, answer)
    return undefined
  }
