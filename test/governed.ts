// Everything between the endpoints and a real store: for tests of decisions.
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ApprovalKind } from '#approvals'
import { checkHaltScope, createHalts, haltTools } from '#approvals'
import type { Caller } from '#base/caller.ts'
import { createClockMonitor } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Db, Sealer, Snapshot } from '#base/db/port.ts'
import { openPostgres, readPostgres } from '#base/db/postgres.ts'
import { readSqlite } from '#base/db/sqlite.ts'
import { silentLog } from '#base/log.ts'
import type { Tool } from '#base/tool.ts'
import { checkCallerKind, checkHalt, checkRole, checkScope } from '#dispatch'
import { createToolRegistry, createDispatch, parseCallArguments, startRunner } from '#dispatch'
import type { CallResult } from '#dispatch'
import { checkDomain, createGovernance, governanceTools } from '#governance'
import { createIdentity } from '#identity'
import type { Identity } from '#identity'
import {
  createRedactor,
  createSealer,
  databaseSource,
  loadOrCreateKey,
  openLedger,
  writeBaselines,
} from '#ledger'
import { migrations, recordedTables, createReplays } from '../src/app.ts'
import { knownNames } from '../src/app/known-names.ts'
import { verifyLedger } from '../src/ledger/verify.ts'
import { agentCaller, testConfig } from './governance.ts'
import { openMigrated, storeFolder } from './stores.ts'
import { guardedToolsets } from '../src/app/modules.ts'

export type Store = {
  readonly dialect: 'sqlite' | 'postgres'
  open(sealer: Sealer): Promise<Db>
  snapshot(): Promise<Snapshot>
  /** The signing key belongs to the store, shared by all daemons. */
  readonly keys: { readonly ledgerKey: string; readonly ledgerPublicKey: string }
}

const keysIn = (folder: string) => ({
  ledgerKey: join(folder, 'ledger.key'),
  ledgerPublicKey: join(folder, 'ledger.pub'),
})

export function sqliteStore(): Store {
  const folder = storeFolder()
  const path = join(folder, 'cowork.db')
  return {
    dialect: 'sqlite',
    keys: keysIn(folder),
    open: (sealer) => openMigrated(path, sealer, migrations),
    snapshot: async () => readSqlite(path),
  }
}

export const postgresStore = (url: string): Store => ({
  dialect: 'postgres',
  keys: keysIn(storeFolder()),
  open: (sealer) => openPostgres({ url, sealer, log: silentLog }),
  snapshot: () => readPostgres(url),
})

export type Settings = Record<string, unknown>
export type More = {
  readonly tools?: readonly Tool[]
  readonly kinds?: readonly ApprovalKind[]
  readonly draw?: (id: string) => number
  /** Approved calls do not run, for tests of earlier states. */
  readonly runs?: false
  /** Name of this daemon on a shared store. */
  readonly node?: string
  /** A separate governance service over the same store. */
  readonly domain?: (given: Given) => Domain
}
type Domain = {
  readonly kinds: readonly ApprovalKind[]
  readonly tools: readonly Tool[]
  readonly checks?: Parameters<typeof createDispatch>[0]['checks']
}
export type Given = {
  readonly db: Db
  readonly config: Config
  readonly identity: Identity
  readonly governance: () => Governance
  readonly now: () => number
}
type Governance = ReturnType<typeof createGovernance>
export type Governed = Awaited<ReturnType<typeof openGoverned>>

/** The result of a tool; or the code of a refusal as `fault`, with message and details. */
export type Said = Record<string, unknown>

/** A running clock that tests can move. */
export function movableClock() {
  let offset = 0
  const now = () => Date.now() + offset
  return { now, move: (ms: number) => void (offset += ms) }
}

