import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { migrate } from '#base/db/migrate.ts'
import type { Db, Sealer } from '#base/db/port.ts'
import { createLog } from '#base/log.ts'
import {
  createRedactor,
  createSealer,
  ledgerMigrations,
  loadOrCreateKey,
  openLedger,
} from '#ledger'
import { asked, createTime, decided, described } from './notify.fixture.ts'
import { notifyMigrations } from '../../../src/approvals/notify/migrations.ts'
import type { Channel, ApprovalSummary } from '../../../src/approvals/notify/model.ts'
import { startNotify } from '../../../src/approvals/notify/service.ts'
import type { NotifyDeps } from '../../../src/approvals/notify/service.ts'
import { createDeliveryStore } from '../../../src/approvals/notify/store.ts'
import { storeFolder } from '../../stores.ts'

export type Engine = {
  readonly dialect: 'sqlite' | 'postgres'
  /** `daemons` is 2 if two daemons can share the store; SQLite supports one. */
  create(): Promise<{ open(sealer: Sealer): Promise<Db>; readonly daemons: 1 | 2 }>
}

export const migrations = [...ledgerMigrations, ...notifyMigrations]

/** Notifications on a real store with a test clock. */
export const createSetup = (engine: Engine) =>
  async function setup(now = Date.now()) {
    const place = await engine.create()
    const folder = storeFolder()
    const files = { ledgerKey: join(folder, 'key'), ledgerPublicKey: join(folder, 'pub') }
    const time = createTime(now)
    const about = new Map<string, ApprovalSummary>()
    const logged: string[] = []

    async function open() {
      const redact = createRedactor({ secrets: [], patterns: [] })
      const sealer = createSealer(engine.dialect, redact, time.now)
      const db = await place.open(sealer)
      await migrate(db, migrations, 0)
      const ledger = await openLedger({
        db,
        sealer,
        openKey: (known) => loadOrCreateKey(files, known),
        copyCheckpoint: () => undefined,
        now: time.now,
        log: createLog({ level: 'error', write: (line) => void logged.push(line), json: true }),
      })
      onTestFinished(async () => {
        await ledger.close()
        await db.close()
      })
      return { db, ledger }
    }
    const one = await open()
    const other = place.daemons === 2 ? await open() : one
    const { db, ledger } = one
    const store = createDeliveryStore(db.dialect)

    function start(channels: Channel[], more: Partial<NotifyDeps> = {}) {
      const service = startNotify({
        ...one,
        channels,
        rules: [],
        publicUrl: () => 'http://localhost:8765',
        describe: async (_, ids) => new Map([...about].filter(([id]) => ids.includes(id))),
        decide: async () => ({ refused: 'nobody decides here' }),
        now: time.now,
        sleep: time.wait,
        chance: () => 0,
        log: createLog({ level: 'debug', write: (line) => void logged.push(line), json: true }),
        ...more,
      })
      onTestFinished(() => service.close())
      return service
    }
    return {
      db,
      ledger,
      other,
      store,
      time,
      about,
      logged,
      start,
      async ask(id: string, more: Partial<ApprovalSummary> = {}) {
        about.set(id, described(more))
        await ledger.record(asked(id))
      },
      /** Decides an approval in the console. */
      async decide(id: string, status: 'approved' | 'rejected' = 'approved') {
        about.set(id, { ...(about.get(id) ?? described()), status, decidedBy: 'anna' })
        await ledger.record(decided(id, `approval.${status}`))
      },
      /**
       * Waits until this many deliveries are recorded as sent; otherwise moving the clock would
       * end their lease.
       */
      async sent(count: number) {
        await expect.poll(async () => (await store.list(db, 'sent', 1000)).length).toBe(count)
      },
      statuses: async () => (await store.list(db, undefined, 1000)).map((row) => row.status),
    }
  }
