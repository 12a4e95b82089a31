import { inject } from 'vitest'
import { createTestDatabase } from './databases.ts'
import { postgresStore } from './governed.ts'
import { replayContract } from './replay.ts'

replayContract(async () => postgresStore(await createTestDatabase(inject('postgresUrl'))))
