// Approvals on a real store and ledger, with their own kinds, for the contract tests.
import { join } from 'node:path'
import type { Caller } from '#base/caller.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Db, Sealer } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import { silentLog } from '#base/log.ts'
import type { Call } from '#base/tool.ts'
import {
  createRedactor,
  createSealer,
  ledgerMigrations,
  loadOrCreateKey,
  openLedger,
} from '#ledger'
import { createApprovalKinds } from '../../src/approvals/kinds.ts'
import type { ApprovalKind } from '../../src/approvals/kinds.ts'
import { approvalMigrations } from '../../src/approvals/migrations.ts'
import type { Decision, NewApproval } from '../../src/approvals/model.ts'
import { computeDigest } from '../../src/approvals/rules.ts'
import { createApprovals } from '../../src/approvals/service.ts'
import type { ApprovalSettings, Binding } from '../../src/approvals/service.ts'
import { openMigrated, storeFolder, storePath } from '../stores.ts'

export type Engine = {
  readonly dialect: 'sqlite' | 'postgres'
  /** Creates a new store that can be opened repeatedly. */
  create(): Promise<{ open(sealer: Sealer): Promise<Db> }>
}

export type World = Awaited<ReturnType<typeof createWorld>>
export type Daemon = Awaited<ReturnType<World['start']>>

const hour = 60 * 60 * 1000
export const ttl = { question: 7 * 24 * hour, plan: 24 * hour, call: 24 * hour }

/** Uses `change.to` as the target, so an edit can change the target. */
const targetOf = (change: unknown) => (change as { to?: string }).to ?? 'a'

const kinds: ApprovalKind[] = [
  {
    kind: 'question',
    ttlMs: ttl.question,
    keepsArguments: 'until decided',
    // The writes of a kind belong to the transaction of the decision.
    async onDecided(tx, { id }, { verdict, by }) {
      tx.append({ type: 'answer.given', actor: by, ids: { approval: id }, outcome: verdict })
      return { answered: true }
    },
    async onClosedUndecided(tx, { id }) {
      tx.append({
        type: 'answer.dropped',
        actor: { kind: 'system', id: 'test' },
        ids: { approval: id },
      })
    },
  },
  {
    kind: 'plan',
    ttlMs: ttl.plan,
    keepsArguments: 'until used',
    token: true,
    onDecided: async () => undefined,
  },
  {
    kind: 'call',
    ttlMs: ttl.call,
    keepsArguments: 'until used',
    edited: (_, change) => ({ change, target: targetOf(change) }),
    onDecided: async () => undefined,
  },
  // Simulates a bug in a module: fails after the decision was written.
  {
    kind: 'broken',
    onDecided: async () => {
      throw new TypeError('a bug')
    },
  },
]

export const sales: Caller = {
  kind: 'agent',
  id: 'sales',
  session: 's1',
  verified: true,
  scopes: ['*'],
}

const callOf = (caller: Caller): Call => ({
  id: newId(),
  caller,
  signal: new AbortController().signal,
  progress: () => undefined,
  addDetails: () => undefined,
})

const person = (id: string): Decision['by'] => ({ kind: 'human', id })

/** Builds a request of `sales`; its digest is that of a call with these arguments. */
export function opening(
  kind: string,
  change: object = { to: 'a' },
  more: Partial<NewApproval> = {},
): NewApproval {
  const action = 'move'
  return {
    kind,
    domain: 'crm',
    action,
    target: targetOf(change),
    summary: 'move',
    mode: 'suggest',
    risk: 'normal',
    digest: digestFor(change),
    policyVersion: 'v1',
    trustLevel: 0.5,
    confidence: 0.9,
    content: {
      change,
      why: {
        text: 'You are asked because this is a test.',
        rules: [],
        policy_id: null,
        policy_description: null,
        thresholds: { suggest: 0.5, act: 0.8 },
        evidence_level: null,
        gated: false,
        high_risk_fields: [],
      },
    },
    ...more,
  }
}

export const digestFor = (change: object, agent = 'sales') =>
  computeDigest({ agent, action: 'move', target: targetOf(change), content: change })

const migrations = [...ledgerMigrations, ...approvalMigrations]

export const sqliteEngine: Engine = {
  dialect: 'sqlite',
  async create() {
    const path = storePath()
    return { open: (sealer) => openMigrated(path, sealer, migrations) }
  },
}

