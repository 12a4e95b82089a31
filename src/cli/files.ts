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
  yesOption,
} from './command.ts'
import type { CommandSpec, Values } from './command.ts'
import { usageError } from './exit.ts'
import { resolvePrefix, moreNotes, readPages, shortenIds } from './lookup.ts'
import {
  formatBytes,
  pluralize,
  sanitize,
  sanitizeLines,
  formatRows,
  formatMinute,
} from './output.ts'
import { confirm } from './terminal.ts'

export const fileMessages: MessageOverrides = {
  forbidden_path: {
    hint: 'Open the file with another program: cowork never accesses it.',
  },
  is_a_folder: { hint: 'Run `cowork files ls` to list the folder.' },
  not_found: { hint: 'Run `cowork files ls` or `cowork files search` to find the file.' },
  exists: { hint: 'Choose another path with --to.' },
  too_large: { hint: 'Run `cowork workspace open` and use another program.' },
  invalid_input: { hint: 'Run `cowork files --help` for valid values.' },
}

export const pathHelp = 'A relative path refers to the workspace; an absolute path needs a grant.'

const range = {
  head: parsePositiveInt('--head <count>', 'print the first lines'),
  tail: parsePositiveInt('--tail <count>', 'print the last lines'),
  lines: text('--lines <from-to>', 'print these lines, such as 10-20'),
}

/** More than any file may have: the daemon applies its own limit. */
const maxReadBytes = 2 ** 40

/** Prints a file. For a terminal the text is sanitized; into a pipe it is written unchanged. */
const catCommand = localCommand({
  usage: 'cat <path>',
  summary: 'print a file',
  options: range,
  help: pathHelp,
  messages: fileMessages,
  async act({ client, out, args: [path], options }) {
    const input = { path, ...parseRange(options), max_bytes: maxReadBytes }
    const read = await client.call('read_file', input)
    for (const warning of read.warnings ?? []) out.note(sanitize(warning))
    out.content(read, toTerminalContent(read, process.stdout.isTTY))
    if ((read.next_byte ?? read.next_line) !== undefined)
      out.note('Output truncated: use --lines or --tail for other parts.')
  },
})

function toTerminalContent({ content, encoding, mime, path }: FileReadResult, isTerminal: boolean) {
  const isBytes = encoding === 'base64'
  if (!isTerminal) return isBytes ? Buffer.from(content, 'base64') : content
  if (isBytes)
    throw usageError(
      `Not a text file: ${sanitize(path)} (${sanitize(mime)}).`,
      'Redirect the output to a file with `> name`.',
    )
  return `${sanitizeLines(content.replace(/\r?\n$/, '')).join('\n')}\n`
}

function parseRange({ head, tail, lines }: Values<typeof range>) {
  if ([head, tail, lines].filter((value) => value !== undefined).length > 1)
    throw usageError('--head, --tail and --lines cannot be combined.', 'Use one of them.')
  if (lines === undefined) return { head, tail }
  const [, from, to = from] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(lines) ?? []
  if (from === undefined || Number(to) < Number(from))
    throw usageError(`Invalid --lines: ${JSON.stringify(lines)}.`, 'Use a range such as 10-20.')
  return { line_from: Number(from), line_to: Number(to) }
}

const versionIds = ({ versions }: ToolResults['file_versions']) =>
  versions.map(({ version_id: id }) => id)

/** Finds a version by id prefix; without one, the newest. */
async function resolveVersion(client: Client, path: string, given: string | undefined) {
  const ids = versionIds(await client.call('file_versions', { path }))
  const id = given === undefined ? ids[0] : resolvePrefix(given, ids, 'version')
  if (id !== undefined) return { path, version_id: id }
  throw new CoworkError('not_found', `No versions of ${sanitize(path)}.`, {
    hint: 'Run `cowork trash list` for deleted files.',
  })
}

