import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { storeContract } from '../../../test/base/db/db.contract.ts'
import { noSealer } from './port.ts'
import { openSqlite, readSqlite } from './sqlite.ts'

const path = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'cowork.db')
storeContract('sqlite', async (sealer) => openSqlite(path, sealer))

test('L6 a snapshot is consistent while the store changes', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'a.db')
  const writer = openSqlite(file)
  await writer.transact((tx) => tx.run({ sql: 'CREATE TABLE t (a)', parameters: [] }))
  const reader = readSqlite(file)
  const rows = { sql: 'SELECT * FROM t', parameters: [] }
  expect(await reader.all(rows)).toEqual([])
  await writer.transact((tx) => tx.run({ sql: 'INSERT INTO t VALUES (1)', parameters: [] }))
  expect(await reader.all(rows)).toEqual([])
  expect(await writer.all(rows)).toHaveLength(1)
  await expect(reader.all({ sql: 'DELETE FROM t', parameters: [] })).rejects.toThrow('readonly')
  await reader.close()
  await writer.close()
})

test('SV8 an invalid store file is refused with its name and the next step', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'broken.db')
  writeFileSync(file, 'this is not a database, however long it may be'.repeat(100))
  expect(() => openSqlite(file)).toThrow(/Cannot open .*broken.db/)
  expect(readFileSync(file, 'utf8')).toMatch(/^this is not a database/)
})

test('L8 deleted content is overwritten in the file', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'a.db')
  const db = openSqlite(file)
  const run = (sql: string) => db.transact((tx) => tx.run({ sql, parameters: [] }))
  await run('CREATE TABLE t (a)')
  await run(`INSERT INTO t VALUES ('${'short needle'}'), ('${'long needle '.repeat(1000)}')`)
  await run('DELETE FROM t')
  await db.close()
  expect(readFileSync(file, 'latin1')).not.toContain('needle')
})

test('L12 a preallocated WAL does not grow', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'lasting.db')
  const log = () => statSync(`${file}-wal`).size
  const db = openSqlite(file, noSealer, { preallocateLog: true })
  const before = log()
  expect(before).toBeGreaterThan(4_000_000)
  await db.transact((tx) => tx.run({ sql: 'CREATE TABLE thing (id TEXT)', parameters: [] }))
  for (let n = 0; n < 20; n++) await db.transact((tx) => tx.insert('thing', [{ id: `thing ${n}` }]))
  expect(log()).toBe(before)
  expect(await db.all({ sql: 'SELECT * FROM thing', parameters: [] })).toHaveLength(20)
  const tables = await db.all({
    sql: "SELECT name FROM sqlite_master WHERE type = 'table'",
    parameters: [],
  })
  expect(tables).toEqual([{ name: 'thing' }])
  await db.close()
})
