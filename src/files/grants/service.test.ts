import { sqliteStore } from '../../../test/governed.ts'
import { grantsContract } from '../../../test/grants.ts'

grantsContract(async () => sqliteStore())
