import { inject } from 'vitest'
import { checksContract } from '../../test/checks.ts'
import { createMigratedDatabase } from '../../test/databases.ts'
import { postgresStore } from '../../test/governed.ts'

checksContract(async () => postgresStore(await createMigratedDatabase(inject('postgresUrl'))))
