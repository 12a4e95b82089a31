import { CoworkError } from '#base/errors.ts'
import { compileGlob } from '#base/glob.ts'
import { FileError } from '../confine/file-error.ts'
import { compilePathGlob, isPathGlob } from '../rules/path-glob.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpRequest, SearchHit } from '../worker/protocol.ts'
import { yieldOrCancel, getRoot } from './io.ts'
import { joinPath } from './folders.ts'
import { foldCase, toPath, searchFolders } from './search-scope.ts'
import { comparePath, createTopN } from './top-n.ts'

/** The name itself, its beginning, a part of it, a part of the folders it lies in. */
type Rank = 0 | 1 | 2 | 3
type Found = { readonly rank: number; readonly place: number; readonly path: string }
type RankOf = (name: string) => Rank | undefined

const order = (a: Found, b: Found): number =>
  a.rank - b.rank || a.place - b.place || comparePath(a.path, b.path)

export const searchNames: RunOp<'searchNames'> = async (context, ask, _body, cancelled) => {
  const rankIn = compiled(ask.query)
  const after = ask.after === undefined ? undefined : parsedCursor(ask.after)
  const page = createTopN<Found>(ask.limit + 1, order)
  let total = 0
  let files = 0
  for (const folder of searchFolders(context, ask)) {
    const rankOf = rankIn(folder.real)
    for (const name of folder.names) {
      const rank = rankOf(name)
      if (rank === undefined) continue
      const path = toPath(folder, name)
      total++
      const found = { rank, place: folder.place, path }
      if (after === undefined || order(found, after) > 0) page.add(found)
    }
    files += folder.names.length
    context.reportProgress(files)
    await yieldOrCancel(context, cancelled)
  }
  context.reportProgress(files, files)
  const found = page.sorted().slice(0, ask.limit)
  const last = found.at(-1)
  const hits = found.flatMap((one) => hitOf(context, ask, one))
  const isMore = page.sorted().length > ask.limit && last !== undefined
  return { hits, total, ...(isMore && { next: cursorOf(last) }) }
}

/** With the size and time of now; nothing for a file that is gone meanwhile. */
function hitOf(
  context: OpContext,
  { in: places }: OpRequest<'searchNames'>,
  { place, path }: Found,
): SearchHit[] {
  const at = places[place]
  if (!at) return []
  try {
    const { stat } = getRoot(context, at).stat(path)
    return [{ root: at.root, path, modifiedAt: stat.modifiedAt, size: stat.size }]
  } catch (error) {
    if (error instanceof FileError) return []
    throw error
  }
}

/** What ranks the names of a folder: a glob where the query is one, else a part of the name or of the folder's path. */
function compiled(query: string): (folder: string) => RankOf {
  const text = foldCase(query)
  if (isPathGlob(text)) return globRank(text)
  return (folder) => {
    const path = foldCase(folder)
    const isInFolder = path.includes(text)
    const rankOf: RankOf = (name) => {
      const lower = foldCase(name)
      const at = lower.indexOf(text)
      if (at === 0) return lower.length === text.length || lower[text.length] === '.' ? 0 : 1
      if (at > 0) return 2
      return isInFolder || (text.includes('/') && joinPath(path, lower).includes(text))
        ? 3
        : undefined
    }
    return rankOf
  }
}

/** A pattern without a slash is for names, one with it for paths. */
function globRank(pattern: string): (folder: string) => RankOf {
  const isMatch = /[/?{]|\*\*/.test(pattern) ? pathGlob(pattern) : compileGlob(pattern)
  const isForNames = !pattern.includes('/')
  return (folder) => (name) => {
    const lower = foldCase(name)
    return isMatch(isForNames ? lower : joinPath(foldCase(folder), lower)) ? 0 : undefined
  }
}

function pathGlob(pattern: string) {
  try {
    return compilePathGlob(pattern)
  } catch (error) {
    if (error instanceof CoworkError) throw new FileError('invalid_query', error.message)
    throw error
  }
}

const cursorOf = ({ rank, place, path }: Found) => `${rank}.${place}.${path}`

function parsedCursor(cursor: string): Found {
  const [, rank, place, path] = /^(\d)\.(\d+)\.(.*)$/s.exec(cursor) ?? []
  if (path === undefined) throw new FileError('invalid_query', 'That is no cursor of this search.')
  return { rank: Number(rank), place: Number(place), path }
}
