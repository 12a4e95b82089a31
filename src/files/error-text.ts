import { CoworkError } from '#base/errors.ts'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import type { FileErrorCode } from './model.ts'
import type { ResolvedPath } from './path-resolver.ts'
import { mutatingOps } from './worker/protocol.ts'
import type { Op } from './worker/protocol.ts'

type GrantErrorCode = 'no_grant' | 'read_only_grant' | 'root_replaced'

/** The next step for an agent (FT10). */
const hints: Readonly<Record<Exclude<FileErrorCode, GrantErrorCode>, string>> = {
  invalid_path: 'Use a path in the workspace, or the full path of a grant.',
  path_traversal: 'Use the path without "..".',
  path_escape: 'Use the path of the file itself, inside the workspace or a grant.',
  forbidden_path: 'No grant can open this path. Continue without it, or tell the user.',
  forbidden_extension: 'Use another extension, or ask a person to create the file.',
  too_large: 'Request a smaller part.',
  not_regular: 'Use a regular file or a folder.',
  hard_link: 'Ask a person to allow hard links in the grant.',
  exists: 'Change the file with update_file, or choose another name.',
  not_found: 'List the folder with list_files, or search with search_files.',
  not_a_folder: 'Use the path of a folder.',
  is_a_folder: 'Use the path of a file; list_files lists a folder.',
  stale: 'The file changed. Call read_file again, then repeat the change.',
  ambiguous_edit: 'Add surrounding text to `old` so that it occurs once.',
  no_match: 'Call read_file again and copy `old` exactly.',
  not_text:
    'Write a new file instead. To replace text in another encoding, call create_file with overwrite and encoding utf-8.',
  unknown_encoding: 'Omit encoding for utf-8, or use an encoding such as windows-1252.',
  invalid_query: 'Change the query, or omit the cursor.',
  other_device: 'Request a separate grant for the mounted volume.',
  cloud_placeholder: 'Ask a person to download the file first.',
  disk_full: 'Ask a person to free disk space. Nothing was changed.',
  read_only_disk: 'Write to the workspace instead.',
  no_permission: 'Ask a person to change the file permissions.',
  unreadable: 'Retry once, then ask a person to check the file.',
  timeout: 'Retry with a smaller request.',
  interrupted: 'Check whether the change was made; repeat the call if it was not.',
  cancelled: 'Repeat the call if it is still needed.',
}

const tooLargeToChange = 'Write a new file, or ask a person to change this one.'

/** Hints that depend on the operation. */
const opHints: Partial<Record<Op, Partial<Record<FileErrorCode, string>>>> = {
  read: {
    too_large:
      'Read a part with line_from and line_to or byte_from and byte_to. For a document, ask a person for a part.',
    not_text: 'Omit head, tail and lines.',
    unreadable: 'Ask a person to check the file, or for another format.',
    timeout: 'Ask a person for another format, or for a part.',
  },
  diff: {
    too_large: 'Compare parts with read_file.',
    not_text: 'Check the file types with read_file.',
  },
  write: { too_large: tooLargeToChange },
  edit: { too_large: tooLargeToChange },
  restoreVersion: { too_large: tooLargeToChange },
  copy: { too_large: 'Ask a person to copy the file.' },
  restore: { not_found: 'List the trash with trash_list.' },
}

export const hasCode = (error: unknown, ...codes: readonly FileErrorCode[]): error is CoworkError =>
  error instanceof CoworkError && codes.some((code) => code === error.code)

export const requestHint = (path: string, permission: 'read' | 'read-write'): string =>
  `Call request_grant ${toSafeJson({ path, permission, reason: '…' })}; a person decides.`

function hintFor(code: FileErrorCode, path: string): string {
  if (code === 'no_grant' || code === 'root_replaced') return requestHint(path, 'read')
  return code === 'read_only_grant' ? requestHint(path, 'read-write') : hints[code]
}

const noAccess = 'No access. Call request_grant() first.'

/** The next step for a person, who can grant the path. */
export const grantHint = (path: string, toWrite: boolean, isLinked = false): string =>
  `Grant access with \`cowork grants add ${sanitizeText(path, 300)}${toWrite ? ' --permission read-write' : ''}${isLinked ? ' --hard-links' : ''} --until 10m\`, or under Files in the console.`

/** Creates an error with a hint (FT10). */
export function fileError(
  code: FileErrorCode,
  path: string,
  message?: string,
  hint = hintFor(code, path),
): CoworkError {
  const defaultMessage = code === 'no_grant' ? noAccess : `Cannot use ${sanitizeText(path, 300)}.`
  return new CoworkError(code, message ?? defaultMessage, { hint, details: { path } })
}

type About = Pick<ResolvedPath, 'at' | 'path'>

export function explainWorkerError(
  error: unknown,
  op: Op,
  targets: readonly About[],
  isPerson = false,
): unknown {
  if (!(error instanceof CoworkError)) return error
  const { message, details } = error
  const code = error.code as FileErrorCode
  const paths = findMeantPaths(code, details['path'], targets)
  // An invalid query or an unknown trash id concerns no path.
  const isNowhere = code === 'invalid_query' || (op === 'restore' && code === 'not_found')
  const named = isNowhere ? [] : paths
  const parts = [named.map((path) => sanitizeText(path, 300)).join(', '), message]
  return fileError(
    code,
    paths[0] ?? '',
    code === 'no_grant' ? undefined : parts.filter(Boolean).join(': '),
    isPerson && (code === 'root_replaced' || code === 'hard_link')
      ? grantHint(paths[0] ?? '', mutatingOps.has(op), code === 'hard_link')
      : (error.hint ?? opHints[op]?.[code]),
  )
}

/** Finds the targets that the worker means by a path below a root; returns up to two if it names none. */
function findMeantPaths(code: FileErrorCode, fault: unknown, targets: readonly About[]): string[] {
  const isAt = ({ at }: About) => at.path === fault
  const isNear = ({ at: { path } }: About) =>
    typeof fault === 'string' &&
    (`${fault}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${fault}/`))
  const found =
    [targets.filter(isAt), targets.filter(isNear), targets].find(({ length }) => length > 0) ?? []
  // The destination is the last target.
  return (code === 'exists' ? found.slice(-1) : found.slice(0, 2)).map(({ path }) => path)
}
