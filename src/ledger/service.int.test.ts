import pg from 'pg'
import { inject } from 'vitest'
import { openPostgres, readPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { ledgerContract } from '../../test/ledger/ledger.contract.ts'
import type { Engine } from '../../test/ledger/ledger.fixture.ts'
import { headContract } from '../../test/ledger/head.contract.ts'

const engine: Engine = {
  dialect: 'postgres',
  async create() {
    const url = await createTestDatabase(inject('postgresUrl'))
    return {
      open: (sealer) => openPostgres({ url, sealer, log: silentLog }),
      snapshot: () => readPostgres(url),
      async tamper(...sql) {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        for (const statement of sql) await client.query(statement)
        await client.end()
      },
    }
  },
}

ledgerContract(engine)
headContract(engine)
