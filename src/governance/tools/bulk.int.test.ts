import { inject } from 'vitest'
import { bulkContract } from '../../../test/bulk.ts'
import { createTestDatabase } from '../../../test/databases.ts'
import { postgresStore } from '../../../test/governed.ts'

bulkContract(async () => postgresStore(await createTestDatabase(inject('postgresUrl'))))
