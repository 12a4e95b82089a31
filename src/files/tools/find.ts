import * as z from 'zod'
import { effort } from '#base/effort.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Listing } from '../reading.ts'
import type { Files } from '../service.ts'
import { cursorOf } from '../worker/columns.ts'
import type { Listed } from '../worker/protocol.ts'
import { searchTool } from './search.ts'
import { cursor, fitting, limit, more, path, readsPath, shown, time } from './words.ts'
import { fileResults } from '../wire.ts'
import type { ListedFile } from '../wire.ts'

const usualCount = 1000
/** More than fit in a usual reply: a line of a tree is short. */
const treeCount = 1500

const root = path.default('')

export const findTools = (files: Files): Tool[] => [
  defineTool({
    name: 'list_files',
    title: 'List files',
    description:
      'List a folder: names, folders with /, sizes in bytes. recursive leaves out what .gitignore names. To find a file use search_files.',
    toolset: 'files',
    core: true,
    effect: 'read',
    by: 'anyone',
    input: z.strictObject({
      path: root,
      recursive: z.boolean().default(false),
      depth: effort(z.int().min(1).max(100)).optional().describe('Levels, if recursive'),
      details: z.boolean().default(true).describe('false: names only'),
      cursor,
      limit,
    }),
    output: fileResults.list_files,
    touches: (input) => files.places.touch(input.path),
    paths: readsPath,
    async read({ cursor: after, limit: most, details, ...asked }, call) {
      const limited = { ...asked, after, limit: most ?? usualCount, bare: !details }
      const listed = await files.reading.list(call, limited)
      const entries = listed.entries.map(details ? entryOf : nameOf)
      const page = most === undefined ? fitting(entries) : fitting(entries, roughBytes, true)
      const next = cursorAt(listed, page.length)
      return {
        path: listed.path,
        files: [...page],
        ...(next !== undefined && { next_cursor: next }),
      }
    },
    textOnly: true,
    // A name holds no tab here: `shown` replaces it.
    text: ({ path: at, files: listed, next_cursor: next }) =>
      [
        `${shown(at)}: ${listed.length} entries${listed.some(hasSize) ? ' (name, tab, bytes)' : ''}`,
        ...listed.map(({ name, type, size_bytes: size }) => {
          if (type === 'link') return `${shown(name)}@`
          return size === undefined ? shown(name) : `${shown(name)}\t${size}`
        }),
        ...more(next),
      ].join('\n'),
  }),
  defineTool({
    name: 'file_tree',
    title: 'File tree',
    description: 'Show a folder and what is below it as an indented tree, to get an overview.',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.strictObject({ path: root, depth: effort(z.int().min(1).max(20)).default(3), cursor }),
    output: fileResults.file_tree,
    touches: (input) => files.places.touch(input.path),
    paths: readsPath,
    async read({ path: given, depth, cursor: after }, call) {
      const asked = { path: given, recursive: true, depth, after, limit: treeCount, bare: true }
      const listed = await files.reading.list(call, asked)
      const lines = fitting(listed.entries.map(treeLine), Buffer.byteLength)
      const next = cursorAt(listed, lines.length)
      return {
        path: listed.path,
        tree: lines.join('\n'),
        ...(next !== undefined && { next_cursor: next }),
      }
    },
    textOnly: true,
    text: ({ path: at, tree, next_cursor: next }) => [shown(at), tree, ...more(next)].join('\n'),
  }),
  searchTool(files),
  defineTool({
    name: 'workspace_usage',
    title: 'Sizes of folders',
    description: 'Files and bytes of each folder, for a map of what takes room.',
    toolset: 'files',
    effect: 'read',
    by: 'human',
    input: z.strictObject({ path: root, depth: effort(z.int().min(1).max(6)).default(2) }),
    output: fileResults.workspace_usage,
    touches: (input) => files.places.touch(input.path),
    paths: readsPath,
    async read({ path: given, depth }, call) {
      const {
        path: at,
        files: count,
        bytes,
        folders,
        largest,
      } = await files.reading.usage(call, given, depth)
      return {
        path: at,
        total_files: count,
        total_bytes: bytes,
        folders: [...folders],
        largest_files: [...largest],
      }
    },
  }),
]

/** Folders end with a slash, as `ls -F` writes them (FT3). */
function entryOf({ path: at, type, size, modifiedAt }: Listed): ListedFile {
  if (type === 'folder') return { name: `${at}/`, type: 'directory', modified_at: time(modifiedAt) }
  return { name: at, type, size_bytes: size, modified_at: time(modifiedAt) }
}

const nameOf = ({ path: at, type }: Listed): ListedFile =>
  type === 'folder' ? { name: `${at}/`, type: 'directory' } : { name: at, type }

const hasSize = ({ size_bytes }: ListedFile) => size_bytes !== undefined

/** To count each of ten thousand to the letter takes as long as the list. */
const roughBytes = ({ name }: ListedFile) => 2 * Buffer.byteLength(name) + 100

/** Where a list goes on of which so many were shown. */
function cursorAt({ entries, next }: Listing, shownCount: number): string | undefined {
  const last = entries[shownCount - 1]
  return last && shownCount < entries.length ? cursorOf(last) : next
}

/** As `ls -F` writes them. */
const marks: Partial<Record<Listed['type'], string>> = { folder: '/', link: '@' }

/** Each name once, below its folder. */
function treeLine({ path: at, type }: Listed): string {
  const names = at.split('/')
  const name = names.pop() ?? ''
  return `${'  '.repeat(names.length)}${shown(name)}${marks[type] ?? ''}`
}
