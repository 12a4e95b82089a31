import type { ErrorTable } from '#base/errors.ts'

export const approvalsErrors = {
  approval_required: { status: 202, exit: 'needsApproval' },
  approval_denied: { status: 403, exit: 'denied' },
  approval_expired: { status: 410, exit: 'expired' },
  approval_withdrawn: { status: 410, exit: 'failed' },
  approval_running: { status: 409, exit: 'failed' },
  already_decided: { status: 409, exit: 'notFound' },
  nothing_to_undo: { status: 409, exit: 'notFound' },
  token_refused: { status: 403, exit: 'failed' },
  quorum_same_person: { status: 409, exit: 'denied' },
  quorum_edit: { status: 409, exit: 'denied' },
  quorum_allow: { status: 409, exit: 'denied' },
  redacted_edit: { status: 422, exit: 'failed' },
  arguments_gone: { status: 410, exit: 'failed' },
  arguments_changed: { status: 409, exit: 'failed' },
  result_gone: { status: 410, exit: 'failed' },
  result_too_large: { status: 422, exit: 'failed' },
  result_unreadable: { status: 500, exit: 'failed' },
  too_many_requests: { status: 429, exit: 'failed' },
  halted: { status: 403, exit: 'denied' },
  unknown_agent: { status: 404, exit: 'failed' },
  unknown_domain: { status: 404, exit: 'failed' },
  unknown_server: { status: 404, exit: 'failed' },
  unknown_channel: { status: 404, exit: 'notFound' },
  delivery_not_dead: { status: 409, exit: 'failed' },
  nothing_to_send: { status: 409, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof approvalsErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
