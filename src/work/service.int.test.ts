import { inject } from 'vitest'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { guardFiles } from '../../test/guarded-files.ts'
import { claimsContract } from './claims-contract.ts'
import { workContract } from './contract.ts'
import { editContract } from './edit-contract.ts'
import { flowContract } from './flow-contract.ts'
import type { Engine } from './fixture.ts'
import { handsContract } from './hands-contract.ts'
import { readsContract } from './reads-contract.ts'
import { searchContract } from './search-contract.ts'
import { textContract } from './text-contract.ts'

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
handsContract(postgres)
readsContract(postgres)
searchContract(postgres)
textContract(postgres)
workContract(postgres)
