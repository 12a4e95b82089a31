import { approvalsContract } from './contract.ts'
import { equalContract } from './equal-contract.ts'
import { sqliteEngine } from './fixture.ts'
import { quorumContract } from './quorum-contract.ts'
import { timeContract } from './time-contract.ts'

approvalsContract(sqliteEngine)
equalContract(sqliteEngine)
quorumContract(sqliteEngine)
timeContract(sqliteEngine)
