import type { ErrorTable } from '#base/errors.ts'

/** The error codes of this module (0038). */
export const workErrors = {
  auth_required: { status: 401, exit: 'failed' },
  project_unknown: { status: 404, exit: 'notFound' },
  stale_rev: { status: 409, exit: 'expired' },
  stale_fence: { status: 409, exit: 'expired' },
  lease_held: { status: 409, exit: 'denied' },
  not_claimed: { status: 409, exit: 'notFound' },
  already_done: { status: 409, exit: 'notFound' },
  not_open: { status: 409, exit: 'denied' },
  open_stories: { status: 409, exit: 'denied' },
  dependency_open: { status: 409, exit: 'denied' },
  dependency_cycle: { status: 422, exit: 'usage' },
  duplicate_id: { status: 409, exit: 'usage' },
  invalid_id: { status: 422, exit: 'usage' },
  path_outside_repo: { status: 403, exit: 'denied' },
  work_file_broken: { status: 409, exit: 'failed' },
  vault_blocked: { status: 409, exit: 'failed' },
  data_root_busy: { status: 503, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof workErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
