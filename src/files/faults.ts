import { CoworkError } from '#base/errors.ts'
import { plainText } from '#base/plain.ts'
import type { FileFaultCode } from './model.ts'

/** What an agent can do next (FT10). */
const hints: Partial<Record<FileFaultCode, string>> = {
  invalid_path: 'Give a path in the workspace, or the full path of what was granted.',
  path_traversal: 'Give the path without "..".',
  path_escape: 'Give the path of the file itself, inside the workspace or a grant.',
  read_only_grant: 'Ask for read-write with request_grant().',
  forbidden_path: 'No grant opens it. Work without it, or ask a person.',
  too_large: 'Read a part of it with line_from and line_to or byte_from and byte_to; write less.',
  not_regular: 'Only plain files and folders can be used.',
  hard_link: 'A person can allow files with a second name in the grant.',
  exists: 'Choose another name, or change what is there with update_file.',
  not_found: 'list_files and search_files show what is there.',
  not_a_folder: 'Give the path of a folder.',
  is_a_folder: 'Give the path of a file; list_files shows what is in a folder.',
  stale: 'It was changed since. Read it again, then repeat the change.',
  ambiguous_edit: 'Give more of the text around it, so that it is found once.',
  no_match: 'Read the file again and give the text exactly as it stands there.',
  not_text: 'Edits are for text. Replace the whole file with content.',
  root_replaced: 'A person has to look at it and grant it anew.',
  other_device: 'What is mounted inside a folder needs a grant of its own.',
  cloud_placeholder: 'Ask a person to download it first.',
  disk_full: 'Ask a person to make room. Nothing was changed.',
  read_only_disk: 'Write to the workspace instead.',
  no_permission: 'Ask a person to change its permissions.',
  timeout: 'Try again with less at once.',
  interrupted: 'Look whether it was done, then repeat it if it was not.',
}

const noAccess = 'No access. Call request_grant() first.'

/** A refusal in the words of FT10, with the next step. */
export function fileFault(
  code: FileFaultCode,
  path: string,
  message?: string,
  hint = hints[code],
): CoworkError {
  const shown = plainText(path, 300)
  const said = code === 'no_grant' ? noAccess : (message ?? `${shown} cannot be used.`)
  return new CoworkError(code, said, { ...(hint && { hint }), details: { path } })
}

/** What the worker answered, with the path that was asked for and the next step. */
export function explained(error: unknown, path: string): unknown {
  if (!(error instanceof CoworkError)) return error
  const { code, message } = error
  return fileFault(code as FileFaultCode, path, `${plainText(path, 300)}: ${message}`, error.hint)
}
