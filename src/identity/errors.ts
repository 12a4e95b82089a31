import type { ErrorTable } from '#base/errors.ts'

/** The error codes of this module (0038). */
export const identityErrors = {
  auth_error: { status: 401, exit: 'auth' },
  too_many_attempts: { status: 429, exit: 'auth' },
  person_token_on_mcp: { status: 403, exit: 'failed' },
  human_required: { status: 403, exit: 'auth' },
  agent_required: { status: 403, exit: 'auth' },
  role_required: { status: 403, exit: 'auth' },
  scope_missing: { status: 403, exit: 'denied' },
  passkey_required: { status: 403, exit: 'auth' },
  passkey_refused: { status: 403, exit: 'failed' },
  passkey_exists: { status: 409, exit: 'failed' },
  session_required: { status: 403, exit: 'failed' },
  invalid_agent_id: { status: 400, exit: 'usage' },
  agent_exists: { status: 409, exit: 'failed' },
  agent_read_only: { status: 409, exit: 'failed' },
  agent_revoked: { status: 409, exit: 'failed' },
  last_owner: { status: 409, exit: 'failed' },
  unknown_link: { status: 401, exit: 'failed' },
  used_link: { status: 410, exit: 'failed' },
  expired_link: { status: 410, exit: 'failed' },
  void_link: { status: 410, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof identityErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
