import { approvedCallsContract } from '../../test/approved-calls.ts'
import { sqliteStore } from '../../test/governed.ts'

approvedCallsContract('sqlite', async () => sqliteStore())
