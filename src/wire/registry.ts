import type * as z from 'zod'
import { approvalResults } from '#approvals/wire.ts'
import { dispatchResults } from '#dispatch/wire.ts'
import { fileResults } from '#files/wire.ts'
import { gatewayAnswers, gatewayResults } from '#gateway/wire.ts'
import { governanceResults, inboxAnswers } from '#governance/wire.ts'
import { identityAnswers, identityResults } from '#identity/wire.ts'
import { ledgerAnswers, ledgerResults } from '#ledger/wire.ts'
import { serverAnswers } from '#server/wire.ts'
import { workResults } from '#work/wire.ts'

/**
 * JSON has no undefined: an optional field has a value or is absent. A type of arbitrary JSON
 * stays unchanged.
 */
type FromJson<T> = [z.core.util.JSONType] extends [T]
  ? T
  : T extends object
    ? { [Key in keyof T]: FromJson<Exclude<T[Key], undefined>> }
    : T

/** The output schema of each tool, by tool name. */
export const toolResults = {
  ...ledgerResults,
  ...identityResults,
  ...approvalResults,
  ...governanceResults,
  ...fileResults,
  ...workResults,
  ...gatewayResults,
  ...dispatchResults,
}
export type ToolName = keyof typeof toolResults
export type ToolResults = { [Name in ToolName]: FromJson<z.output<(typeof toolResults)[Name]>> }

/**
 * The schema of each JSON response of the REST API, by method and path as in `docs/openapi.json`.
 */
export const routeAnswers = {
  ...serverAnswers,
  ...identityAnswers,
  ...ledgerAnswers,
  ...inboxAnswers,
  ...gatewayAnswers,
}
type RouteName = keyof typeof routeAnswers
export type RouteAnswers = { [Name in RouteName]: FromJson<z.output<(typeof routeAnswers)[Name]>> }
