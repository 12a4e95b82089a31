import type { ToolResults } from '#wire'

/** Files, grants and the trash as the tools of `files` show them. */

export type FileEntry = ToolResults['list_files']['files'][number]
export type ReadFile = ToolResults['read_file']
export type SearchHit = ToolResults['search_files']['results'][number]
export type Permission = 'read' | 'read-write' | 'write' | 'deny'
export type Grant = ToolResults['list_grants']['grants'][number] & {
  readonly permission: Permission
}
export type TrashItem = ToolResults['trash_list']['items'][number]
/** Of one folder; the paths of those in it begin there. */
export type Usage = ToolResults['workspace_usage']
/** An earlier content of a file: it was there until it was replaced. */
export type Version = ToolResults['file_versions']['versions'][number]
export type BrowseResult = ToolResults['browse_folder']
type PurgeResult = ToolResults['trash_purge']

export const isFolder = ({ type }: Pick<FileEntry, 'type'>): boolean => type === 'directory'

/** What a name stands for where that is neither a folder nor a file; such a thing has no size of its own. */
export const kindOf = ({ type }: Pick<FileEntry, 'type'>): 'link' | 'no file' | undefined =>
  type === 'directory' || type === 'file' ? undefined : type === 'link' ? 'link' : 'no file'

export function formatPurge(name: string, { left_in: left = [] }: PurgeResult): string {
  if (left.length === 0) return `${name} is gone.`
  return `${name} is gone from the trash, but some of it could not be removed from ${left.join(', ')}.`
}
