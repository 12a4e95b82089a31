import { inject } from 'vitest'
import { approvedCallsContract, sharedRunsContract } from '../../test/approved-calls.ts'
import { createMigratedDatabase } from '../../test/databases.ts'
import { postgresStore } from '../../test/governed.ts'

const newStore = async () => postgresStore(await createMigratedDatabase(inject('postgresUrl')))

approvedCallsContract('postgres', newStore)
sharedRunsContract(newStore)
