import type { ErrorTable } from '#base/errors.ts'

/** The error codes of this module (0038). */
export const governanceErrors = {
  policy_blocked: { status: 403, exit: 'denied' },
  policy_conflict: { status: 409, exit: 'failed' },
  policy_changed: { status: 409, exit: 'expired' },
  policy_invalid: { status: 400, exit: 'usage' },
  policy_needed: { status: 422, exit: 'usage' },
  policy_unreadable: { status: 503, exit: 'failed' },
  would_lock_out: { status: 409, exit: 'denied' },
  override_needed: { status: 422, exit: 'usage' },
  answer_needed: { status: 422, exit: 'usage' },
  proposal_mismatch: { status: 409, exit: 'usage' },
  idempotency_conflict: { status: 409, exit: 'failed' },
  count_differs: { status: 409, exit: 'expired' },
  permission_ended: { status: 409, exit: 'failed' },
  invalid_domain: { status: 400, exit: 'failed' },
  VOLUME_CAP_EXCEEDED: { status: 429, exit: 'denied' },
  TOOL_BUDGET_EXCEEDED: { status: 429, exit: 'denied' },
  CIRCUIT_OPEN: { status: 429, exit: 'denied' },
} as const satisfies ErrorTable

type Declared = typeof governanceErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