/** Commands on the versions of a file, newest first (TR3). */
export const versionCommands = [
  toolCommand({
    usage: 'versions <path>',
    summary: 'list the versions of a file',
    messages: fileMessages,
    tool: 'file_versions',
    input: ({ args: [path] }) => ({ path }),
    json: ({ versions }, { args: [path] }) => ({ path, versions }),
    show(found) {
      const short = shortenIds(versionIds(found))
      return formatRows(found.versions, 'No versions.', {
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
    summary: 'compare a file with a version (default: the newest)',
    messages: fileMessages,
    tool: 'file_diff',
    input: ({ client, args: [path, given] }) => resolveVersion(client, path, given),
    show: ({ diff }) => (diff === '' ? 'No differences.' : diff.split('\n').map(sanitize)),
  }),
  toolCommand({
    usage: 'restore <path> [version]',
    summary: 'restore a version of a file (default: the newest)',
    messages: fileMessages,
    tool: 'file_restore_version',
    input: ({ client, args: [path, given] }) => resolveVersion(client, path, given),
    show: (_, { args: [path] }) => `Restored ${path}. Run \`cowork files restore\` again to undo.`,
  }),
]

const maxTreeEntries = 2000

async function listFolder(client: Client, query: object, limit: number) {
  const input = { ...query, limit: Math.min(limit, 1000) }
  const { all, isMore } = await readPages(client, 'list_files', input, (page) => page.files, limit)
  return { files: all, isMore }
}

export const filesCommand: CommandSpec = {
  usage: 'files',
  summary: 'manage workspace files',
  commands: [
    command({
      usage: 'ls [path]',
      summary: 'list a folder',
      options: {
        recursive: flag('-r, --recursive', 'include subfolders'),
        lines: linesOption(1000),
      },
      help: pathHelp,
      messages: fileMessages,
      run: ({ client, args: [path = '.'], options: { recursive = false, lines } }) =>
        listFolder(client, { path, recursive }, lines),
      json: ({ files }) => ({ files }),
      show: ({ files }) => formatFileTable(files),
      notes: ({ isMore }) => moreNotes(isMore),
    }),
    command({
      usage: 'tree [path]',
      summary: 'show a folder as a tree',
      options: { depth: withDefault(parsePositiveInt('--depth <count>', 'number of levels'), 3) },
      help: pathHelp,
      messages: fileMessages,
      run: ({ client, args: [path = '.'], options: { depth } }) =>
        listFolder(client, { path, recursive: true, depth }, maxTreeEntries),
      json: ({ files }) => ({ files }),
      show: ({ files }) => formatTree(files),
      notes: ({ isMore }) =>
        isMore ? [`Showing the first ${maxTreeEntries}: name a subfolder for more.`] : [],
    }),
    catCommand,
    toolCommand({
      usage: 'search <words>',
      summary: 'search files by name or content',
      options: {
        content: flag('--content', 'search the content'),
        in: withDefault(
          text('--in <where>', `search ${searchScopes.join(', ')} or a folder`),
          'workspace',
        ),
        type: list('--type <extensions...>', 'search only these types, such as .md'),
        lines: linesOption(100),
      },
      messages: fileMessages,
      tool: 'search_files',
      input: ({ args: [query], options: { content, in: place, type = [], lines } }) => ({
        query,
        ...(searchScopes.some((scope) => scope === place) ? { search_in: place } : { path: place }),
        search_type: content ? 'content' : 'filename',
        file_types: type,
        limit: lines,
      }),
      show: ({ results }) => (results.length === 0 ? 'No matches.' : results.map(formatHit)),
      notes: ({ results, total_count: total, skipped = [] }) => [
        ...skipped.map(sanitize),
        ...(results.length < total
          ? [`${results.length} of ${pluralize(total, 'file')}: use -n for more.`]
          : []),
      ],
    }),
    ...versionCommands,
  ],
}

export const formatFileTable = (files: readonly ListedFile[]): string[] =>
  formatRows(files, 'Empty folder.', {
    SIZE: ({ size_bytes: size }) => (size === undefined ? '-' : formatBytes(size)),
    CHANGED: ({ modified_at: at }) => (at === undefined ? '-' : formatMinute(at)),
    NAME: ({ name }) => name,
  })

/** Indents each name by its depth. */
const formatTree = (files: readonly ListedFile[]): string[] =>
  files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name }) => {
      const names = name.split('/').filter((part) => part !== '')
      const suffix = name.endsWith('/') ? '/' : ''
      return `${'  '.repeat(names.length - 1)}${sanitize(names.at(-1) ?? '')}${suffix}`
    })

