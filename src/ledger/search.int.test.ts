import { inject } from 'vitest'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { searchContract } from '../../test/ledger/search.contract.ts'

searchContract('postgres', async (sealer) => {
  const url = await createTestDatabase(inject('postgresUrl'))
  return openPostgres({ url, sealer, log: silentLog })
})
