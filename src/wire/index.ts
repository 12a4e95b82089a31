import type * as z from 'zod'
import { approvalResults } from '#approvals/wire.ts'
import { dispatchResults } from '#dispatch/wire.ts'
import { fileResults } from '#files/wire.ts'
import { governanceResults, inboxAnswers } from '#governance/wire.ts'
import { identityAnswers, identityResults } from '#identity/wire.ts'
import { ledgerAnswers, ledgerResults } from '#ledger/wire.ts'
import { serverAnswers } from '#server/wire.ts'
import { workResults } from '#work/wire.ts'

/** The schema of each tool's output, by the name of the tool. */
export const toolResults = {
  ...ledgerResults,
  ...identityResults,
  ...approvalResults,
  ...governanceResults,
  ...fileResults,
  ...workResults,
  ...dispatchResults,
}
export type ToolName = keyof typeof toolResults
export type ToolResults = { [Name in ToolName]: z.output<(typeof toolResults)[Name]> }

/** The schema of each JSON answer of the REST API, by method and path as `docs/openapi.json` writes them. */
export const routeAnswers = {
  ...serverAnswers,
  ...identityAnswers,
  ...ledgerAnswers,
  ...inboxAnswers,
}
export type RouteName = keyof typeof routeAnswers
export type RouteAnswers = { [Name in RouteName]: z.output<(typeof routeAnswers)[Name]> }
