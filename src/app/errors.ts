import { baseErrors } from '#base/errors.ts'
import type { ErrorTable } from '#base/errors.ts'
import { modules } from './modules.ts'

/** The error codes of all modules. */
export const errorTable: ErrorTable = Object.fromEntries(
  [baseErrors, ...modules.map(({ errors }) => errors)].flatMap((table) => Object.entries(table)),
)

/**
 * Returns the HTTP status of an error code; 422 for an undeclared code, such as one of an upstream
 * tool.
 */
export const toHttpStatus = (code: string): number => errorTable[code]?.status ?? 422
