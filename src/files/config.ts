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
      .describe(
        'Create the folder if it is missing; if false, cowork does not start. Default true.',
      ),
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
      .describe('Folders created in the workspace at the first start.'),
  })
  .prefault({})
  .describe('The agents’ folder.')

const scope = z.enum(['session', 'permanent'])

const grant = z.strictObject({
  path: filePath.describe('File or folder.'),
  permission: z
    .enum(['read', 'read-write', 'write'])
    .describe('`write` only creates files and cannot read.'),
  scope: scope
    .optional()
    .describe('`session` ends with the session. Default grants.default_scope.'),
  expires_at: z.iso
    .datetime({ offset: true, error: 'an RFC 3339 time such as 2027-01-31T00:00:00Z' })
    .optional()
    .describe('When the grant expires. Default: never.'),
  hard_links: z
    .boolean()
    .default(false)
    .describe(
      'Allow reading files with other hard links, which may be outside the folder. Default false.',
    ),
})

const grantsObject = z.strictObject({
  database: filePath
    .optional()
    .describe(
      'A grants.db to import at start and keep as a copy. The store of cowork is authoritative.',
    ),
  default_scope: scope
    .default('permanent')
    .describe('Scope of grants without `scope`. Default permanent.'),
  entries: z.array(grant).default([]).describe('Grants for all agents, made at start.'),
})

const grants = z
  .union([z.array(grant), grantsObject], 'a list or a mapping')
  .transform((value) => {
    const settings = Array.isArray(value) ? grantsObject.parse({ entries: [] }) : value
    const entries = Array.isArray(value) ? value : value.entries
    return {
      ...settings,
      entries: entries.map((entry) => ({
        ...entry,
        scope: entry.scope ?? settings.default_scope,
      })),
    }
  })
  .prefault({})
  .describe('Grants to the user’s files and folders: a list, or an object with `entries`.')

const extensionForm = /^(\.[\w.+-]+)(?: \(unless in ([^()]+)\))?$/

const security = z
  .strictObject({
    forbidden_paths: z
      .array(filePath)
      .default([])
      .describe('Protected paths that no grant can open, in addition to the built-in ones.'),
    forbidden_extensions_create: z
      .array(
        nonEmptyString(
          'an extension such as .exe or ".sh (unless in Code/bash/)"',
          extensionForm,
        ).transform((text) => {
          const [, extension = text, unlessIn] = extensionForm.exec(text) ?? []
          return {
            extension: extension.toLowerCase(),
            ...(unlessIn ? { unless_in: unlessIn } : {}),
          }
        }),
      )
      .prefault(['.exe', '.sh (unless in Code/bash/)', '.bat', '.ps1'])
      .describe(
        'Extensions that tools must not create; `.sh (unless in Code/bash/)` excepts one folder.',
      ),
    max_file_size_mb: integer(1)
      .default(50)
      .describe('Largest file that tools create, change or copy, in MB. Default 50.'),
    max_binary_read_mb: integer(1)
      .default(10)
      .describe('Largest binary file read at once, in MB. Default 10.'),
    sensitive_patterns: z
      .array(nonEmptyString('a glob'))
      .default(['**/credentials*', '**/secret*', '**/*.pem', '**/*.key'])
      .describe(
        'Globs of sensitive files: reads carry a warning, writes are high risk, previews hide the content.',
      ),
  })
  .prefault({})
  .describe('Limits that apply to every grant.')

const cleanup = z
  .strictObject({
    temp_retention_days: integer(1)
      .default(7)
      .describe('Age at which files in temp/ go to the trash, in days. Default 7.'),
    run_schedule: cron
      .default('0 2 * * *')
      .describe('Cleanup schedule as cron in local time. Default 0 2 * * *.'),
    notify_before_delete: z
      .boolean()
      .default(false)
      .describe('List files one run before deletion, with an option to keep them. Default false.'),
  })
  .prefault({})
  .describe('Cleanup of temporary files.')

const versions = z
  .strictObject({
    retention: duration.prefault('30d').describe('How long a change can be undone. Default 30d.'),
    max_per_file: integer(1).default(50).describe('Versions kept per file. Default 50.'),
    max_total_gb: integer(1).default(5).describe('Total size of all versions, in GB. Default 5.'),
  })
  .prefault({})
  .describe('Versions of changed files.')

const trash = z
  .strictObject({
    retention: duration
      .prefault('30d')
      .describe('How long a deleted file can be restored. Default 30d.'),
  })
  .prefault({})
  .describe('Deleted files.')

export const filesConfig = { workspace, grants, security, cleanup, versions, trash }
