import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqlite, readSqlite } from '#base/db/sqlite.ts'
import { ledgerContract } from './contract.ts'
import type { Engine } from './fixture.ts'
import { headContract } from './head-contract.ts'

const engine: Engine = {
  dialect: 'sqlite',
  async create() {
    const path = join(mkdtempSync(join(tmpdir(), 'cowork-ledger-')), 'cowork.db')
    return {
      open: async (sealer) => openSqlite(path, sealer),
      snapshot: async () => readSqlite(path),
      async tamper(...sql) {
        const db = new DatabaseSync(path)
        for (const statement of sql) db.exec(statement)
        db.close()
      },
    }
  },
}

ledgerContract(engine)
headContract(engine)