/** Creates one store with a movable clock, and the daemons on it. */
export async function createWorld(engine: Engine) {
  const store = await engine.create()
  const folder = storeFolder()
  const files = { ledgerKey: join(folder, 'key'), ledgerPublicKey: join(folder, 'pub') }
  let offset = 0
  const now = () => Date.now() + offset

  async function start(given: Partial<ApprovalSettings> = {}) {
    const redact = createRedactor({ secrets: [], patterns: [] })
    const sealer = createSealer(engine.dialect, redact, now)
    const db = await store.open(sealer)
    await migrate(db, migrations, 0)
    const ledger = await openLedger({
      db,
      sealer,
      openKey: (known) => loadOrCreateKey(files, known),
      copyCheckpoint: () => undefined,
      now,
      log: silentLog,
    })
    const gone = new Set<string>()
    const settings = { tokenTtlMs: 600_000, callTtlMs: hour, undoHoldMs: 8000, ...given }
    const approvals = createApprovals({
      db,
      kinds: createApprovalKinds(kinds),
      settings,
      agents: { isSameAgent: () => Promise.resolve(true) },
      people: { canStillDecide: (_, id) => Promise.resolve(!gone.has(id)) },
      reviewUrl: (id) => `http://localhost/inbox/${id}`,
      protection: { redact, key: ledger.derive('pending arguments') },
      onErase: ledger.onErase,
      now,
      log: silentLog,
    })
    const decide = (id: string, by = 'anna', more: Partial<Decision> = {}) =>
      db.transact((tx) =>
        approvals.decide(tx, id, { verdict: 'approve', by: person(by), channel: 'api', ...more }),
      )
    return {
      db,
      approvals,
      decide,
      reject: (id: string, by?: string) => decide(id, by, { verdict: 'reject' }),
      hold: (id: string, by = 'anna', more: Partial<Decision> = {}) =>
        db.transact((tx) =>
          approvals.deferDecision(
            tx,
            id,
            { verdict: 'approve', by: person(by), channel: 'api', ...more },
            {},
          ),
        ),
      undo: (id: string) =>
        db.transact((tx) => approvals.undo(tx, id, callOf({ ...sales, kind: 'human', id: 'ben' }))),
      /** Removes this person. */
      leave: (id: string) => void gone.add(id),
      withdraw: (id: string, caller = sales) =>
        db.transact((tx) => approvals.withdraw(tx, id, callOf(caller))),
      open: async (given: NewApproval, caller = sales) =>
        (await db.transact((tx) => approvals.open(tx, caller, 'call-1', given))).id,
      /**
       * Makes a call with these arguments, like dispatch with rules that require `needed`
       * approvals.
       */
      pass: (change: object = { to: 'a' }, caller = sales, needed = 1) =>
        db.transact((tx) =>
          approvals.claimOrOpen(
            tx,
            caller,
            { digest: digestFor(change), requiredApprovals: needed },
            () =>
              approvals.open(
                tx,
                caller,
                'call-1',
                opening('call', change, { requiredApprovals: needed }),
              ),
          ),
        ),
      /** Claims the call like the runner. */
      resume: (id: string, binding: Binding = {}, caller = sales) =>
        db.transact((tx) => approvals.claimApprovedCall(tx, caller, id, binding)),
      keep: (id: string, result: { status: string }) =>
        db.transact((tx) => approvals.storeResult(tx, id, result)),
      redeem: (token: string, change: object = { to: 'a' }, agent = 'sales') =>
        db.transact((tx) =>
          approvals.redeem(tx, token, { agent, digest: digestFor(change, agent) }),
        ),
      status: async (id: string) => (await approvals.get(id))?.status,
      /** Returns the stored approval, ignoring expiry. */
      stored: async (id: string) => (await approvals.find(db, id))?.status,
      types: async (id: string) =>
        (await ledger.find({ limit: 10_000 }))
          .filter((entry) => entry.ids?.approval === id)
          .map(({ type }) => type),
      entries: () => ledger.find({ limit: 1000 }),
      async stop() {
        await approvals.close()
        await ledger.close()
        await db.close()
      },
    }
  }

  return { start, now, move: (ms: number) => (offset += ms) }
}
