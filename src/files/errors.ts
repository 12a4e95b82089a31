import type { ErrorTable } from '#base/errors.ts'

/** The error codes of this module (0038). */
export const filesErrors = {
  invalid_path: { status: 400, exit: 'usage' },
  path_traversal: { status: 400, exit: 'usage' },
  path_escape: { status: 403, exit: 'denied' },
  no_grant: { status: 403, exit: 'denied' },
  read_only_grant: { status: 403, exit: 'denied' },
  forbidden_path: { status: 403, exit: 'denied' },
  forbidden_extension: { status: 403, exit: 'denied' },
  hard_link: { status: 403, exit: 'denied' },
  no_permission: { status: 403, exit: 'failed' },
  read_only_disk: { status: 403, exit: 'failed' },
  not_regular: { status: 422, exit: 'failed' },
  not_a_folder: { status: 422, exit: 'usage' },
  is_a_folder: { status: 422, exit: 'usage' },
  not_text: { status: 422, exit: 'failed' },
  unknown_encoding: { status: 422, exit: 'failed' },
  ambiguous_edit: { status: 422, exit: 'failed' },
  no_match: { status: 422, exit: 'failed' },
  invalid_query: { status: 422, exit: 'failed' },
  invalid_glob: { status: 422, exit: 'failed' },
  other_device: { status: 422, exit: 'failed' },
  cloud_placeholder: { status: 422, exit: 'failed' },
  unreadable: { status: 422, exit: 'failed' },
  exists: { status: 409, exit: 'failed' },
  root_replaced: { status: 409, exit: 'expired' },
  denied_above: { status: 409, exit: 'failed' },
  narrower_grant: { status: 409, exit: 'failed' },
  session_ended: { status: 409, exit: 'failed' },
  config_overruled: { status: 409, exit: 'failed' },
  disk_full: { status: 507, exit: 'failed' },
  workspace_missing: { status: 500, exit: 'failed' },
  workspace_unusable: { status: 500, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof filesErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
