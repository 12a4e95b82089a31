import { inject } from 'vitest'
import { bulkContract } from '../../../test/bulk.ts'
import { createMigratedDatabase } from '../../../test/databases.ts'
import { postgresStore } from '../../../test/governed.ts'

bulkContract(async () => postgresStore(await createMigratedDatabase(inject('postgresUrl'))))
