import { baseErrors } from '#base/errors.ts'
import type { ErrorTable } from '#base/errors.ts'
import { approvalsErrors } from '../approvals/errors.ts'
import { dispatchErrors } from '../dispatch/errors.ts'
import { filesErrors } from '../files/errors.ts'
import { governanceErrors } from '../governance/errors.ts'
import { identityErrors } from '../identity/errors.ts'
import { ledgerErrors } from '../ledger/errors.ts'
import { serverErrors } from '../server/errors.ts'
import { workErrors } from '../work/errors.ts'

/**
 * The error codes of all modules. The tables are imported directly, not through the modules: every command reads
 * them, and must not load the modules.
 */
export const errorTable: ErrorTable = {
  ...baseErrors,
  ...approvalsErrors,
  ...dispatchErrors,
  ...filesErrors,
  ...governanceErrors,
  ...identityErrors,
  ...ledgerErrors,
  ...serverErrors,
  ...workErrors,
}

/** The status of a code; 422 for one that is not declared, such as of a tool that is not ours. */
export const statusOf = (code: string): number => errorTable[code]?.status ?? 422
