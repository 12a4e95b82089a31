import { DatabaseSync } from 'node:sqlite'
import { readSqlite } from '#base/db/sqlite.ts'
import { ledgerContract } from '../../test/ledger/ledger.contract.ts'
import type { Engine } from '../../test/ledger/ledger.fixture.ts'
import { headContract } from '../../test/ledger/head.contract.ts'
import { ledgerMigrations } from './migrations.ts'
import { openMigrated, storePath } from '../../test/stores.ts'

const engine: Engine = {
  dialect: 'sqlite',
  async create() {
    const path = storePath()
    return {
      open: (sealer) => openMigrated(path, sealer, ledgerMigrations),
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
