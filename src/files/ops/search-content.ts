import fs from 'node:fs'
import { FileError } from '../confine/file-error.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpResponse, OpRequest, SearchHit, Skipped } from '../worker/protocol.ts'
import { yieldOrCancel, readAt } from './io.ts'
import { withTextMatcher } from './text-matcher.ts'
import type { TextMatcher } from './text-matcher.ts'
import { withWorkingDirectory } from './folders.ts'
import { isLegacyOffice, canBeDocument, detectType } from './file-type.ts'
import { openRegularFile } from './regular-file.ts'
import { toAbsoluteHitPath, toPath, searchFolders } from './search-scope.ts'
import type { SearchFolder } from './search-scope.ts'
import { comparePath, compareText, createTopN } from './top-n.ts'
import { sampleBytes, textOf } from './encoding.ts'

type At = { readonly place: number; readonly path: string }
type Found = At & { readonly line: number }
type Hit = Found & Required<SearchHit>

const byPlace = (a: At, b: At): number => a.place - b.place || comparePath(a.path, b.path)
const order = (a: Found, b: Found): number => byPlace(a, b) || a.line - b.line

export const searchContent: RunOp<'searchContent'> = async (context, ask, _body, cancelled) => {
  const rest = () => yieldOrCancel(context, cancelled)
  return withTextMatcher(ask, rest, (finder) => searchWith(finder, context, ask, rest))
}

async function searchWith(
  finder: TextMatcher,
  context: OpContext,
  ask: OpRequest<'searchContent'>,
  rest: () => Promise<void>,
): Promise<OpResponse<'searchContent'>> {
  const after = ask.after === undefined ? undefined : parsedCursor(ask.after)
  const most = ask.limit + 1
  const page = createTopN<Hit>(most, order)
  const skipped = createSkippedFiles()
  let total = 0
  let done = 0
  for (const folder of searchFolders(context, ask)) {
    const { place, confined } = folder
    const skip = (why: Skipped['why'], path: string) =>
      skipped.add(why, { place, root: confined.root.key, path })
    for (let at = 0; at < folder.names.length;) {
      const names = folder.names.slice(at, at + filesAtOnce)
      const { count, files, packed } = lookedAt(context, folder, names, finder, skip)
      at += count
      done += count
      context.reportProgress(done)
      for (const { path, bytes } of packed)
        if (await isDocument(path, bytes)) skip('document', path)
      const found = await matchesIn(folder, files, finder, { after, most })
      total += found.count
      found.hits.forEach(page.add)
      await rest()
    }
  }
  context.reportProgress(done, done)
  const hits = page.sorted().slice(0, ask.limit)
  const last = hits.at(-1)
  const isMore = page.sorted().length > ask.limit && last !== undefined
  return {
    hits: hits.map(shown),
    total,
    skipped: skipped.all(),
    ...(isMore && { next: cursorOf(last) }),
  }
}

type Content = {
  readonly path: string
  readonly size: number
  readonly modifiedAt: number
  readonly bytes: Buffer
}
type File = Content & { readonly isOdd: boolean }

/** Files, and bytes of them, before others get their turn. */
const filesAtOnce = 64
const bytesAtOnce = 4 * 1024 * 1024

/** A first look at some files of a folder: which may have a match. A sensitive one is not even read (PV5). */
function lookedAt(
  { guard, limits }: OpContext,
  folder: SearchFolder,
  names: readonly string[],
  finder: TextMatcher,
  skip: (why: Skipped['why'], path: string) => void,
) {
  const files: File[] = []
  const packed: Content[] = []
  let [count, bytes] = [0, 0]
  const look = (name: string, at: string) => {
    const path = toPath(folder, name)
    if (guard.isSensitive(toAbsoluteHitPath(folder.confined, path))) return skip('sensitive', path)
    const file = contentOf(folder, path, at, limits.maxBinaryReadBytes)
    if (typeof file === 'string') return skip(file, path)
    bytes += file.bytes.length
    if (canBeDocument(file.bytes)) return void packed.push(file)
    const hint = finder.hint(file.bytes)
    if (hint !== 'no') files.push({ ...file, isOdd: hint === 'odd' })
  }
  const lookAll = (at: (name: string) => string) => {
    for (const name of names) {
      if (bytes > bytesAtOnce) return
      count++
      look(name, at(name))
    }
  }
  if (folder.fd === undefined) lookAll(() => '')
  else withWorkingDirectory(folder.confined, folder.fd, lookAll)
  return { files, packed, count }
}

