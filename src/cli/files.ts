import { CoworkError } from '#base/errors.ts'
import type { FileReadResult, ListedFile, SearchHit } from '#files/wire.ts'
import type { ToolResults } from '#wire'
import { searchScopes } from './choices.ts'
import type { Client, MessageOverrides } from './client.ts'
import {
  command,
  linesOption,
  flag,
  list,
  localCommand,
  parsePositiveInt,
  text,
  toolCommand,
  withDefault,
  yes,
} from './command.ts'
import type { Entry, Values } from './command.ts'
import { usageError } from './exit.ts'
import { resolvePrefix, moreNotes, pages, shortenIds } from './lookup.ts'
import { formatBytes, pluralize, sanitize, sanitizeLines, tableOf, formatMinute } from './output.ts'
import { confirm } from './terminal.ts'

export const words: MessageOverrides = {
  forbidden_path: {
    hint: 'No command of cowork opens it: look at it with another program.',
  },
  is_a_folder: { hint: '`cowork files ls` shows what is in it.' },
  not_found: { hint: '`cowork files ls` and `cowork files search` show what is there.' },
  exists: { hint: 'Name another place with --to.' },
  too_large: { hint: '`cowork workspace open` shows the folder: open it with another program.' },
  invalid_input: { hint: '`cowork files --help` shows what the commands take.' },
}

export const where = 'A relative path is in the workspace; an absolute one must be granted.'

const range = {
  head: parsePositiveInt('--head <count>', 'the first lines'),
  tail: parsePositiveInt('--tail <count>', 'the last lines'),
  lines: text('--lines <from-to>', 'these lines, such as 10-20'),
}

/** The daemon gives no more than a file may have here. */
const all = 2 ** 40

/** What is in a file. On a terminal nothing in it can move the cursor; into a pipe it goes as it is. */
const catCommand = localCommand({
  usage: 'cat <path>',
  summary: 'its text',
  options: range,
  help: where,
  words,
  async act({ client, out, args: [path], options }) {
    const asked = { path, ...rangeOf(options), max_bytes: all }
    const read = await client.call('read_file', asked)
    for (const warning of read.warnings ?? []) out.note(sanitize(warning))
    out.content(read, contentFor(read, process.stdout.isTTY))
    if ((read.next_byte ?? read.next_line) !== undefined)
      out.note('There is more: --lines and --tail show other parts.')
  },
})

function contentFor({ content, encoding, mime, path }: FileReadResult, isTerminal: boolean) {
  const isBytes = encoding === 'base64'
  if (!isTerminal) return isBytes ? Buffer.from(content, 'base64') : content
  if (isBytes)
    throw usageError(
      `${sanitize(path)} is no text but ${sanitize(mime)}.`,
      'Write it to a file with `> name`.',
    )
  return `${sanitizeLines(content.replace(/\r?\n$/, '')).join('\n')}\n`
}

function rangeOf({ head, tail, lines }: Values<typeof range>) {
  if ([head, tail, lines].filter((one) => one !== undefined).length > 1)
    throw usageError('--head, --tail and --lines say different things.', 'Use one of them.')
  if (lines === undefined) return { head, tail }
  const [, from, to = from] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(lines) ?? []
  if (from === undefined || Number(to) < Number(from))
    throw usageError(`--lines cannot be ${JSON.stringify(lines)}.`, 'Write it as 10-20.')
  return { line_from: Number(from), line_to: Number(to) }
}

const idsOf = ({ versions }: ToolResults['file_versions']) =>
  versions.map(({ version_id: id }) => id)

/** A version by the beginning of its id; the newest where none is named. */
async function resolveVersion(client: Client, path: string, given: string | undefined) {
  const ids = idsOf(await client.call('file_versions', { path }))
  const id = given === undefined ? ids[0] : resolvePrefix(given, ids, 'version')
  if (id !== undefined) return { path, version_id: id }
  throw new CoworkError('not_found', `No earlier content of ${sanitize(path)} is kept.`, {
    hint: '`cowork trash list` shows what was deleted.',
  })
}

/** The earlier contents of a file, the newest first (TR3). */
export const versionCommands = [
  toolCommand({
    usage: 'versions <path>',
    summary: 'its earlier contents',
    words,
    tool: 'file_versions',
    input: ({ args: [path] }) => ({ path }),
    json: ({ versions }, { args: [path] }) => ({ path, versions }),
    show(found) {
      const short = shortenIds(idsOf(found))
      return tableOf(found.versions, 'No earlier content is kept.', {
        VERSION: (version) => short(version.version_id),
        UNTIL: (version) => formatMinute(version.replaced_at),
        SIZE: (version) => formatBytes(version.size_bytes),
        'CHANGED BY': (version) => version.replaced_by,
        WITH: (version) => version.operation,
      })
    },
  }),
  toolCommand({
    usage: 'diff <path> [version]',
    summary: 'what changed since an earlier content; the newest where none is named',
    words,
    tool: 'file_diff',
    input: ({ client, args: [path, given] }) => resolveVersion(client, path, given),
    show: ({ diff }) => (diff === '' ? 'Nothing differs.' : diff.split('\n').map(sanitize)),
  }),
  toolCommand({
    usage: 'restore <path> [version]',
    summary: 'put an earlier content back; the newest where none is named',
    words,
    tool: 'file_restore_version',
    input: ({ client, args: [path, given] }) => resolveVersion(client, path, given),
    show: (_, { args: [path] }) =>
      `${path} is as it was. \`cowork files restore\` again takes this back.`,
  }),
]

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
      options: {
        recursive: flag('-r, --recursive', 'and in those below'),
        lines: linesOption(1000),
      },
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
      options: { depth: withDefault(parsePositiveInt('--depth <count>', 'how far down'), 3) },
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
          text('--in <where>', `${searchScopes.join(', ')}, or a folder`),
          'workspace',
        ),
        type: list('--type <extensions...>', 'only of these, such as .md'),
        lines: linesOption(100),
      },
      words,
      tool: 'search_files',
      input: ({ args: [query], options: { content, in: place, type = [], lines } }) => ({
        query,
        ...(searchScopes.some((one) => one === place) ? { search_in: place } : { path: place }),
        search_type: content ? 'content' : 'filename',
        file_types: type,
        limit: lines,
      }),
      show: ({ results }) => (results.length === 0 ? 'Nothing was found.' : results.map(hitLine)),
      notes: ({ results, total_count: total, skipped = [] }) => [
        ...skipped.map(sanitize),
        ...(results.length < total
          ? [`${results.length} of ${pluralize(total, 'file')}: -n shows more.`]
          : []),
      ],
    }),
    ...versionCommands,
  ],
}