const formatHit = ({ path, line, snippet }: SearchHit): string =>
  [
    `${sanitize(path)}${line === undefined ? '' : `:${line}`}`,
    ...(snippet === undefined ? [] : [sanitize(snippet.trim())]),
  ].join('  ')

type TrashItem = ToolResults['trash_list']['items'][number]

const isFolder = ({ type }: TrashItem) => type === 'directory'

const listTrash = async (client: Client, limit = Infinity) =>
  (await readPages(client, 'trash_list', {}, ({ items }) => items, limit)).all

const trashIds = (items: readonly TrashItem[]) => items.map(({ trash_id: id }) => id)

const resolveTrashId = (given: string, ids: readonly string[]) =>
  resolvePrefix(given, ids, 'item in the trash')

/** Lists trash items, newest first (TR1). */
const listCommand = command({
  usage: 'list',
  summary: 'list deleted files',
  options: { lines: linesOption(100) },
  messages: fileMessages,
  async run({ client, options: { lines } }) {
    const all = await listTrash(client, lines + 1)
    return { all, items: all.slice(0, lines) }
  },
  json: ({ items }) => ({ items }),
  show({ items, all }) {
    const short = shortenIds(trashIds(all))
    return formatRows(items, 'The trash is empty.', {
      ID: (item) => short(item.trash_id),
      DELETED: (item) => formatMinute(item.deleted_at),
      BY: (item) => item.deleted_by,
      // The size of a folder's content is not recorded.
      SIZE: (item) => (isFolder(item) ? '-' : formatBytes(item.size_bytes)),
      'KEPT UNTIL': (item) => formatMinute(item.expires_at),
      PATH: (item) => item.path,
    })
  },
  notes: ({ items, all }) => moreNotes(all.length > items.length),
})

export const trashCommand: CommandSpec = {
  ...listCommand,
  usage: 'trash',
  summary: 'restore or purge deleted files',
  commands: [
    listCommand,
    toolCommand({
      usage: 'restore <id>',
      summary: 'restore a deleted file to its path',
      options: { to: text('--to <path>', 'restore to this path instead') },
      messages: fileMessages,
      tool: 'trash_restore',
      input: async ({ client, args: [given], options: { to } }) => ({
        trash_id: resolveTrashId(given, trashIds(await listTrash(client))),
        destination: to,
      }),
      show: ({ restored_path: path }) => `Restored ${path}.`,
    }),
    // Cannot be undone, so a person must confirm.
    toolCommand({
      usage: 'purge [ids...]',
      summary: 'delete permanently',
      options: { all: flag('--all', 'delete all items'), yes: yesOption('skip the confirmation') },
      messages: fileMessages,
      check({ args, options: { all = false } }) {
        if (all === args.length > 0)
          throw usageError('Nothing to purge was named.', 'Pass ids or --all.')
      },
      person: 'Purging',
      tool: 'trash_purge',
      async input({ client, args, options: { all, ...prompt } }) {
        const items = await listTrash(client)
        const known = trashIds(items)
        const ids = all ? known : args.map((id) => resolveTrashId(id, known))
        if (ids.length === 0) throw new CoworkError('not_found', 'The trash is empty.')
        const selected = items.filter(({ trash_id: id }) => ids.includes(id))
        const bytes = selected.reduce((sum, item) => sum + item.size_bytes, 0)
        const size = selected.some(isFolder) ? 'with their content' : formatBytes(bytes)
        const what = `${pluralize(ids.length, 'item')} (${size})`
        await confirm(`Delete ${what} permanently?`, prompt, false)
        return all ? { all } : { trash_ids: ids }
      },
      show: ({ purged, left_in: left = [] }) => [
        `Deleted ${pluralize(purged.length, 'item')} permanently.`,
        ...left.map(
          (folder) => `Some files in ${folder} could not be deleted. cowork retries daily.`,
        ),
      ],
    }),
  ],
}
