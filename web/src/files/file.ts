import type { ToolResults } from '#wire'

/** Result types of the file tools. */

export type FileEntry = ToolResults['list_files']['files'][number]
export type ReadFile = ToolResults['read_file']
export type SearchHit = ToolResults['search_files']['results'][number]
export type Permission = 'read' | 'read-write' | 'write' | 'deny'
export type Grant = ToolResults['list_grants']['grants'][number] & {
  readonly permission: Permission
}
export type TrashItem = ToolResults['trash_list']['items'][number]
/** Disk usage of a folder; the paths are relative to it. */
export type Usage = ToolResults['workspace_usage']
/** An earlier content of a file. */
export type Version = ToolResults['file_versions']['versions'][number]
export type BrowseResult = ToolResults['browse_folder']
type PurgeResult = ToolResults['trash_purge']

export const isFolder = ({ type }: Pick<FileEntry, 'type'>): boolean => type === 'directory'

/** Returns the label of an entry that is neither a folder nor a file; such an entry has no size. */
export const getSpecialKind = ({ type }: Pick<FileEntry, 'type'>): 'link' | 'special' | undefined =>
  type === 'directory' || type === 'file' ? undefined : type === 'link' ? 'link' : 'special'

export function formatPurge(name: string, { left_in: left = [] }: PurgeResult): string {
  if (left.length === 0) return `Deleted ${name}.`
  return `Deleted ${name}, but some files remain in ${left.join(', ')}.`
}
