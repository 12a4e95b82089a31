import type { ListedFile, SearchHit } from '#files/wire.ts'
import { catCommand } from './cat.ts'
import { searchPlaces } from './choices.ts'
import type { Client } from './client.ts'
import { command, toolCommand } from './command.ts'
import type { Entry } from './command.ts'
import { minuteOf, where, words } from './file-words.ts'
import { count, flag, list, positive, text, withDefault } from './option-kinds.ts'
import { tableOf } from './output.ts'
import { pages } from './pages.ts'
import { plain } from './plain.ts'
import { moreNotes } from './prefix.ts'
import { bytesText, countText } from './sizes.ts'
import { versionCommands } from './versions.ts'

const mostInTree = 2000

async function listed(client: Client, asked: object, most: number) {
  const input = { ...asked, limit: Math.min(most, 1000) }
  const { all, isMore } = await pages(client, 'list_files', input, (page) => page.files, most)
  return { files: all, isMore }
}

export const filesCommand: Entry = {
  usage: 'files',
  summary: 'the files that agents work with',
  commands: [
    command({
      usage: 'ls [path]',
      summary: 'what is in a folder',
      options: { recursive: flag('-r, --recursive', 'and in those below'), lines: count(1000) },
      help: where,
      words,
      run: ({ client, args: [path = '.'], options: { recursive = false, lines } }) =>
        listed(client, { path, recursive }, lines),
      json: ({ files }) => ({ files }),
      show: ({ files }) => fileTable(files),
      notes: ({ isMore }) => moreNotes(isMore),
    }),
    command({
      usage: 'tree [path]',
      summary: 'the same as a tree',
      options: { depth: withDefault(positive('--depth <count>', 'how far down'), 3) },
      help: where,
      words,
      run: ({ client, args: [path = '.'], options: { depth } }) =>
        listed(client, { path, recursive: true, depth }, mostInTree),
      json: ({ files }) => ({ files }),
      show: ({ files }) => treeLines(files),
      notes: ({ isMore }) =>
        isMore ? [`The first ${mostInTree} are shown: name a folder below.`] : [],
    }),
    catCommand,
    toolCommand({
      usage: 'search <words>',
      summary: 'files by name, or by what is in them',
      options: {
        content: flag('--content', 'by what is in them'),
        in: withDefault(
          text('--in <where>', `${searchPlaces.join(', ')}, or a folder`),
          'workspace',
        ),
        type: list('--type <extensions...>', 'only of these, such as .md'),
        lines: count(100),
      },
      words,
      tool: 'search_files',
      input: ({ args: [query], options: { content, in: place, type = [], lines } }) => ({
        query,
        ...(searchPlaces.some((one) => one === place) ? { search_in: place } : { path: place }),
        search_type: content ? 'content' : 'filename',
        file_types: type,
        limit: lines,
      }),
      show: ({ results }) => (results.length === 0 ? 'Nothing was found.' : results.map(hitLine)),
      notes: ({ results, total_count: total, skipped = [] }) => [
        ...skipped.map(plain),
        ...(results.length < total
          ? [`${results.length} of ${countText(total, 'file')}: -n shows more.`]
          : []),
      ],
    }),
    ...versionCommands,
  ],
}

export const fileTable = (files: readonly ListedFile[]): string[] =>
  tableOf(files, 'It is empty.', {
    SIZE: ({ size_bytes: size }) => (size === undefined ? '-' : bytesText(size)),
    CHANGED: ({ modified_at: at }) => (at === undefined ? '-' : minuteOf(at)),
    NAME: ({ name }) => name,
  })

/** Each by its last name, as deep as it lies. */
const treeLines = (files: readonly ListedFile[]): string[] =>
  files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name }) => {
      const names = name.split('/').filter((one) => one !== '')
      const end = name.endsWith('/') ? '/' : ''
      return `${'  '.repeat(names.length - 1)}${plain(names.at(-1) ?? '')}${end}`
    })

const hitLine = ({ path, line, snippet }: SearchHit): string =>
  [
    `${plain(path)}${line === undefined ? '' : `:${line}`}`,
    ...(snippet === undefined ? [] : [plain(snippet.trim())]),
  ].join('  ')
