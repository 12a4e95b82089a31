import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { callFiles } from './call.ts'
import type { Grant } from './file.ts'
import { maxPreviewBytes } from './preview.ts'
import type { FilesView } from './view.ts'
import type { Entry } from '../api/entry.ts'
import { isAbsolute, isInside } from './path.ts'

/** The disk changes without events, so every view reads again. */
const fresh = { staleTime: 0 } as const

const pagedQuery = <Page extends { readonly next_cursor?: string }>(
  queryKey: readonly unknown[],
  read: (from: { readonly cursor?: string }) => Promise<Page>,
) =>
  infiniteQueryOptions({
    ...fresh,
    queryKey,
    queryFn: ({ pageParam: cursor }) => read(cursor === undefined ? {} : { cursor }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
  })

/** The key prefix of all disk queries, to invalidate them together. */
export const diskKey = ['files'] as const

const diskQuery = <Data>(key: readonly unknown[], queryFn: () => Promise<Data>) =>
  queryOptions({ ...fresh, queryKey: [...diskKey, ...key], queryFn })

/** Large enough for most folders, because only complete lists are sorted. */
const pageSize = 1000

/** Keeps data on screen while the daemon is unreachable, but not after an error response, such as "not found". */
export const keepUnlessGone = <Data>({ data, error }: { data: Data | undefined; error: unknown }) =>
  error instanceof ApiError && error.code !== 'unreachable' ? undefined : data

export const infoQuery = diskQuery(['info'], () => callFiles('get_workspace_info'))

export const listingQuery = (path: string) =>
  pagedQuery([...diskKey, 'list', path], (from) =>
    callFiles('list_files', { path, limit: pageSize, ...from }),
  )

export const readQuery = (path: string) =>
  diskQuery(['read', path], () => callFiles('read_file', { path, max_bytes: maxPreviewBytes }))

export const searchQuery = ({ q = '', path, in: where, by }: FilesView) =>
  pagedQuery([...diskKey, 'search', q, path, where, by], (from) =>
    callFiles('search_files', {
      query: q,
      ...(where ? { search_in: where } : path !== undefined && { path }),
      search_type: by ?? 'filename',
      ...from,
    }),
  )

export const usageQuery = (path: string) =>
  diskQuery(['usage', path], () => callFiles('workspace_usage', { path, depth: 2 }))

export const versionsQuery = (path: string) =>
  diskQuery(['versions', path], async () => (await callFiles('file_versions', { path })).versions)

export const versionDiffQuery = (path: string, version: string) =>
  diskQuery(['diff', path, version], () => callFiles('file_diff', { path, version_id: version }))

export const trashQuery = pagedQuery(['trash'], (from) => callFiles('trash_list', from))

/** Use counts change without an entry; see `usesGrant`. */
export const grantsQuery = queryOptions({
  ...fresh,
  refetchOnWindowFocus: true,
  queryKey: ['grants'],
  // The wire schema declares plain string types (FT9).
  queryFn: async () => (await callFiles('list_grants')).grants as Grant[],
})

export const browseQuery = (path: string) =>
  queryOptions({
    ...fresh,
    queryKey: ['browse', path],
    queryFn: () => callFiles('browse_folder', { path }),
  })

/** Tools that change the disk or the workspace setting. */
const changingTools = new Set([
  'create_file',
  'update_file',
  'delete_file',
  'move_file',
  'copy_file',
  'file_restore_version',
  'trash_restore',
  'trash_purge',
  'workspace_choose',
])

/** Whether an entry changes files or access to files. */
export const affectsFiles = ({ type, data }: Entry): boolean =>
  (type === 'call.done' && changingTools.has(String(data?.['tool']))) ||
  type.startsWith('trash.') ||
  type === 'grant.made' ||
  type === 'grant.revoked'

/** Whether an agent used a grant: the entry or one of its files names the grant (GR1). */
export function usesGrant({ type, actor, ids, data }: Entry): boolean {
  if (type !== 'call.done' || actor.kind !== 'agent') return false
  const files = data?.['files']
  return ids?.['grant'] !== undefined || (Array.isArray(files) && files.some(isUnderGrant))
}

const isUnderGrant = (file: unknown) =>
  typeof file === 'object' && file !== null && 'grant' in file && file.grant !== undefined

/** Returns the first breadcrumb of a folder: the workspace, or the widest grant that contains the folder. */
export function useGrantRoot(path: string): string {
  const { data = [] } = useQuery({ ...grantsQuery, enabled: isAbsolute(path) })
  if (!isAbsolute(path)) return ''
  const [widest = path] = data
    .filter((grant) => grant.permission !== 'deny' && isInside(path, grant.path))
    .map((grant) => grant.path)
    .toSorted((a, b) => a.length - b.length)
  return widest
}
