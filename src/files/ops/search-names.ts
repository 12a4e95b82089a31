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

/** Exact name, prefix of the name, part of the name, part of the path. */
type Rank = 0 | 1 | 2 | 3
type RankedFile = { readonly rank: number; readonly place: number; readonly path: string }
type RankName = (name: string) => Rank | undefined

const compareFiles = (a: RankedFile, b: RankedFile): number =>
  a.rank - b.rank || a.place - b.place || comparePath(a.path, b.path)

export const searchNames: RunOp<'searchNames'> = async (context, ask, _body, cancelled) => {
  const createRanker = compileQuery(ask.query)
  const after = ask.after === undefined ? undefined : parseCursor(ask.after)
  const page = createTopN<RankedFile>(ask.limit + 1, compareFiles)
  let total = 0
  let files = 0
  for (const folder of searchFolders(context, ask)) {
    const rankName = createRanker(folder.real)
    for (const name of folder.names) {
      const rank = rankName(name)
      if (rank === undefined) continue
      const path = toPath(folder, name)
      total++
      const file = { rank, place: folder.scopeIndex, path }
      if (after === undefined || compareFiles(file, after) > 0) page.add(file)
    }
    files += folder.names.length
    context.reportProgress(files)
    await yieldOrCancel(context, cancelled)
  }
  context.reportProgress(files, files)
  const ranked = page.sorted().slice(0, ask.limit)
  const last = ranked.at(-1)
  const hits = ranked.flatMap((file) => toHits(context, ask, file))
  const isMore = page.sorted().length > ask.limit && last !== undefined
  return { hits, total, ...(isMore && { next: formatCursor(last) }) }
}

/** Adds the current size and time; returns nothing for a file that is gone. */
function toHits(
  context: OpContext,
  { in: scopes }: OpRequest<'searchNames'>,
  { place, path }: RankedFile,
): SearchHit[] {
  const scope = scopes[place]
  if (!scope) return []
  try {
    const { stat } = getRoot(context, scope).stat(path)
    return [{ root: scope.root, path, modifiedAt: stat.modifiedAt, size: stat.size }]
  } catch (error) {
    if (error instanceof FileError) return []
    throw error
  }
}

/** Compiles a query into a ranking of names by folder: a glob, or else a part of the name or the folder path. */
function compileQuery(query: string): (folder: string) => RankName {
  const text = foldCase(query)
  if (isPathGlob(text)) return compileGlobQuery(text)
  return (folder) => {
    const path = foldCase(folder)
    const isInFolder = path.includes(text)
    const rankName: RankName = (name) => {
      const lower = foldCase(name)
      const index = lower.indexOf(text)
      if (index === 0) return lower.length === text.length || lower[text.length] === '.' ? 0 : 1
      if (index > 0) return 2
      return isInFolder || (text.includes('/') && joinPath(path, lower).includes(text))
        ? 3
        : undefined
    }
    return rankName
  }
}

/** A pattern without a slash matches names, one with a slash matches paths. */
function compileGlobQuery(pattern: string): (folder: string) => RankName {
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

const formatCursor = ({ rank, place, path }: RankedFile) => `${rank}.${place}.${path}`

function parseCursor(cursor: string): RankedFile {
  const [, rank, place, path] = /^(\d)\.(\d+)\.(.*)$/s.exec(cursor) ?? []
  if (path === undefined) throw new FileError('invalid_query', 'Invalid cursor.')
  return { rank: Number(rank), place: Number(place), path }
}
