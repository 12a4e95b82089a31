import type { Halts } from '#approvals'
import type { Tool } from '#base/tool.ts'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import type { Governance } from '../service.ts'
import { createSimulation } from '../policies/simulation.ts'
import { approvalTools } from './approvals.ts'
import { bulkApproveTool, bulkRejectTool } from './bulk.ts'
import { approveTool, decideTool, overrideTool, undoTool } from './decide.ts'
import { handoffTools } from './handoffs.ts'
import { logTools } from './log.ts'
import { permissionTools } from './permissions.ts'
import { policyTools } from './policy.ts'
import { proposeTool } from './propose.ts'
import { reportTools } from './report.ts'
import { statusTool } from './status.ts'
import { trustTools } from './trust.ts'

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
    bulkApproveTool(governance),
    bulkRejectTool(governance),
    decideTool(governance),
    undoTool(governance),
    ...approvalTools(governance),
    ...handoffTools(deps),
    ...trustTools(governance, ledger),
    ...policyTools(governance, createSimulation(governance, ledger)),
    ...permissionTools(governance),
    ...logTools(deps),
    ...reportTools(deps),
    statusTool(deps),
  ]
}
