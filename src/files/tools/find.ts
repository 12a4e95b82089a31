import * as z from 'zod'
import { effort } from '#base/soft-limit.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { FoundFile, Listing, SkippedFiles } from '../file-reader.ts'
import type { Files } from '../service.ts'
import { toCursor } from '../worker/columns.ts'
import type { ListEntry } from '../worker/protocol.ts'
import { fileResults } from '../wire.ts'
import type { ListedFile, SearchHit } from '../wire.ts'
import {
  cursor,
  takeFitting,
  limit,
  moreHint,
  path,
  reads,
  readsPath,
  escapeName,
  formatTime,
} from './shared-schemas.ts'

const defaultCount = 1000
/** More than fit in a default reply, because tree lines are short. */
const treeCount = 1500

const root = path.default('')

export const findTools = (
  files: Files,
  /** Returns the workspace that was chosen since the start, if it changed. */
  nextWorkspace: () => string | undefined,
): Tool[] => [
  defineTool({
    ...reads,
    name: 'list_files',
    title: 'List files',
    description:
      'List a folder: names, folders with /, sizes in bytes. recursive skips .gitignore matches. To find a file use search_files.',
    core: true,
    input: z.strictObject({
      path: root,
      recursive: z.boolean().default(false),
      depth: effort(z.int().min(1).max(100)).optional().describe('Levels, if recursive'),
      details: z.boolean().default(true).describe('false: names only'),
      cursor,
      limit,
    }),
    output: fileResults.list_files,
    describeTarget: (input) => files.resolver.toTarget(input.path),
    paths: readsPath,
    async read({ cursor: after, limit: most, details, ...asked }, call) {
      const limited = { ...asked, after, limit: most ?? defaultCount, bare: !details }
      const listed = await files.reader.list(call, limited)
      const entries = listed.entries.map(details ? toEntry : toNameEntry)
      const page =
        most === undefined ? takeFitting(entries) : takeFitting(entries, estimateBytes, true)
      const next = nextCursor(listed, page.length)
      return {
        path: listed.path,
        files: [...page],
        ...(next !== undefined && { next_cursor: next }),
      }
    },
    textOnly: true,
    // Names contain no tab: `escapeName` replaces it.
    text: ({ path: at, files: listed, next_cursor: next }) =>
      [
        `${escapeName(at)}: ${listed.length} entries${listed.some(hasSize) ? ' (name, tab, bytes)' : ''}`,
        ...listed.map(({ name, type, size_bytes: size }) => {
          if (type === 'link') return `${escapeName(name)}@`
          return size === undefined ? escapeName(name) : `${escapeName(name)}\t${size}`
        }),
        ...moreHint(next),
      ].join('\n'),
  }),
  defineTool({
    ...reads,
    name: 'file_tree',
    title: 'File tree',
    description: 'Show a folder and its contents as an indented tree.',
    input: z.strictObject({ path: root, depth: effort(z.int().min(1).max(20)).default(3), cursor }),
    output: fileResults.file_tree,
    describeTarget: (input) => files.resolver.toTarget(input.path),
    paths: readsPath,
    async read({ path: given, depth, cursor: after }, call) {
      const asked = { path: given, recursive: true, depth, after, limit: treeCount, bare: true }
      const listed = await files.reader.list(call, asked)
      const lines = takeFitting(listed.entries.map(treeLine), Buffer.byteLength)
      const next = nextCursor(listed, lines.length)
      return {
        path: listed.path,
        tree: lines.join('\n'),
        ...(next !== undefined && { next_cursor: next }),
      }
    },
    textOnly: true,
    text: ({ path: at, tree, next_cursor: next }) =>
      [escapeName(at), tree, ...moreHint(next)].join('\n'),
  }),
  searchTool(files),
  defineTool({
    ...reads,
    name: 'workspace_usage',
    title: 'Disk usage',
    description: 'Show the file count and bytes of each folder.',
    by: 'human',
    input: z.strictObject({ path: root, depth: effort(z.int().min(1).max(6)).default(2) }),
    output: fileResults.workspace_usage,
    describeTarget: (input) => files.resolver.toTarget(input.path),
    paths: readsPath,
    async read({ path: given, depth }, call) {
      const {
        path: at,
        files: count,
        bytes,
        folders,
        largest,
      } = await files.reader.usage(call, given, depth)
      return {
        path: at,
        total_files: count,
        total_bytes: bytes,
        folders: [...folders],
        largest_files: [...largest],
      }
    },
  }),
  defineTool({
    ...reads,
    name: 'get_workspace_info',
    title: 'Workspace',
    description: 'Show the workspace path, file count, size and sandboxing.',
    input: z.strictObject({}),
    output: fileResults.get_workspace_info,
    describeTarget: () => files.resolver.toTarget(''),
    async read(_, call) {
      const next = nextWorkspace()
      const {
        path: at,
        files: count,
        bytes,
        folders,
      } = await files.reader.usage(call, '', 1, ['temp', '.cowork'])
      const findFolder = (name: string) => folders.find((folder) => folder.path === name)
      const internal = findFolder('.cowork') ?? { files: 0, bytes: 0 }
      return {
        workspace_path: at,
        total_files: count - internal.files,
        total_size_mb: Math.round((bytes - internal.bytes) / 10_000) / 100,
        temp_files: findFolder('temp')?.files ?? 0,
        last_cleanup: null,
        containment: files.containment(),
        ...(next !== undefined && { path_after_restart: next }),
      }
    },
  }),
]

