import type { Halts } from '#approvals'
import type { Tool } from '#base/tool.ts'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import type { Governance } from '../service.ts'
import { checkApprovalTool, withdrawTool } from './approvals.ts'
import { auditTrailTool } from './audit-trail.ts'
import { approveTool, decideTool, overrideTool, undoTool } from './decide.ts'
import { logTool } from './log.ts'
import { listPermissionsTool, revokePermissionTool } from './permissions.ts'
import { listPoliciesTool, validatePolicyTool } from './policy.ts'
import { proposeTool } from './propose.ts'
import { statusTool } from './status.ts'
import { checkTrustTool, setTrustTool } from './trust.ts'

export type GovernanceDeps = {
  readonly governance: Governance
  readonly ledger: Ledger
  readonly identity: Identity
  readonly halts: Halts
  readonly version: string
}

export const governanceTools = (deps: GovernanceDeps): Tool[] => {
  const { governance, ledger } = deps
  return [
    proposeTool(governance),
    approveTool(governance),
    overrideTool(governance),
    decideTool(governance),
    undoTool(governance),
    checkApprovalTool(governance),
    withdrawTool(governance),
    checkTrustTool(governance, ledger),
    setTrustTool(governance),
    validatePolicyTool(governance),
    listPoliciesTool(governance),
    listPermissionsTool(governance),
    revokePermissionTool(governance),
    logTool,
    auditTrailTool(deps),
    statusTool(deps),
  ]
}
