import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { storeContract } from './contract.ts'
import { openSqlite, readSqlite } from './sqlite.ts'

const path = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'cowork.db')
storeContract('sqlite', async (sealer) => openSqlite(path, sealer))

test('SV4 a store opened for reading cannot be written', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'cowork-db-')), 'a.db')
  const writer = openSqlite(file)
  await writer.transact((tx) => tx.run({ sql: 'CREATE TABLE t (a)', parameters: [] }))
  const reader = readSqlite(file)
  expect(await reader.all({ sql: 'SELECT * FROM t', parameters: [] })).toEqual([])
  await expect(reader.transact(async () => 1)).rejects.toThrow('reading only')
  await reader.close()
  await writer.close()
})
