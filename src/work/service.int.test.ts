import { inject } from 'vitest'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { guardFiles } from '../../test/guarded-files.ts'
import { claimsContract } from '../../test/work/claims.contract.ts'
import { workContract } from '../../test/work/work.contract.ts'
import { editContract } from '../../test/work/edit.contract.ts'
import { flowContract } from '../../test/work/flow.contract.ts'
import type { Engine } from '../../test/work/work.fixture.ts'
import { concurrentEditsContract } from '../../test/work/concurrent-edits.contract.ts'
import { readsContract } from '../../test/work/reads.contract.ts'
import { searchContract } from '../../test/work/search.contract.ts'
import { textContract } from '../../test/work/text.contract.ts'

const postgres: Engine = {
  dialect: 'postgres',
  guardFiles,
  async create() {
    const url = await createTestDatabase(inject('postgresUrl'))
    return { open: (sealer) => openPostgres({ url, sealer, log: silentLog }) }
  },
}

claimsContract(postgres)
editContract(postgres)
flowContract(postgres)
concurrentEditsContract(postgres)
readsContract(postgres)
searchContract(postgres)
textContract(postgres)
workContract(postgres)
