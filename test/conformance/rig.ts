// The MCP door over real parts: a SQLite store in a temporary folder, the ledger, identity and dispatch.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHalts } from '#approvals'
import { migrate } from '#base/db/migrate.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { silentLog } from '#base/log.ts'
import type { Log } from '#base/log.ts'
import type { Tool } from '#base/tool.ts'
import {
  checkCallerKind,
  checkScope,
  checkSelected,
  createToolRegistry,
  createDispatch,
  createUseHandler,
  discoveryTools,
  parseCallArguments,
  startRunner,
} from '#dispatch'
import type { ToolRegistry } from '#dispatch'
import { governanceTools } from '#governance'
import { createIdentity, identityMigrations } from '#identity'
import type { IdentityConfig } from '#identity'
import {
  createRedactor,
  createSealer,
  ledgerMigrations,
  loadOrCreateKey,
  openLedger,
} from '#ledger'
import { toHttpStatus } from '../../src/app/errors.ts'
import { createMcpEndpoint } from '../../src/server/mcp/endpoint.ts'
import type { McpEndpointDeps } from '../../src/server/mcp/endpoint.ts'
import { governanceSchema, testGovernance } from '../governance.ts'

const version = '0.0.0-test'
export const ownerToken = 'owner-token-of-the-tests'

export type RigOptions = {
  /** Trust and policy decide calls, and the tools of governance are there to decide them. */
  readonly governed?: boolean
  /** cowork_find_tools and cowork_use are there, too. */
  readonly discovery?: boolean
  readonly tools?: readonly Tool[]
  readonly registry?: ToolRegistry
  /** None is open mode. */
  readonly agents?: IdentityConfig['agents']
  readonly features?: McpEndpointDeps['features']
  readonly tasks?: McpEndpointDeps['tasks']
  readonly limits?: Partial<McpEndpointDeps['limits']>
  readonly waitMs?: number
  readonly now?: () => number
  readonly log?: Log
}

export async function createRig(options: RigOptions = {}) {
  const { tools = [], agents = [], features, tasks, waitMs } = options
  const { now = Date.now, log = silentLog } = options
  const folder = mkdtempSync(join(tmpdir(), 'cowork-mcp-'))
  const redact = createRedactor({ secrets: [], patterns: [] })
  const sealer = createSealer('sqlite', redact, now)
  const db = openSqlite(join(folder, 'cowork.db'), sealer)
  await migrate(db, [...ledgerMigrations, ...identityMigrations, ...governanceSchema], now())
  const keys = { ledgerKey: join(folder, 'key'), ledgerPublicKey: join(folder, 'key.pub') }
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) => loadOrCreateKey(keys, known),
    copyCheckpoint: () => undefined,
    now,
    log,
  })
  const identity = await createIdentity({
    db,
    config: { agents, trust: { default_level: 0.3 }, authority: { default_mode: 'suggest' } },
    ownerToken,
    consoleUrl: () => 'http://localhost:8765',
    now,
    appendDeferred: ledger.appendDeferred,
    log,
    sleep: () => Promise.resolve(),
  })
  const governance = testGovernance(
    db,
    {},
    {
      now,
      readCall: (tool, args) => parseCallArguments(registry)(tool, args),
    },
  )
  const { approvals } = governance
  const parts = { governance, ledger, identity, halts: createHalts(db, now), version }
  const ours = options.governed ? governanceTools(parts) : []
  const isOpen = () => identity.mode() === 'open'
  const finding = options.discovery ? discoveryTools({ registry: () => registry, isOpen }) : []
  const registry: ToolRegistry =
    options.registry ?? createToolRegistry([...tools, ...ours, ...finding])
  const checkCaller = checkCallerKind(() => 'http://localhost:8765/inbox')
  const dispatched = createDispatch({
    registry,
    checkCaller,
    checks: [
      checkCaller,
      checkScope,
      checkSelected,
      ...(options.governed ? [governance.judgeCall] : []),
    ],
    approvals,
    isOpen,
    ledger,
    now,
    log,
  })
  const dispatch = createUseHandler(dispatched, registry)
  const runner = startRunner({
    db,
    approvals,
    registry,
    dispatch,
    now,
    log,
    halts: parts.halts,
    agents: identity,
  })
  const door = createMcpEndpoint({
    registry,
    dispatch,
    approvals,
    identity,
    note: ledger.appendDeferred,
    toHttpStatus,
    now,
    log,
    version,
    limits: {
      maxSessions: 100,
      idleMs: 60_000,
      bodyBytes: 4 * 1024 * 1024,
      callsInFlight: 64,
      graceMs: 1000,
      ...options.limits,
    },
    ...(features && { features }),
    ...(tasks && { tasks }),
    ...(waitMs !== undefined && { waitMs }),
  })
  return {
    door,
    identity,
    ledger,
    dispatch,
    governance,
    runner,
    async close() {
      await door.close()
      await runner.close()
      await governance.close()
      await ledger.close()
      await db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