/** Folders end with a slash, as `ls -F` writes them (FT3). */
function toEntry({ path: at, type, size, modifiedAt }: ListEntry): ListedFile {
  if (type === 'folder')
    return { name: `${at}/`, type: 'directory', modified_at: formatTime(modifiedAt) }
  return { name: at, type, size_bytes: size, modified_at: formatTime(modifiedAt) }
}

const toNameEntry = ({ path: at, type }: ListEntry): ListedFile =>
  type === 'folder' ? { name: `${at}/`, type: 'directory' } : { name: at, type }

const hasSize = ({ size_bytes }: ListedFile) => size_bytes !== undefined

/** Estimates the size of a row: exact counting of 10,000 rows takes as long as the listing. */
const estimateBytes = ({ name }: ListedFile) => 2 * Buffer.byteLength(name) + 100

function nextCursor({ entries, next }: Listing, shownCount: number): string | undefined {
  const last = entries[shownCount - 1]
  return last && shownCount < entries.length ? toCursor(last) : next
}

const marks: Partial<Record<ListEntry['type'], string>> = { folder: '/', link: '@' }

function treeLine({ path: at, type }: ListEntry): string {
  const names = at.split('/')
  const name = names.pop() ?? ''
  return `${'  '.repeat(names.length)}${escapeName(name)}${marks[type] ?? ''}`
}

/** Fewer than in a listing, because a hit includes a line of text. */
const defaultHits = 50

const searchTool = (files: Files): Tool =>
  defineTool({
    ...reads,
    name: 'search_files',
    title: 'Search files',
    core: true,
    description:
      'Find files by name (default) or content. search_type: filename (text or glob), content, or regex (RE2; (?i) ignores case).',
    input: z.strictObject({
      query: z.string().min(1).max(1000),
      path: z.string().optional().describe('File or folder to search'),
      search_in: z.enum(['workspace', 'granted', 'all']).default('workspace'),
      search_type: z.enum(['filename', 'content', 'regex']).default('filename'),
      file_types: z.array(z.string()).max(50).default([]).describe('For example .md'),
      cursor,
      limit,
    }),
    output: fileResults.search_files,
    // The grants are determined when the search runs.
    describeTarget: ({ path, search_in }) =>
      path === undefined && search_in === 'granted'
        ? { domain: 'files', data: { area: 'granted' } }
        : files.resolver.toTarget(path ?? ''),
    paths: ({ path }) => (path === undefined ? [] : readsPath({ path })),
    async read({ limit: most, search_type: by, ...input }, call) {
      const toHit = createHitMapper(by === 'filename' ? by : 'content')
      const found = await files.reader.search(call, {
        query: input.query,
        path: input.path,
        scope: input.search_in,
        by,
        types: input.file_types,
        after: input.cursor,
        limit: most ?? defaultHits,
        countFitting: (hits) => takeFitting(hits.map(toHit), undefined, most !== undefined).length,
      })
      const results = found.hits.map(toHit)
      call.addDetails({ data: { results: results.length } })
      return {
        results,
        total_count: found.total,
        ...(found.skipped.length > 0 && { skipped: found.skipped.map(formatSkipped) }),
        ...(found.next !== undefined && { next_cursor: found.next }),
      }
    },
    textOnly: true,
    text: ({ results, total_count, skipped: left = [], next_cursor: next }) =>
      [
        `${total_count} found`,
        ...left,
        ...results.map(({ path: at, line, snippet = '' }) =>
          line === undefined ? escapeName(at) : `${escapeName(at)}:${line}: ${escapeName(snippet)}`,
        ),
        ...moreHint(next),
      ].join('\n'),
  })

const createHitMapper =
  (match_type: string) =>
  ({ path, modifiedAt, line, snippet }: FoundFile): SearchHit => ({
    path,
    match_type,
    modified_at: formatTime(modifiedAt),
    ...(line !== undefined && { line }),
    ...(snippet !== undefined && { snippet }),
  })

const reasons: Readonly<Record<SkippedFiles['why'], string>> = {
  document: 'use read_file',
  no_grant: 'grant ended during the search',
  sensitive: 'sensitive',
  too_large: 'too large',
  unreadable: 'unreadable',
}

/** Formats skipped files as one sentence, which keeps the schema short (FT9). */
function formatSkipped({ why, count, paths }: SkippedFiles): string {
  const what = why === 'document' ? 'document' : why === 'no_grant' ? 'path' : 'file'
  const subject = count === 1 ? `1 ${what} was` : `${count} ${what}s were`
  const others = count - paths.length
  const named = paths.map(escapeName).join(', ') + (others > 0 ? ` and ${others} more` : '')
  return `${subject} not searched (${reasons[why]}): ${named}`
}
