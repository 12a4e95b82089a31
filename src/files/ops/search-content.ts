import fs from 'node:fs'
import { FileFault } from '../confine/fault.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { Answered, Ask, SearchHit, Skipped } from '../worker/protocol.ts'
import { pause, readAt } from './disk.ts'
import { withFinder } from './finder.ts'
import type { Finder } from './finder.ts'
import { inside } from './folders.ts'
import { isCompound, mayBeDocument, typeByContent } from './kinds.ts'
import { openLeaf } from './leaf.ts'
import { absoluteIn, pathIn, searched } from './search-places.ts'
import type { Searched } from './search-places.ts'
import { byPath, byText, createSmallest } from './smallest.ts'
import { sampleBytes, textOf } from './text.ts'

type At = { readonly place: number; readonly path: string }
type Found = At & { readonly line: number }
type Hit = Found & Required<SearchHit>

const byPlace = (a: At, b: At): number => a.place - b.place || byPath(a.path, b.path)
const order = (a: Found, b: Found): number => byPlace(a, b) || a.line - b.line

export const searchContent: RunOp<'searchContent'> = async (context, ask, _body, cancelled) => {
  const rest = () => pause(context, cancelled)
  return withFinder(ask, rest, (finder) => searchWith(finder, context, ask, rest))
}

async function searchWith(
  finder: Finder,
  context: OpContext,
  ask: Ask<'searchContent'>,
  rest: () => Promise<void>,
): Promise<Answered<'searchContent'>> {
  const after = ask.after === undefined ? undefined : parsedCursor(ask.after)
  const most = ask.limit + 1
  const page = createSmallest<Hit>(most, order)
  const skipped = createSkipped()
  let total = 0
  let done = 0
  for (const folder of searched(context, ask)) {
    const { place, confined } = folder
    const skip = (why: Skipped['why'], path: string) =>
      skipped.add(why, { place, root: confined.root.key, path })
    for (let at = 0; at < folder.names.length;) {
      const names = folder.names.slice(at, at + filesAtOnce)
      const { count, files, packed } = lookedAt(context, folder, names, finder, skip)
      at += count
      done += count
      context.progress(done)
      for (const { path, bytes } of packed)
        if (await isDocument(path, bytes)) skip('document', path)
      const found = await matchesIn(folder, files, finder, { after, most })
      total += found.count
      found.hits.forEach(page.add)
      await rest()
    }
  }
  context.progress(done, done)
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
  folder: Searched,
  names: readonly string[],
  finder: Finder,
  skip: (why: Skipped['why'], path: string) => void,
) {
  const files: File[] = []
  const packed: Content[] = []
  let [count, bytes] = [0, 0]
  const look = (name: string, at: string) => {
    const path = pathIn(folder, name)
    if (guard.isSensitive(absoluteIn(folder.confined, path))) return skip('sensitive', path)
    const file = contentOf(folder, path, at, limits.maxBinaryReadBytes)
    if (typeof file === 'string') return skip(file, path)
    bytes += file.bytes.length
    if (mayBeDocument(file.bytes)) return void packed.push(file)
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
  else inside(folder.confined, folder.fd, lookAll)
  return { files, packed, count }
}

/** What the file holds, or why that is not known; of what is no text anyway the beginning is enough. */
function contentOf(folder: Searched, path: string, at: string, most: number) {
  const leaf = openedLeaf(folder, at, path)
  if (!leaf) return 'unreadable'
  const { fd, stat } = leaf
  try {
    if (stat.size > BigInt(most)) return 'too_large'
    const size = Number(stat.size)
    const modifiedAt = Math.floor(Number(stat.mtimeMs))
    const start = readAt(fd, 0, Math.min(size, sampleBytes))
    const isAll = start.length === size || mayBeDocument(start)
    return { path, size, modifiedAt, bytes: isAll ? start : readAt(fd, 0, size) }
  } catch {
    return 'unreadable'
  } finally {
    fs.closeSync(fd)
  }
}

function openedLeaf({ confined, fd }: Searched, at: string, path: string) {
  try {
    return fd === undefined ? confined.openFile('') : openLeaf(confined, at, path)
  } catch {
    // Not regular, not ours to read, gone: a search goes on.
    return undefined
  }
}

/** Its text would have to be taken out first, which takes too long for all that a search may meet. */
const isDocument = async (path: string, start: Buffer): Promise<boolean> =>
  isCompound(start) || (await typeByContent(start, path))?.kind === 'document'

type Wanted = { readonly after: Found | undefined; readonly most: number }

/** What is no text has no lines. */
async function matchesIn(
  { confined, place }: Searched,
  files: readonly File[],
  finder: Finder,
  { after, most }: Wanted,
): Promise<{ readonly count: number; readonly hits: readonly Hit[] }> {
  const read = await Promise.all(files.map(async (file) => ({ file, text: await textIn(file) })))
  const texts = read
    .flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]))
    // Only the first lines of all are kept.
    .toSorted((a, b) => byPath(a.file.path, b.file.path))
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
  if (path === undefined) throw new FileFault('invalid_query', 'That is no cursor of this search.')
  return { place: Number(place), line: Number(line), path }
}

const mostNamed = 5

/** Files that a search by content did not look into: all are counted, the first few are named. */
function createSkipped() {
  type Named = At & { readonly root: string }
  const found = new Map<Skipped['why'], { count: number; readonly first: Smallest<Named> }>()
  return {
    add(why: Skipped['why'], at: Named): void {
      const same = found.get(why) ?? { count: 0, first: createSmallest<Named>(mostNamed, byPlace) }
      found.set(why, same)
      same.count++
      same.first.add(at)
    },
    all: (): readonly Skipped[] =>
      [...found]
        .toSorted(([a], [b]) => byText(a, b))
        .map(([why, { count, first }]) => ({
          why,
          count,
          first: first.sorted().map(({ root, path }) => ({ root, path })),
        })),
  }
}

type Smallest<T> = ReturnType<typeof createSmallest<T>>
