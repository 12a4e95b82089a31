import { searchPlaces } from './choices.ts'
import { createClient } from './client.ts'
import type { Client, Words } from './client.ts'
import type { Context } from './context.ts'
import { table } from './output.ts'
import { plain } from './plain.ts'
import { bytesText, countText } from './sizes.ts'

/** For the commands that show and change files. */
export const fileWords: Words = {
  forbidden_path: {
    hint: 'No command of cowork opens it: look at it with another program.',
  },
  is_a_folder: { hint: '`cowork files ls` shows what is in it.' },
  not_found: { hint: '`cowork files ls` and `cowork files search` show what is there.' },
  exists: { hint: 'Name another place with --to.' },
  too_large: { hint: '`cowork workspace open` shows the folder: open it with another program.' },
  invalid_input: { hint: '`cowork files --help` shows what the commands take.' },
}

type Listed = {
  /** Below where was asked; a folder's ends with a slash. */
  name: string
  type: string
  size_bytes?: number
  modified_at: string
}

type Listing = { files: Listed[]; next_cursor?: string }

/** As many as asked for, over as many pages as that takes. */
async function listed(
  client: Client,
  asked: { readonly path: string; readonly recursive?: boolean; readonly depth?: number },
  most: number,
): Promise<{ files: Listed[]; isMore: boolean }> {
  const files: Listed[] = []
  for (let cursor: string | undefined; ;) {
    const page: Listing = await client.call('list_files', {
      ...asked,
      limit: Math.min(most - files.length, 1000),
      ...(cursor !== undefined && { cursor }),
    })
    files.push(...page.files)
    cursor = page.next_cursor
    if (cursor === undefined || files.length >= most) return { files, isMore: cursor !== undefined }
  }
}

export async function listFiles(
  context: Context,
  path = '.',
  { recursive = false, lines }: { readonly recursive?: boolean; readonly lines: number },
): Promise<void> {
  const client = createClient(context, fileWords)
  const { files, isMore } = await listed(client, { path, recursive }, lines)
  context.out.data({ files }, () =>
    files.length === 0
      ? ['It is empty.']
      : table(
          ['SIZE', 'CHANGED', 'NAME'],
          files.map(({ name, size_bytes: size, modified_at: at }) => [
            size === undefined ? '-' : bytesText(size),
            minuteOf(at),
            plain(name),
          ]),
        ),
  )
  if (isMore) context.out.note('There are more: -n shows them.')
}

export const minuteOf = (at: string): string => at.slice(0, 16).replace('T', ' ')

export async function fileTree(
  context: Context,
  path = '.',
  { depth }: { readonly depth: number },
): Promise<void> {
  const most = 2000
  const asked = { path, recursive: true, depth }
  const { files, isMore } = await listed(createClient(context, fileWords), asked, most)
  context.out.data({ files }, () => treeLines(files))
  if (isMore) context.out.note(`The first ${most} are shown: name a folder below.`)
}

/** Each by its last name, as deep as it lies. */
export const treeLines = (files: readonly { readonly name: string }[]): string[] =>
  files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name }) => {
      const names = name.split('/').filter((one) => one !== '')
      const end = name.endsWith('/') ? '/' : ''
      return `${'  '.repeat(names.length - 1)}${plain(names.at(-1) ?? '')}${end}`
    })

type Hit = {
  path: string
  match_type: string
  modified_at: string
  line?: number
  snippet?: string
}
type Found = { results: Hit[]; total_count: number; skipped?: string[]; next_cursor?: string }

export type SearchFlags = {
  readonly content?: boolean
  readonly in: string
  readonly type?: readonly string[]
  readonly lines: number
}

export async function searchFiles(
  context: Context,
  query: string,
  { content = false, in: where, type = [], lines }: SearchFlags,
): Promise<void> {
  const found = await createClient(context, fileWords).call<Found>('search_files', {
    query,
    ...(isSearchPlace(where) ? { search_in: where } : { path: where }),
    search_type: content ? 'content' : 'filename',
    file_types: type,
    limit: lines,
  })
  const { results, total_count: total, skipped = [] } = found
  context.out.data(found, () =>
    results.length === 0 ? ['Nothing was found.'] : results.map(hitLine),
  )
  for (const text of skipped) context.out.note(plain(text))
  if (results.length < total)
    context.out.note(`${results.length} of ${countText(total, 'file')}: -n shows more.`)
}

const isSearchPlace = (text: string) => searchPlaces.some((place) => place === text)

const hitLine = ({ path, line, snippet }: Hit): string =>
  [
    `${plain(path)}${line === undefined ? '' : `:${line}`}`,
    ...(snippet === undefined ? [] : [plain(snippet.trim())]),
  ].join('  ')