/** One daemon without endpoints; without spot checks unless a test sets `draw`. */
export async function openGoverned(
  settings: Settings = {},
  more: More = {},
  store = sqliteStore(),
  clock = movableClock(),
) {
  const { now } = clock
  const config = testConfig(settings)
  const redact = createRedactor({ secrets: [], patterns: [] })
  const sealer = createSealer(store.dialect, redact, now)
  const db = await store.open(sealer)
  await migrate(db, migrations, 0)
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) => loadOrCreateKey(store.keys, known),
    copyCheckpoint: () => undefined,
    now,
    log: silentLog,
  })
  await writeBaselines(db, recordedTables)
  const consoleUrl = () => 'http://localhost:8765'
  const { appendDeferred } = ledger
  const parts = { db, config, now, log: silentLog }
  const identity = await createIdentity({
    ...parts,
    ownerToken: 'test',
    consoleUrl,
    appendDeferred,
  })
  const halts = createHalts(db, now)
  const domain = more.domain?.({ ...parts, identity, governance: () => governance })
  const governance: Governance = createGovernance({
    guardedToolsets,
    ...parts,
    agents: identity,
    people: identity.people,
    reviewUrl: (id) => `${consoleUrl()}/inbox/${id}`,
    readCall: (tool, args) => parseCallArguments(catalogue)(tool, args),
    draw: () => 1,
    protection: { redact, key: ledger.derive('pending arguments') },
    onErase: ledger.onErase,
    drawKeys: { draw: ledger.derive('spot checks'), lot: ledger.derive('look-backs') },
    ...more,
    kinds: [...(more.kinds ?? []), ...(domain?.kinds ?? [])],
  })
  const catalogue = createToolRegistry([
    ...governanceTools({ governance, ledger, identity, halts, version: 'test' }),
    ...haltTools(halts),
    ...(more.tools ?? []),
    ...(domain?.tools ?? []),
  ])
  const dispatch = createDispatch({
    registry: catalogue,
    checks: [
      checkCallerKind(() => `${consoleUrl()}/inbox`),
      checkRole,
      checkScope,
      checkHalt(halts),
      checkHaltScope(knownNames({ governance, identity, ledger })),
      checkDomain(governance.domains),
      ...(domain?.checks ?? []),
      governance.judgeCall,
    ],
    approvals: governance.approvals,
    halts,
    isOpen: () => false,
    clockBehind: createClockMonitor(now, 0),
    ledger,
    now,
    log: silentLog,
  })
  const { approvals } = governance
  const runner =
    more.runs === false
      ? undefined
      : startRunner({
          ...parts,
          approvals,
          halts,
          agents: identity,
          registry: catalogue,
          dispatch,
          node: more.node,
        })
  const answer = (tool: string, args: object, caller: Caller): Promise<CallResult> =>
    dispatch({ tool, arguments: args, caller })

  return {
    ...clock,
    /** Resumes a pending call. */
    resume: (tool: string, args: object, caller: Caller, approval: string): Promise<CallResult> =>
      dispatch({ tool, arguments: args, caller, approval }),
    db,
    ledger,
    governance,
    identity,
    halts,
    catalogue,
    runner,
    answer,
    async call(tool: string, args: object = {}, caller = agentCaller()): Promise<Said> {
      const result = await answer(tool, args, caller)
      if (result.status === 'done') return result.output as Said
      const { code, message, hint, details } = result
      return { ...details, fault: code, message, hint }
    },
    entries: (types?: string[]) => ledger.find({ limit: 1000, ...(types && { types }) }),
    /** The rows of a table, to compare before and after. */
    rows: (table: string) => db.all({ sql: `SELECT * FROM ${table}`, parameters: [] }),
    async verify() {
      const snapshot = await store.snapshot()
      const { source, vkey } = await databaseSource(snapshot, [])
      const result = await verifyLedger(source, vkey ?? '', {
        deep: true,
        mac: ledger.headMac,
        replays: createReplays(snapshot),
      })
      await snapshot.close()
      return result
    },
    async close() {
      await runner?.close()
      await governance.close()
      await ledger.close()
      await db.close()
    },
  }
}

/** Creates a daemon that stops with the test. */
export async function governed(...given: Parameters<typeof openGoverned>): Promise<Governed> {
  const opened = await openGoverned(...given)
  onTestFinished(opened.close)
  return opened
}
