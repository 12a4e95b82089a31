import type { ErrorTable } from '#base/errors.ts'

/** The error codes of this module (0038). */
export const gatewayErrors = {
  server_unknown: { status: 404, exit: 'notFound' },
  server_exists: { status: 409, exit: 'usage' },
  server_settings_invalid: { status: 422, exit: 'usage' },
  server_unavailable: { status: 503, exit: 'failed' },
  server_timeout: { status: 504, exit: 'failed' },
  server_error: { status: 502, exit: 'failed' },
  tool_unknown: { status: 404, exit: 'notFound' },
} as const satisfies ErrorTable

type Declared = typeof gatewayErrors
declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
