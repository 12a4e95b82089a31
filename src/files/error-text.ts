import { CoworkError } from '#base/errors.ts'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import type { FileErrorCode } from './model.ts'
import type { ResolvedPath } from './path-resolver.ts'
import { mutatingOps } from './worker/protocol.ts'
import type { Op } from './worker/protocol.ts'

type GrantFaultCode = 'no_grant' | 'read_only_grant' | 'root_replaced'

/** What an agent can do next (FT10). */
const hints: Readonly<Record<Exclude<FileErrorCode, GrantFaultCode>, string>> = {
  invalid_path: 'Give a path in the workspace, or the full path of what was granted.',
  path_traversal: 'Give the path without "..".',
  path_escape: 'Give the path of the file itself, inside the workspace or a grant.',
  forbidden_path: 'No grant opens it. Work without it, or tell the user.',
  forbidden_extension: 'Choose a name with another extension, or ask a person to make the file.',
  too_large: 'Ask for less at once.',
  not_regular: 'Only plain files and folders can be used.',
  hard_link: 'A person can allow files with a second name in the grant.',
  exists: 'Change it with update_file, or choose another name.',
  not_found: 'See what is there with list_files or search_files.',
  not_a_folder: 'Give the path of a folder.',
  is_a_folder: 'Give the path of a file; list_files shows what is in a folder.',
  stale: 'It was changed since. Call read_file again, then repeat the change.',
  ambiguous_edit: 'Give more of the text around it in `old`, so that it is found once.',
  no_match: 'Call read_file again and copy `old` exactly as it stands there.',
  not_text:
    'Write a new file beside it. A text in another encoding is written anew by create_file with overwrite and encoding utf-8.',
  unknown_encoding: 'Leave out encoding for utf-8, or name one such as windows-1252.',
  invalid_query: 'Change the query, or leave out the cursor.',
  other_device: 'What is mounted inside a folder needs a grant of its own.',
  cloud_placeholder: 'Ask a person to download it first.',
  disk_full: 'Ask a person to make room. Nothing was changed.',
  read_only_disk: 'Write to the workspace instead.',
  no_permission: 'Ask a person to change its permissions.',
  unreadable: 'Try once more; if it stays so, ask a person to look at the file.',
  timeout: 'Try again with less at once.',
  interrupted: 'Look whether it was done, then repeat it if it was not.',
  cancelled: 'Call it again if it is still wanted.',
}

const tooLargeToChange = 'Write to a new name; a person has to change a file of this size.'

/** Where the next step depends on what was being done. */
const hintsOf: Partial<Record<Op, Partial<Record<FileErrorCode, string>>>> = {
  read: {
    too_large:
      'Read a part of it with line_from and line_to or byte_from and byte_to; of a document that large ask a person for a part.',
    not_text: 'Leave out head, tail and lines: it has none.',
    unreadable:
      'It may be damaged, locked or gone: ask a person to look, or for it in another form.',
    timeout: 'Ask a person for it in another form, or in parts.',
  },
  diff: {
    too_large: 'Compare what read_file gives of parts of them.',
    not_text: 'read_file shows of each what it is.',
  },
  write: { too_large: tooLargeToChange },
  edit: { too_large: tooLargeToChange },
  restoreVersion: { too_large: tooLargeToChange },
  copy: { too_large: 'Ask a person to copy it.' },
  restore: { not_found: 'trash_list names what is there.' },
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

/** The next step of a person: it is theirs to open. */
export const grantHint = (path: string, toWrite: boolean, isLinked = false): string =>
  `Open it for a while with \`cowork grants add ${sanitizeText(path, 300)}${toWrite ? ' --permission read-write' : ''}${isLinked ? ' --hard-links' : ''} --until 10m\`, or under Files in the console.`

/** A refusal in the words of FT10, with the next step. */
export function fileError(
  code: FileErrorCode,
  path: string,
  message?: string,
  hint = hintFor(code, path),
): CoworkError {
  const usual = code === 'no_grant' ? noAccess : `${sanitizeText(path, 300)} cannot be used.`
  return new CoworkError(code, message ?? usual, { hint, details: { path } })
}

type About = Pick<ResolvedPath, 'at' | 'path'>

export function explainWorkerError(
  error: unknown,
  op: Op,
  about: readonly About[],
  isPerson = false,
): unknown {
  if (!(error instanceof CoworkError)) return error
  const { message, details } = error
  const code = error.code as FileErrorCode
  const paths = meant(code, details['path'], about)
  // A query is wrong wherever it looks, and what is not in the trash is missing there.
  const isNowhere = code === 'invalid_query' || (op === 'restore' && code === 'not_found')
  const named = isNowhere ? [] : paths
  const said = [named.map((path) => sanitizeText(path, 300)).join(', '), message]
  return fileError(
    code,
    paths[0] ?? '',
    code === 'no_grant' ? undefined : said.filter(Boolean).join(': '),
    isPerson && (code === 'root_replaced' || code === 'hard_link')
      ? grantHint(paths[0] ?? '', mutatingOps.has(op), code === 'hard_link')
      : (error.hint ?? hintsOf[op]?.[code]),
  )
}

/** Which of them the worker means by a path below a root; both of two where it does not say. */
function meant(code: FileErrorCode, fault: unknown, about: readonly About[]): string[] {
  const isAt = ({ at }: About) => at.path === fault
  const isNear = ({ at: { path } }: About) =>
    typeof fault === 'string' &&
    (`${fault}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${fault}/`))
  const found =
    [about.filter(isAt), about.filter(isNear), about].find(({ length }) => length > 0) ?? []
  // What comes to a place is asked for last.
  return (code === 'exists' ? found.slice(-1) : found.slice(0, 2)).map(({ path }) => path)
}
