import { inject } from 'vitest'
import { createMigratedDatabase } from '../../../test/databases.ts'
import { postgresStore } from '../../../test/governed.ts'
import { handoffsContract } from '../../../test/handoffs.ts'

handoffsContract(async () => postgresStore(await createMigratedDatabase(inject('postgresUrl'))))
