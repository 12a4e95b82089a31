import { inject } from 'vitest'
import { createTestDatabase } from './databases.ts'
import { postgresStore } from './governed.ts'
import { protectedArgumentsContract } from './protected-arguments.ts'

protectedArgumentsContract(async () =>
  postgresStore(await createTestDatabase(inject('postgresUrl'))),
)
