import { copyContract, sqliteEngine } from '../../../test/base/db/copy.contract.ts'

copyContract(sqliteEngine, sqliteEngine)
