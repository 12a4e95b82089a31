import type { Halts } from '#approvals'
import type { Tool } from '#base/tool.ts'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import type { Governance } from '../service.ts'
import { createSimulation } from '../policies/simulation.ts'
import { checkApprovalTool, withdrawTool } from './approvals.ts'
import { auditTrailTool, logTool } from './log.ts'
import { bulkApproveTool, bulkRejectTool } from './bulk.ts'
import { approveTool, decideTool, overrideTool, undoTool } from './decide.ts'
import { checkHandoffTool, handoffTool, resolveHandoffTool } from './handoffs.ts'
import { listPermissionsTool, revokePermissionTool } from './permissions.ts'
import {
  listPoliciesTool,
  validatePolicyTool,
  policyDiffTool,
  policyVersionsTool,
  savePoliciesTool,
  simulatePolicyTool,
} from './policy.ts'
import { proposeTool } from './propose.ts'
import { qualityTool, reportTool } from './report.ts'
import { statusTool } from './status.ts'
import {
  checkTrustTool,
  forgiveTool,
  setTrustTool,
  standingTool,
  trustHistoryTool,
} from './trust.ts'

export type GovernanceDeps = {
  readonly governance: Governance
  readonly ledger: Ledger
  readonly identity: Identity
  readonly halts: Halts
  readonly version: string
}

export const governanceTools = (deps: GovernanceDeps): Tool[] => {
  const { governance, ledger } = deps
  const simulation = createSimulation(governance, ledger)
  return [
    proposeTool(governance),
    approveTool(governance),
    overrideTool(governance),
    bulkApproveTool(governance),
    bulkRejectTool(governance),
    decideTool(governance),
    undoTool(governance),
    checkApprovalTool(governance),
    withdrawTool(governance),
    handoffTool(deps),
    checkHandoffTool(deps),
    resolveHandoffTool(deps),
    checkTrustTool(governance, ledger),
    setTrustTool(governance),
    forgiveTool(governance),
    standingTool(governance),
    trustHistoryTool(governance),
    validatePolicyTool(governance),
    listPoliciesTool(governance),
    simulatePolicyTool(simulation),
    savePoliciesTool(governance, simulation),
    policyVersionsTool(governance),
    policyDiffTool(governance, simulation),
    listPermissionsTool(governance),
    revokePermissionTool(governance),
    logTool(governance),
    auditTrailTool(deps),
    reportTool(deps),
    qualityTool(deps),
    statusTool(deps),
  ]
}
