import { inject } from 'vitest'
import { createMigratedDatabase } from './databases.ts'
import { postgresStore } from './governed.ts'
import { protectedArgumentsContract } from './protected-arguments.ts'

protectedArgumentsContract(async () =>
  postgresStore(await createMigratedDatabase(inject('postgresUrl'))),
)
