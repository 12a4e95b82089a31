import { inject } from 'vitest'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { approvalsContract } from '../../test/approvals/approvals.contract.ts'
import { equalContract } from '../../test/approvals/equal.contract.ts'
import type { Engine } from '../../test/approvals/approvals.fixture.ts'
import { quorumContract } from '../../test/approvals/quorum.contract.ts'
import { timeContract } from '../../test/approvals/time.contract.ts'

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
