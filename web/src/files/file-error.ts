type Problem = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}
type ErrorText = { readonly message?: string; readonly hint: string }

/** Texts for people: the hints of the tools are for agents. */
const texts: Readonly<Record<string, ErrorText>> = {
  no_grant: {
    message: 'No grant covers this path.',
    hint: 'Grant access under Grants, or open the workspace.',
  },
  read_only_grant: {
    hint: 'Grant read and write under Grants, or copy the file into the workspace.',
  },
  root_replaced: { hint: 'Check the path, then grant access again under Grants.' },
  forbidden_path: { hint: 'Protected path: no grant can open it.' },
  forbidden_extension: { hint: 'Choose another extension.' },
  path_traversal: { hint: 'Open the path from the workspace or from a grant.' },
  path_escape: {
    hint: 'The link leads outside the workspace and the grants. Open its target.',
  },
  not_found: {
    message: 'Not found.',
    hint: 'Check the trash for deleted files.',
  },
  exists: { hint: 'Choose another name.' },
  not_a_folder: { hint: 'Open the file from its folder.' },
  is_a_folder: { hint: 'Open the folder from its parent folder.' },
  not_regular: { hint: 'Choose a file or folder, not a link or a device.' },
  hard_link: { hint: 'The file has another hard link. Allow hard links in the grant.' },
  stale: { hint: 'The file changed. Reload it.' },
  invalid_query: { hint: 'Change the search.' },
  other_device: { hint: 'Grant access to the mounted volume.' },
  cloud_placeholder: { hint: 'Download the file from your cloud storage first.' },
  disk_full: { hint: 'Free disk space, then retry. Nothing was changed.' },
  read_only_disk: { hint: 'Use a disk that is not read-only.' },
  no_permission: { hint: 'Give the account that runs cowork permission.' },
  unreadable: { hint: 'Retry, or open the file outside cowork.' },
  timeout: { hint: 'Retry.' },
  too_large: { hint: 'Open the file outside cowork.' },
}

/** Texts that depend on the tool. */
const toolTexts: Readonly<Record<string, Readonly<Record<string, ErrorText>>>> = {
  read_file: {
    too_large: {
      message: 'The file is too large to preview.',
      hint: 'Open the file outside cowork.',
    },
  },
}

export const toPersonError = (tool: string, problem: Problem): Problem => ({
  ...problem,
  ...(toolTexts[tool]?.[problem.code] ?? texts[problem.code]),
})
