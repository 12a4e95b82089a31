import { approvalsContract } from '../../test/approvals/approvals.contract.ts'
import { equalContract } from '../../test/approvals/equal.contract.ts'
import { sqliteEngine } from '../../test/approvals/approvals.fixture.ts'
import { quorumContract } from '../../test/approvals/quorum.contract.ts'
import { timeContract } from '../../test/approvals/time.contract.ts'

approvalsContract(sqliteEngine)
equalContract(sqliteEngine)
quorumContract(sqliteEngine)
timeContract(sqliteEngine)
