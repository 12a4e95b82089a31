import * as z from 'zod'
import { plainJson } from '#base/plain.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Files } from '../service.ts'
import type { Listed } from '../worker/protocol.ts'
import { cursor, fitting, next_cursor, path, shown, time } from './words.ts'

const usualCount = 1000
const mostCount = 10_000
/** More than fit in a usual reply: a line of a tree is short. */
const treeCount = 1500
const limit = z.int().min(1).max(mostCount).optional()

const entry = z.object({
  name: z.string(),
  type: z.string(),
  size_bytes: z.number().optional(),
  modified_at: z.string().optional(),
})

const hit = z.object({
  path: z.string(),
  match_type: z.string(),
  modified_at: z.string(),
  line: z.number().optional(),
  snippet: z.string().optional(),
})

const root = path.default('')

export const findTools = (files: Files): Tool[] => [
  defineTool({
    name: 'list_files',
    title: 'List files',
    description: 'Lists a folder. Recursive lists leave out what .gitignore names.',
    toolset: 'files',
    core: true,
    effect: 'read',
    by: 'anyone',
    input: z.object({
      path: root,
      recursive: z.boolean().default(false),
      depth: z.int().min(1).max(100).optional(),
      details: z.boolean().default(true).describe('Sizes and times too'),
      cursor,
      limit,
    }),
    output: z.object({ path: z.string(), files: z.array(entry), next_cursor }),
    touches: (input) => files.places.touch(input.path),
    async run({ cursor: after, limit: most, details, ...asked }, call) {
      const limited = { ...asked, after, limit: most ?? usualCount, bare: !details }
      const listed = await files.reading.list(call, limited)
      const entries = listed.entries.map(details ? entryOf : nameOf)
      const page = most === undefined ? fitting(entries) : entries
      const next =
        page.length < entries.length ? listed.entries[page.length - 1]?.path : listed.next
      return {
        path: listed.path,
        files: [...page],
        ...(next !== undefined && { next_cursor: next }),
      }
    },
    text: ({ path: at, files: listed, next_cursor: next }) =>
      [
        `${shown(at)}: ${listed.length} entries`,
        ...listed.map(({ name, size_bytes: size }) =>
          size === undefined ? shown(name) : `${shown(name)} (${size} bytes)`,
        ),
        ...more(next),
      ].join('\n'),
  }),
  defineTool({
    name: 'file_tree',
    title: 'File tree',
    description: 'A folder and what is below it, as an indented tree.',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.object({ path: root, depth: z.int().min(1).max(20).default(3), cursor }),
    output: z.object({ path: z.string(), tree: z.string(), next_cursor }),
    touches: (input) => files.places.touch(input.path),
    async run({ path: given, depth, cursor: after }, call) {
      const asked = { path: given, recursive: true, depth, after, limit: treeCount, bare: true }
      const listed = await files.reading.list(call, asked)
      const lines = fitting(listed.entries.map(treeLine), (line) => line.length)
      const next =
        lines.length < listed.entries.length ? listed.entries[lines.length - 1]?.path : listed.next
      return {
        path: listed.path,
        tree: lines.join('\n'),
        ...(next !== undefined && { next_cursor: next }),
      }
    },
    text: ({ path: at, tree, next_cursor: next }) => [shown(at), tree, ...more(next)].join('\n'),
  }),
  defineTool({
    name: 'search_files',
    title: 'Search files',
    core: true,
    description: 'Finds files by name (text or glob) or by content.',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.object({
      query: z.string().min(1).max(1000),
      search_in: z.enum(['workspace', 'granted', 'all']).default('workspace'),
      search_type: z.enum(['filename', 'content', 'regex']).default('filename'),
      file_types: z.array(z.string()).max(50).default([]).describe('Extensions such as .md'),
      cursor,
      limit,
    }),
    output: z.object({
      results: z.array(hit),
      total_count: z.number(),
      skipped: z.number().optional(),
      next_cursor,
    }),
    // Which grants those are is known when it runs.
    touches: ({ search_in }) =>
      search_in === 'granted'
        ? { domain: 'files', data: { area: 'granted' } }
        : files.places.touch(''),
    async run({ limit: most, search_type, ...input }, call) {
      const search = async (count: number) => {
        const { hits, total, skipped, next } = await files.reading.search(call, {
          query: input.query,
          where: input.search_in,
          by: search_type,
          types: input.file_types.map(extensionOf),
          after: input.cursor,
          limit: count,
        })
        const results = hits.map(({ path: at, modifiedAt, line, snippet }) => ({
          path: at,
          match_type: search_type === 'filename' ? search_type : 'content',
          modified_at: time(modifiedAt),
          ...(line !== undefined && { line }),
          ...(snippet !== undefined && { snippet }),
        }))
        return {
          results,
          total_count: total,
          ...(skipped > 0 && { skipped }),
          ...(next !== undefined && { next_cursor: next }),
        }
      }
      const found = await search(most ?? usualHits)
      const { length } = most === undefined ? fitting(found.results) : found.results
      call.tell({ data: { results: length } })
      // Only the search itself can say where to go on: very long lines are looked for once more.
      return length < found.results.length ? search(length) : found
    },
    text: ({ results, total_count, skipped, next_cursor: next }) =>
      [
        `${total_count} found`,
        ...(skipped === undefined
          ? []
          : [`${skipped} files were not searched: too large, or not to be read.`]),
        ...results.map(({ path: at, line, snippet = '' }) =>
          line === undefined ? shown(at) : `${shown(at)}:${line}: ${shown(snippet)}`,
        ),
        ...more(next),
      ].join('\n'),
  }),
  defineTool({
    name: 'get_workspace_info',
    title: 'Workspace',
    description: 'Where the workspace is, what is in it, and how the disk is guarded.',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.object({}),
    output: z.object({
      workspace_path: z.string(),
      total_files: z.number(),
      total_size_mb: z.number(),
      temp_files: z.number(),
      last_cleanup: z.string().nullable(),
      containment: z.string(),
    }),
    touches: () => files.places.touch(''),
    async run(_, call) {
      const {
        path: at,
        files: count,
        bytes,
        folders,
      } = await files.reading.usage(call, '', 1, ['temp', '.cowork'])
      const of = (name: string) => folders.find((folder) => folder.path === name)
      const own = of('.cowork') ?? { files: 0, bytes: 0 }
      return {
        workspace_path: at,
        total_files: count - own.files,
        total_size_mb: Math.round((bytes - own.bytes) / 10_000) / 100,
        temp_files: of('temp')?.files ?? 0,
        last_cleanup: null,
        containment: files.containment(),
      }
    },
  }),
  defineTool({
    name: 'workspace_usage',
    title: 'Sizes of folders',
    description: 'Files and bytes of each folder, for a map of what takes room.',
    toolset: 'files',
    effect: 'read',
    by: 'human',
    input: z.object({ path: root, depth: z.int().min(1).max(6).default(2) }),
    output: z.object({
      path: z.string(),
      total_files: z.number(),
      total_bytes: z.number(),
      folders: z.array(z.object({ path: z.string(), files: z.number(), bytes: z.number() })),
    }),
    touches: (input) => files.places.touch(input.path),
    async run({ path: given, depth }, call) {
      const {
        path: at,
        files: count,
        bytes,
        folders,
      } = await files.reading.usage(call, given, depth)
      return { path: at, total_files: count, total_bytes: bytes, folders: [...folders] }
    },
  }),
]

/** Fewer than of a list, since a hit has a line of text with it. */
const usualHits = 50

const extensionOf = (type: string) => (type.startsWith('.') ? type : `.${type}`).toLowerCase()

/** Folders end with a slash, as `ls -F` writes them (FT3). */
function entryOf({ path: at, type, size, modifiedAt }: Listed): z.output<typeof entry> {
  if (type === 'folder') return { name: `${at}/`, type: 'directory', modified_at: time(modifiedAt) }
  return { name: at, type, size_bytes: size, modified_at: time(modifiedAt) }
}

const nameOf = ({ path: at, type }: Listed): z.output<typeof entry> =>
  type === 'folder' ? { name: `${at}/`, type: 'directory' } : { name: at, type }

/** Each name once, below its folder. */
function treeLine({ path: at, type }: Listed): string {
  const names = at.split('/')
  const name = names.pop() ?? ''
  return `${'  '.repeat(names.length)}${shown(name)}${type === 'folder' ? '/' : ''}`
}

const more = (next: string | undefined) =>
  next === undefined ? [] : [`There is more: call again with cursor ${plainJson(next)}.`]
