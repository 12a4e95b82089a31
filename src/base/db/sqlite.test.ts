import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { storeContract } from './contract.ts'
import { openSqlite, readSqlite } from './sqlite.ts'

const path = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'cowork.db')
storeContract('sqlite', async (sealer) => openSqlite(path, sealer))

test('L6 a reader keeps its moment while the store goes on', async () => {
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
