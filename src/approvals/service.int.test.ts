import { inject } from 'vitest'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { approvalsContract } from './contract.ts'
import { equalContract } from './equal-contract.ts'
import type { Engine } from './fixture.ts'
import { quorumContract } from './quorum-contract.ts'
import { timeContract } from './time-contract.ts'

const postgres: Engine = {
  dialect: 'postgres',
  async create() {
    const url = await createTestDatabase(inject('postgresUrl'))
    return { open: (sealer) => openPostgres({ url, sealer, log: silentLog }) }
  },
}

approvalsContract(postgres)
equalContract(postgres)
quorumContract(postgres)
timeContract(postgres)
