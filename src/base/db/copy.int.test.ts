import { inject } from 'vitest'
import { createTestDatabase } from '../../../test/databases.ts'
import { silentLog } from '../log.ts'
import { copyContract, sqliteEngine } from '../../../test/base/db/copy.contract.ts'
import type { Engine } from '../../../test/base/db/copy.contract.ts'
import { openPostgresImport, openPostgres, readPostgres } from './postgres.ts'

const postgresEngine: Engine = {
  dialect: 'postgres',
  async create() {
    const url = await createTestDatabase(inject('postgresUrl'))
    return {
      open: () => openPostgres({ url, log: silentLog }),
      read: () => readPostgres(url),
      fill: () => openPostgresImport(url),
    }
  },
}

copyContract(sqliteEngine, postgresEngine)
copyContract(postgresEngine, sqliteEngine)
copyContract(postgresEngine, postgresEngine)
