import * as z from 'zod'

const success = z.literal(true)

const next_cursor = z.string().optional()

const text = z.string().nullable()

const warnings = z.array(z.string()).optional()

/** A grant on the wire (GR4). Types without descriptions, because every agent reads each word of a schema (FT9). */
const fileGrant = z.object({
  id: z.string(),
  agent: z.string(),
  path: z.string(),
  kind: z.string(),
  permission: z.string(),
  scope: z.string(),
  session: text,
  hard_links: z.boolean(),
  granted_at: z.string(),
  granted_by: z.string(),
  expires_at: text,
  last_accessed: text,
  access_count: z.number(),
  node: z.string(),
  replaced: z.boolean().optional(),
})
export type GrantResult = z.output<typeof fileGrant>

const listedFile = z.object({
  name: z.string(),
  type: z.string(),
  size_bytes: z.number().optional(),
  modified_at: z.string().optional(),
})
export type ListedFile = z.output<typeof listedFile>

const version = z.object({
  version_id: z.string(),
  size_bytes: z.number(),
  replaced_at: z.string(),
  replaced_by: z.string(),
  operation: z.string(),
})

const trashed = z.object({
  trash_id: z.string(),
  path: z.string(),
  type: z.string(),
  size_bytes: z.number(),
  deleted_at: z.string(),
  deleted_by: z.string(),
  expires_at: z.string(),
})

const fileRead = z.object({
  success,
  content: z.string(),
  path: z.string(),
  size_bytes: z.number(),
  modified_at: z.string(),
  encoding: z.string(),
  mime: z.string(),
  lines: z.number().optional(),
  next_line: z.number().optional(),
  next_byte: z.number().optional(),
  sha256: z.string().optional(),
  sensitive: z.boolean().optional(),
  warnings,
})
export type FileReadResult = z.output<typeof fileRead>

const failedRead = z.object({ path: z.string(), code: z.string(), message: z.string() })

const hit = z.object({
  path: z.string(),
  match_type: z.string(),
  modified_at: z.string(),
  line: z.number().optional(),
  snippet: z.string().optional(),
})
export type SearchHit = z.output<typeof hit>

export const fileResults = {
  list_files: z.object({ path: z.string(), files: z.array(listedFile), next_cursor }),
  file_tree: z.object({ path: z.string(), tree: z.string(), next_cursor }),
  workspace_usage: z.object({
    path: z.string(),
    total_files: z.number(),
    total_bytes: z.number(),
    folders: z.array(z.object({ path: z.string(), files: z.number(), bytes: z.number() })),
    largest_files: z.array(z.object({ path: z.string(), bytes: z.number() })),
  }),
  file_versions: z.object({ path: z.string(), versions: z.array(version) }),
  file_diff: z.object({ path: z.string(), diff: z.string(), warnings }),
  file_restore_version: z.object({
    success,
    path: z.string(),
    restored_at: z.string(),
    size_bytes: z.number(),
  }),
  trash_list: z.object({ items: z.array(trashed), next_cursor }),
  trash_restore: z.object({ success, restored_path: z.string() }),
  trash_purge: z.object({
    purged: z.array(z.string()),
    count: z.number(),
    left_in: z
      .array(z.string())
      .describe('Folders with files that could not be deleted; retried daily.')
      .optional(),
  }),
  read_file: fileRead,
  read_files: z.object({
    files: z.array(z.looseObject({ path: z.string() })),
    errors: z.array(failedRead),
  }),
  search_files: z.object({
    results: z.array(hit),
    total_count: z.number(),
    skipped: z.array(z.string()).optional(),
    next_cursor,
  }),
  workspace_choose: z.object({
    path: z.string(),
    config: z.string(),
    changed: z.boolean(),
    backup: z.string().optional(),
    restart_needed: z.boolean(),
    message: z.string(),
  }),
  get_workspace_info: z.object({
    workspace_path: z.string(),
    total_files: z.number(),
    total_size_mb: z.number(),
    temp_files: z.number(),
    last_cleanup: z.string().nullable(),
    containment: z.string(),
    path_after_restart: z.string().optional(),
  }),
  create_file: z.object({
    success,
    full_path: z.string(),
    created_at: z.string(),
    size_bytes: z.number(),
    warnings,
  }),
  update_file: z.object({
    success,
    path: z.string(),
    backup_path: z.string().optional(),
    updated_at: z.string().optional(),
    diff: z.string(),
    warnings,
  }),
  delete_file: z.object({ success, deleted_path: z.string(), trash_id: z.string() }),
  move_file: z.object({ success, new_path: z.string() }),
  copy_file: z.object({ success, destination_path: z.string() }),
  add_grant: fileGrant,
  revoke_grant: z.object({
    success,
    revoked_path: z.string(),
    message: z.string().optional(),
  }),
  browse_folder: z.object({
    path: z.string(),
    parent: z.string().nullable(),
    entries: z.array(
      z.object({
        name: z.string(),
        type: z.enum(['directory', 'file']),
        forbidden: z.boolean().optional(),
      }),
    ),
    capped: z.boolean(),
  }),
  check_grant: z.object({
    has_access: z.boolean(),
    permission: z.string().nullable(),
    grant_id: z.string().nullable(),
    granted_path: z.string().nullable(),
  }),
  request_grant: z.object({
    status: z.enum(['pending', 'granted', 'denied']),
    request_id: z.string().optional(),
    grant_id: z.string().optional(),
    permission: z.string().optional(),
    granted_path: z.string().optional(),
    review_url: z.string().optional(),
    feedback: z.string().optional(),
    message: z.string(),
    next: z.string().optional(),
  }),
  list_grants: z.object({ grants: z.array(fileGrant) }),
}
