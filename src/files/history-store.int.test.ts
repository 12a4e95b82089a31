import { inject } from 'vitest'
import { noSealer } from '#base/db/port.ts'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { historyContract } from '../../test/files/history.contract.ts'

historyContract('postgres', async () =>
  openPostgres({
    url: await createTestDatabase(inject('postgresUrl')),
    sealer: noSealer,
    log: silentLog,
  }),
)
