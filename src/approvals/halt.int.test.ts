import { inject } from 'vitest'
import { createMigratedDatabase } from '../../test/databases.ts'
import { postgresStore } from '../../test/governed.ts'
import { haltContract } from '../../test/halt.contract.ts'

haltContract('postgres', async () =>
  postgresStore(await createMigratedDatabase(inject('postgresUrl'))),
)
