import { CoworkError, messageOf } from '#base/errors.ts'

/** What a script learns from the exit code alone (K3). */
export const exitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  denied: 5,
  needsApproval: 6,
  expired: 7,
  notRunning: 8,
  timeout: 124,
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** Error codes by what the caller can do about them; a code that is in no row has simply failed. */
const codesOf: readonly (readonly [ExitCode, readonly string[]])[] = [
  [
    exitCode.usage,
    [
      'usage',
      'invalid_input',
      'invalid_agent_id',
      'unknown_tools',
      'empty_selection',
      'vkey_invalid',
      'ambiguous_id',
      'config_invalid',
      'env_file_invalid',
      'env_file_unreadable',
      'unknown_tools',
      'empty_selection',
      'override_needed',
      'policy_needed',
      'proposal_mismatch',
      'answer_needed',
      'policy_invalid',
      'invalid_path',
      'path_traversal',
      'not_a_folder',
      'is_a_folder',
      'invalid_id',
      'duplicate_id',
      'dependency_cycle',
    ],
  ],
  [
    exitCode.notFound,
    [
      'not_found',
      'unknown_tool',
      'unknown_channel',
      'already_decided',
      'nothing_to_undo',
      'project_unknown',
      'already_done',
      'not_claimed',
    ],
  ],
  [
    exitCode.auth,
    [
      'auth_error',
      'too_many_attempts',
      'human_required',
      'agent_required',
      'owner_token_unsafe',
      'role_required',
      'passkey_required',
    ],
  ],
  [
    exitCode.denied,
    [
      'denied',
      'scope_missing',
      'halted',
      'host_refused',
      'origin_refused',
      'policy_blocked',
      'approval_denied',
      'VOLUME_CAP_EXCEEDED',
      'TOOL_BUDGET_EXCEEDED',
      'CIRCUIT_OPEN',
      'would_lock_out',
      'quorum_same_person',
      'quorum_edit',
      'quorum_allow',
      'no_grant',
      'read_only_grant',
      'forbidden_path',
      'forbidden_extension',
      'path_escape',
      'hard_link',
      'path_outside_repo',
      'lease_held',
      'open_stories',
      'dependency_open',
      'not_open',
    ],
  ],
  [exitCode.needsApproval, ['needs_approval', 'approval_required', 'waiting']],
  [
    exitCode.expired,
    // What was looked at is not what is there any more.
    [
      'expired',
      'approval_expired',
      'hash_mismatch',
      'plan_changed',
      'policy_changed',
      'count_differs',
      'stale',
      'root_replaced',
      'stale_rev',
      'stale_fence',
    ],
  ],
  [exitCode.notRunning, ['daemon_not_running']],
  [exitCode.timeout, ['timeout']],
  [exitCode.interrupted, ['interrupted']],
]

const byErrorCode = new Map(codesOf.flatMap(([exit, codes]) => codes.map((code) => [code, exit])))

export const exitCodeOf = (error: unknown): ExitCode =>
  (error instanceof CoworkError && byErrorCode.get(error.code)) || exitCode.failed

export type Problem = { code: string; message: string; hint?: string }

/** An error as people read it. What the system refused needs no stack; a bug does. */
export function problemOf(error: unknown): Problem {
  if (error instanceof CoworkError) {
    const { code, message, hint } = error
    return { code, message, ...(hint && { hint }) }
  }
  if (isFull(error))
    return { code: 'enospc', message: `There is no room: ${error.message}.`, hint: makeRoom }
  if (isSystemError(error)) {
    const hint = hints[error.code]
    return { code: error.code.toLowerCase(), message: error.message, ...(hint && { hint }) }
  }
  const message = error instanceof Error && error.stack ? error.stack : messageOf(error)
  return { code: 'internal', message: `This is a fault in cowork. ${message}` }
}

export const usage = (message: string, hint?: string): CoworkError =>
  new CoworkError('usage', message, hint ? { hint } : {})

const makeRoom = 'Make room and try again; `cowork doctor` says where, and how much there is.'

const hints: Readonly<Record<string, string>> = {
  ENOENT: 'Check that path: it is not there, or cannot be made there.',
  ENOTDIR: 'Check that path: a file stands where a folder is needed.',
  EACCES: 'Check who may read and write there.',
  EPERM: 'Check who may read and write there.',
  EROFS: 'Nothing can be written there: choose another place, such as with --state.',
  ENOSPC: makeRoom,
}

const sqliteFull = 13

const isFull = (error: unknown): error is Error =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteFull

/** What the operating system said no to, such as EACCES: it has a code and a number. */
const isSystemError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'errno' in error && 'code' in error && typeof error.code === 'string'