/** What the file holds, or why that is not known; of what is no text anyway the beginning is enough. */
function contentOf(folder: SearchFolder, path: string, at: string, most: number) {
  const leaf = openedLeaf(folder, at, path)
  if (!leaf) return 'unreadable'
  const { fd, stat } = leaf
  try {
    if (stat.size > BigInt(most)) return 'too_large'
    const size = Number(stat.size)
    const modifiedAt = Math.floor(Number(stat.mtimeMs))
    const start = readAt(fd, 0, Math.min(size, sampleBytes))
    const isAll = start.length === size || canBeDocument(start)
    return { path, size, modifiedAt, bytes: isAll ? start : readAt(fd, 0, size) }
  } catch {
    return 'unreadable'
  } finally {
    fs.closeSync(fd)
  }
}

function openedLeaf({ confined, fd }: SearchFolder, at: string, path: string) {
  try {
    return fd === undefined ? confined.openFile('') : openRegularFile(confined, at, path)
  } catch {
    // Not regular, not ours to read, gone: a search goes on.
    return undefined
  }
}

/** Its text would have to be taken out first, which takes too long for all that a search may meet. */
const isDocument = async (path: string, start: Buffer): Promise<boolean> =>
  isLegacyOffice(start) || (await detectType(start, path))?.kind === 'document'

type Wanted = { readonly after: Found | undefined; readonly most: number }

/** What is no text has no lines. */
async function matchesIn(
  { confined, place }: SearchFolder,
  files: readonly File[],
  finder: TextMatcher,
  { after, most }: Wanted,
): Promise<{ readonly count: number; readonly hits: readonly Hit[] }> {
  const read = await Promise.all(files.map(async (file) => ({ file, text: await textIn(file) })))
  const texts = read
    .flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]))
    // Only the first lines of all are kept.
    .toSorted((a, b) => comparePath(a.file.path, b.file.path))
  if (texts.length === 0) return { count: 0, hits: [] }
  const asked = texts.map(({ file: { path }, text }) => ({
    text,
    after: after === undefined ? 0 : lineAfter(after, { place, path }),
  }))
  const found = await finder.linesOf(asked, most)
  const hits = texts.flatMap(({ file: { path, size, modifiedAt } }, at) => {
    const file = { place, root: confined.root.key, path, size, modifiedAt }
    return (found[at]?.lines ?? []).map((line) => ({ ...file, ...line }))
  })
  return { count: found.reduce((sum, { count }) => sum + count, 0), hits }
}

function lineAfter(after: Found, file: At): number {
  const by = order({ ...file, line: after.line }, after)
  return by === 0 ? after.line : by < 0 ? Infinity : 0
}

const textIn = ({ bytes, isOdd }: File): Promise<string | undefined> =>
  isOdd ? textOf(bytes) : Promise.resolve(bytes.toString('utf8').replace(/^\uFEFF/, ''))

function shown(hit: Hit): SearchHit {
  const { place: _, ...rest } = hit
  return rest
}

const cursorOf = ({ place, line, path }: Found) => `${place}.${line}.${path}`

function parsedCursor(cursor: string): Found {
  const [, place, line, path] = /^(\d+)\.(\d+)\.(.*)$/s.exec(cursor) ?? []
  if (path === undefined) throw new FileError('invalid_query', 'That is no cursor of this search.')
  return { place: Number(place), line: Number(line), path }
}

const mostNamed = 5

/** Files that a search by content did not look into: all are counted, the first few are named. */
function createSkippedFiles() {
  type Named = At & { readonly root: string }
  const found = new Map<Skipped['why'], { count: number; readonly first: Smallest<Named> }>()
  return {
    add(why: Skipped['why'], at: Named): void {
      const same = found.get(why) ?? { count: 0, first: createTopN<Named>(mostNamed, byPlace) }
      found.set(why, same)
      same.count++
      same.first.add(at)
    },
    all: (): readonly Skipped[] =>
      [...found]
        .toSorted(([a], [b]) => compareText(a, b))
        .map(([why, { count, first }]) => ({
          why,
          count,
          first: first.sorted().map(({ root, path }) => ({ root, path })),
        })),
  }
}

type Smallest<T> = ReturnType<typeof createTopN<T>>
