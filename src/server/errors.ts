import type { ErrorTable } from '#base/errors.ts'

export const serverErrors = {
  host_refused: { status: 403, exit: 'denied' },
  origin_refused: { status: 403, exit: 'denied' },
  secret_in_url: { status: 400, exit: 'failed' },
  json_expected: { status: 415, exit: 'failed' },
  invalid_json: { status: 400, exit: 'failed' },
  method_not_allowed: { status: 405, exit: 'failed' },
  header_mismatch: { status: 400, exit: 'failed' },
  handshake_invalid: { status: 400, exit: 'failed' },
  unknown_parameter: { status: 400, exit: 'failed' },
  unknown_toolset: { status: 404, exit: 'failed' },
  unknown_session: { status: 404, exit: 'failed' },
  session_missing: { status: 400, exit: 'failed' },
  too_many_calls: { status: 429, exit: 'failed' },
  too_many_sessions: { status: 503, exit: 'failed' },
  too_many_listeners: { status: 503, exit: 'failed' },
  shutting_down: { status: 503, exit: 'failed' },
  verify_running: { status: 409, exit: 'failed' },
  verify_failed: { status: 500, exit: 'failed' },
  bind_refused: { status: 500, exit: 'failed' },
  port_taken: { status: 500, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof serverErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
