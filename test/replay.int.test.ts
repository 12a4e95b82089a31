import { inject } from 'vitest'
import { createMigratedDatabase } from './databases.ts'
import { postgresStore } from './governed.ts'
import { replayContract } from './replay.ts'

replayContract(async () => postgresStore(await createMigratedDatabase(inject('postgresUrl'))))
