import { copyContract, sqliteEngine } from './copy-contract.ts'

copyContract(sqliteEngine, sqliteEngine)
