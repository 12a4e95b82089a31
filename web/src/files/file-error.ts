type Problem = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}
type Words = { readonly message?: string; readonly hint: string }

/** The tools speak to agents, of tools to call next; here a person reads, and has a screen. */
const words: Readonly<Record<string, Words>> = {
  no_grant: {
    message: 'No grant opens it.',
    hint: 'Grant it under Grants; what agents make lies in the workspace.',
  },
  read_only_grant: { hint: 'Grant it read-write under Grants, or copy it into the workspace.' },
  root_replaced: { hint: 'Look at what lies there now, then grant it anew under Grants.' },
  forbidden_path: { hint: 'It is closed for cowork, whatever is granted.' },
  forbidden_extension: { hint: 'Give it another extension.' },
  path_traversal: { hint: 'Go there from the workspace or from its grant.' },
  path_escape: {
    hint: 'It leads out of the workspace and of what is granted. Open it where it lies.',
  },
  not_found: {
    message: 'Nothing is there.',
    hint: 'It was moved, renamed or deleted. What was deleted is in the trash for a while.',
  },
  exists: { hint: 'Choose another name.' },
  not_a_folder: { hint: 'It is a file: open it from the folder around it.' },
  is_a_folder: { hint: 'It is a folder: open it from the one around it.' },
  not_regular: { hint: 'It is neither a file nor a folder, but a link or a device.' },
  hard_link: { hint: 'It has a second name elsewhere. A grant can be made to allow that.' },
  stale: { hint: 'It was changed meanwhile. Look at it again.' },
  invalid_query: { hint: 'Change what you look for.' },
  other_device: { hint: 'What is mounted there needs a grant of its own.' },
  cloud_placeholder: { hint: 'Download it first, where your files are synchronised.' },
  disk_full: { hint: 'Make room, then try again. Nothing was changed.' },
  read_only_disk: { hint: 'The disk cannot be written to.' },
  no_permission: { hint: 'Give the account that runs cowork the right to it.' },
  unreadable: { hint: 'It may be damaged or locked. Try again, or open it on your own disk.' },
  timeout: { hint: 'It took too long. Try again.' },
  too_large: { hint: 'Use it on your own disk.' },
}

/** Where what was done makes a difference. */
const ofTools: Readonly<Record<string, Readonly<Record<string, Words>>>> = {
  read_file: {
    too_large: { message: 'It is too large to be shown.', hint: 'Open it on your own disk.' },
  },
}

export const toPersonError = (tool: string, problem: Problem): Problem => ({
  ...problem,
  ...(ofTools[tool]?.[problem.code] ?? words[problem.code]),
})