export const fileTable = (files: readonly ListedFile[]): string[] =>
  tableOf(files, 'It is empty.', {
    SIZE: ({ size_bytes: size }) => (size === undefined ? '-' : formatBytes(size)),
    CHANGED: ({ modified_at: at }) => (at === undefined ? '-' : formatMinute(at)),
    NAME: ({ name }) => name,
  })

/** Each by its last name, as deep as it lies. */
const treeLines = (files: readonly ListedFile[]): string[] =>
  files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name }) => {
      const names = name.split('/').filter((one) => one !== '')
      const end = name.endsWith('/') ? '/' : ''
      return `${'  '.repeat(names.length - 1)}${sanitize(names.at(-1) ?? '')}${end}`
    })

const hitLine = ({ path, line, snippet }: SearchHit): string =>
  [
    `${sanitize(path)}${line === undefined ? '' : `:${line}`}`,
    ...(snippet === undefined ? [] : [sanitize(snippet.trim())]),
  ].join('  ')

type Trashed = ToolResults['trash_list']['items'][number]

const isFolder = ({ type }: Trashed) => type === 'directory'

const trashed = async (client: Client, most = Infinity) =>
  (await pages(client, 'trash_list', {}, ({ items }) => items, most)).all

const trashIds = (items: readonly Trashed[]) => items.map(({ trash_id: id }) => id)

const idNamed = (given: string, ids: readonly string[]) =>
  resolvePrefix(given, ids, 'item in the trash')

/** What was deleted and can be had back, the newest first (TR1). */
const listCommand = command({
  usage: 'list',
  summary: 'list it',
  options: { lines: linesOption(100) },
  words,
  async run({ client, options: { lines } }) {
    const all = await trashed(client, lines + 1)
    return { all, items: all.slice(0, lines) }
  },
  json: ({ items }) => ({ items }),
  show({ items, all }) {
    const short = shortenIds(trashIds(all))
    return tableOf(items, 'The trash is empty.', {
      ID: (item) => short(item.trash_id),
      DELETED: (item) => formatMinute(item.deleted_at),
      BY: (item) => item.deleted_by,
      // What a folder holds was not counted.
      SIZE: (item) => (isFolder(item) ? '-' : formatBytes(item.size_bytes)),
      'KEPT UNTIL': (item) => formatMinute(item.expires_at),
      WAS: (item) => item.path,
    })
  },
  notes: ({ items, all }) => moreNotes(all.length > items.length),
})

export const trashCommand: Entry = {
  ...listCommand,
  usage: 'trash',
  summary: 'what was deleted',
  commands: [
    listCommand,
    toolCommand({
      usage: 'restore <id>',
      summary: 'back to where it was',
      options: { to: text('--to <path>', 'to another place') },
      words,
      tool: 'trash_restore',
      input: async ({ client, args: [given], options: { to } }) => ({
        trash_id: idNamed(given, trashIds(await trashed(client))),
        destination: to,
      }),
      show: ({ restored_path: path }) => `${path} is back.`,
    }),
    // Nothing brings it back, so a person says so.
    toolCommand({
      usage: 'purge [ids...]',
      summary: 'delete for good',
      options: { all: flag('--all', 'all of it'), yes: yes('without asking') },
      words,
      check({ args, options: { all = false } }) {
        if (all === args.length > 0)
          throw usageError('Say what to purge.', 'Name ids, or all of it with --all.')
      },
      person: 'Purging',
      tool: 'trash_purge',
      async input({ client, args, options: { all, ...asking } }) {
        const items = await trashed(client)
        const known = trashIds(items)
        const ids = all ? known : args.map((one) => idNamed(one, known))
        if (ids.length === 0) throw new CoworkError('not_found', 'The trash is empty.')
        const named = items.filter(({ trash_id: id }) => ids.includes(id))
        const bytes = named.reduce((sum, item) => sum + item.size_bytes, 0)
        const size = named.some(isFolder) ? 'with all that is in them' : formatBytes(bytes)
        const what = `${pluralize(ids.length, 'item')} (${size})`
        await confirm(`Delete ${what} for good?`, asking, false)
        return all ? { all } : { trash_ids: ids }
      },
      show: ({ purged, left_in: left = [] }) => [
        `${pluralize(purged.length, 'item')} deleted for good.`,
        ...left.map(
          (folder) =>
            `Some of it could not be removed from ${folder}. That is tried again each day.`,
        ),
      ],
    }),
  ],
}
