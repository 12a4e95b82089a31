/** Files, grants and the trash as the tools of `files` show them. */

export type Listed = {
  readonly name: string
  readonly type: string
  readonly size_bytes?: number
  readonly modified_at?: string
}
export type Listing = { readonly files: readonly Listed[]; readonly next_cursor?: string }

export const isFolder = ({ type }: Pick<Listed, 'type'>): boolean => type === 'directory'

/** What a name stands for where that is neither a folder nor a file; such a thing has no size of its own. */
export const kindOf = ({ type }: Pick<Listed, 'type'>): 'link' | 'no file' | undefined =>
  type === 'directory' || type === 'file' ? undefined : type === 'link' ? 'link' : 'no file'

export type ReadFile = {
  readonly content?: string
  readonly path: string
  readonly size_bytes: number
  readonly modified_at: string
  readonly encoding: string
  readonly mime: string
  /** The name is one of those that hold secrets (PV5). */
  readonly sensitive?: boolean
  readonly warnings?: readonly string[]
  /** Where it goes on, if this is not all of it. */
  readonly next_byte?: number
}

export type Hit = {
  readonly path: string
  readonly match_type: string
  readonly modified_at: string
  readonly line?: number
  readonly snippet?: string
}
export type Found = {
  readonly results: readonly Hit[]
  readonly total_count: number
  /** What was not looked into, in words. */
  readonly skipped?: readonly string[]
  readonly next_cursor?: string
}

export type Grant = {
  readonly id: string
  readonly agent: string
  readonly path: string
  readonly kind: 'file' | 'folder'
  readonly permission: 'read' | 'read-write' | 'write' | 'deny'
  readonly scope: 'session' | 'permanent'
  readonly granted_at: string
  readonly granted_by: string
  readonly expires_at: string | null
  readonly last_accessed: string | null
  readonly access_count: number
  /** What was granted is not at its path any more: it opens nothing. */
  readonly replaced?: boolean
}

export type Trashed = {
  readonly trash_id: string
  readonly path: string
  readonly type: string
  readonly size_bytes: number
  readonly deleted_at: string
  readonly deleted_by: string
  readonly expires_at: string
}

/** Of one folder; the paths of those in it begin there. */
export type Usage = {
  readonly total_files: number
  readonly total_bytes: number
  readonly folders: readonly {
    readonly path: string
    readonly files: number
    readonly bytes: number
  }[]
  /** Of those that lie no deeper than the folders. */
  readonly largest_files: readonly { readonly path: string; readonly bytes: number }[]
}

/** An earlier content of a file: it was there until it was replaced. */
export type Version = {
  readonly version_id: string
  readonly size_bytes: number
  readonly replaced_at: string
  readonly replaced_by: string
  readonly operation: string
}

export type WorkspaceInfo = {
  readonly workspace_path: string
  readonly total_files: number
  readonly total_size_mb: number
  readonly temp_files: number
  readonly last_cleanup: string | null
  readonly containment: string
  /** Another one that was chosen since the start. */
  readonly path_after_restart?: string
}

/** A folder of the user's disk, for picking. */
export type Browsed = {
  readonly path: string
  readonly parent: string | null
  readonly entries: readonly (Listed & { readonly forbidden?: boolean })[]
  /** There are more than are listed. */
  readonly capped: boolean
}

export type Purged = {
  readonly purged: readonly string[]
  /** Folders in which some of it could not be removed. */
  readonly left_in?: readonly string[]
}

/** What became of one thing that was to go for good. */
export function purgedText(name: string, { left_in: left = [] }: Purged): string {
  if (left.length === 0) return `${name} is gone.`
  return `${name} is gone from the trash, but some of it could not be removed from ${left.join(', ')}.`
}
