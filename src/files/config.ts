import * as z from 'zod'
import { cron, duration, filePath, nonEmptyString, integer } from '#base/config/field-types.ts'

const workspace = z
  .strictObject({
    path: filePath
      .default('~/Downloads/AI-Workspace/')
      .describe('Folder agents may always read and write. Default ~/Downloads/AI-Workspace/.'),
    create_if_missing: z
      .boolean()
      .default(true)
      .describe('Make the folder when it is not there; otherwise start is refused. Default true.'),
    structure: z
      .array(
        nonEmptyString('a folder inside the workspace', /^(?![/~\\])(?!(.*\/)?\.\.(\/|$))[^\0]+$/),
      )
      .default([
        'Documents/reports/',
        'Documents/notes/',
        'Documents/drafts/',
        'Code/python/',
        'Code/bash/',
        'Code/other/',
        'Research/summaries/',
        'Research/sources/',
        'Spreadsheets/',
        'temp/',
      ])
      .describe('Folders made in the workspace on first start.'),
  })
  .prefault({})
  .describe('The folder of the agents’ own.')

const scope = z.enum(['session', 'permanent'])

const grant = z.strictObject({
  path: filePath.describe('File or folder.'),
  permission: z
    .enum(['read', 'read-write', 'write'])
    .describe('`write` creates new files only and sees nothing that is there.'),
  scope: scope
    .optional()
    .describe('`session` ends with the session. Default grants.default_scope.'),
  expires_at: z.iso
    .datetime({ offset: true, error: 'an RFC 3339 time such as 2027-01-31T00:00:00Z' })
    .optional()
    .describe('When the grant ends by itself. Default: never.'),
  hard_links: z
    .boolean()
    .default(false)
    .describe(
      'Allow reading files that have a second hard link, perhaps outside the folder. Default false.',
    ),
})

const grantsObject = z.strictObject({
  database: filePath
    .optional()
    .describe(
      'A grants.db to import at start and keep as a written copy. The truth is in the control plane.',
    ),
  default_scope: scope
    .default('permanent')
    .describe('Scope of a grant that names none. Default permanent.'),
  entries: z.array(grant).default([]).describe('Grants made at start for every agent.'),
})

const grants = z
  .union([z.array(grant), grantsObject], 'a list or a mapping')
  .transform((given) => {
    const it = Array.isArray(given) ? grantsObject.parse({ entries: [] }) : given
    const entries = Array.isArray(given) ? given : given.entries
    return {
      ...it,
      entries: entries.map((one) => ({ ...one, scope: one.scope ?? it.default_scope })),
    }
  })
  .prefault({})
  .describe(
    'Folders of the user that agents may enter: a list of grants, or an object with `entries`.',
  )

const extensionForm = /^(\.[\w.+-]+)(?: \(unless in ([^()]+)\))?$/

const security = z
  .strictObject({
    forbidden_paths: z
      .array(filePath)
      .default([])
      .describe(
        'Paths closed even with a grant, besides the built-in ones, which cannot be removed.',
      ),
    forbidden_extensions_create: z
      .array(
        nonEmptyString(
          'an extension such as .exe or ".sh (unless in Code/bash/)"',
          extensionForm,
        ).transform((given) => {
          const [, extension = given, unlessIn] = extensionForm.exec(given) ?? []
          return {
            extension: extension.toLowerCase(),
            ...(unlessIn ? { unless_in: unlessIn } : {}),
          }
        }),
      )
      .prefault(['.exe', '.sh (unless in Code/bash/)', '.bat', '.ps1'])
      .describe(
        'Extensions no tool may create; the form `.sh (unless in Code/bash/)` leaves one folder open.',
      ),
    max_file_size_mb: integer(1)
      .default(50)
      .describe('Largest file that tools create, change or copy, in MB. Default 50.'),
    max_binary_read_mb: integer(1)
      .default(10)
      .describe('Largest binary file read in one piece, in MB. Default 10.'),
    sensitive_patterns: z
      .array(nonEmptyString('a glob'))
      .default(['**/credentials*', '**/secret*', '**/*.pem', '**/*.key'])
      .describe(
        'Globs of files that are read with a warning, written as high risk and never shown in previews.',
      ),
  })
  .prefault({})
  .describe('Limits that no grant lifts.')

const cleanup = z
  .strictObject({
    temp_retention_days: integer(1)
      .default(7)
      .describe('Age at which files in temp/ go to the trash, in days. Default 7.'),
    run_schedule: cron
      .default('0 2 * * *')
      .describe('When the clean-up runs, as cron in local time. Default 0 2 * * *.'),
    notify_before_delete: z
      .boolean()
      .default(false)
      .describe('List what would go one run earlier, with a way to keep it. Default false.'),
  })
  .prefault({})
  .describe('Clean-up of temporary files.')

const versions = z
  .strictObject({
    retention: duration.prefault('30d').describe('How long a change can be undone. Default 30d.'),
    max_per_file: integer(1).default(50).describe('Versions kept of one file. Default 50.'),
    max_total_gb: integer(1)
      .default(5)
      .describe('Size of all versions together, in GB. Default 5.'),
  })
  .prefault({})
  .describe('Earlier contents of changed files.')

const trash = z
  .strictObject({
    retention: duration
      .prefault('30d')
      .describe('How long a deleted file can be restored. Default 30d.'),
  })
  .prefault({})
  .describe('Deleted files.')

export const filesConfig = { workspace, grants, security, cleanup, versions, trash }
