import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from '#base/db/migrate.ts'
import { openSqlite, readSqlite } from '#base/db/sqlite.ts'
import { systemActor } from '#base/entry.ts'
import { silentLog } from '#base/log.ts'
import { loadOrCreateKey } from './key-file.ts'
import { ledgerMigrations } from './migrations.ts'
import { createRedactor } from './redact.ts'
import { createSealer } from './sealer.ts'
import { openLedger } from './service.ts'
import { verifyTail } from './tail.ts'

/** A ledger of ten entries after a clean shutdown. */
async function written() {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-tail-'))
  const path = join(folder, 'cowork.db')
  const sealer = createSealer('sqlite', createRedactor({ secrets: [], patterns: [] }), () => 5000)
  const db = openSqlite(path, sealer)
  await migrate(db, ledgerMigrations, 0)
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) =>
      loadOrCreateKey(
        { ledgerKey: join(folder, 'key'), ledgerPublicKey: join(folder, 'pub') },
        known,
      ),
    copyCheckpoint: () => undefined,
    now: () => 5000,
    log: silentLog,
  })
  for (let i = 0; i < 10; i++)
    await ledger.record({ type: 'test.done', actor: systemActor, subject: 'a\ufffdb' })
  await ledger.close()
  await db.close()
  const { vkey } = ledger
  const change = (sql: string) => {
    const store = new DatabaseSync(path)
    for (const { name } of store
      .prepare("select name from sqlite_master where type = 'trigger'")
      .all())
      store.exec(`drop trigger "${String(name)}"`)
    store.exec(sql)
    store.close()
  }
  const look = async (minEntries?: number) => {
    const snapshot = readSqlite(path)
    const tail = await verifyTail(snapshot, vkey, minEntries === undefined ? {} : { minEntries })
    await snapshot.close()
    return tail
  }
  return { change, look }
}

test('K5, L7 the end of an unmodified ledger verifies', async () => {
  const { look } = await written()
  expect(await look()).toEqual({ size: 10, signed: 10, newestAt: 5000 })
  expect(await look(3)).toEqual({ size: 10, signed: 10, newestAt: 5000 })
})

test.each([
  [`update ledger_entry set body = replace(body, 'test', 'best') where seq = 9`, 9],
  // Both decode to the same text.
  [
    `update ledger_entry set body = replace(body, char(65533), cast(x'80' as text)) where seq = 9`,
    9,
  ],
  [`update ledger_entry set body = x'ff' where seq = 9`, 9],
  [`delete from ledger_entry where seq = 10`, 10],
  [`update ledger_head set hash = '00'`, 10],
  [`update ledger_head set size = 11`, 11],
  [`update ledger_checkpoint set note = 'x' || note`, 10],
])('K5, L7 %s is seen in the tail', async (sql, seq) => {
  const { change, look } = await written()
  change(sql)
  expect((await look()).problem?.seq).toBe(seq)
})
