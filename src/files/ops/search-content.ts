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
import { sampleBytes, decodeText } from './encoding.ts'

type HitLocation = { readonly scopeIndex: number; readonly path: string }
type LineLocation = HitLocation & { readonly line: number }
type Hit = LineLocation & Required<SearchHit>

const compareLocations = (a: HitLocation, b: HitLocation): number =>
  a.scopeIndex - b.scopeIndex || comparePath(a.path, b.path)
const compareLines = (a: LineLocation, b: LineLocation): number =>
  compareLocations(a, b) || a.line - b.line

export const searchContent: RunOp<'searchContent'> = async (context, ask, _body, cancelled) => {
  const yieldNow = () => yieldOrCancel(context, cancelled)
  return withTextMatcher(ask, yieldNow, (matcher) => searchWith(matcher, context, ask, yieldNow))
}

async function searchWith(
  matcher: TextMatcher,
  context: OpContext,
  ask: OpRequest<'searchContent'>,
  yieldNow: () => Promise<void>,
): Promise<OpResponse<'searchContent'>> {
  const after = ask.after === undefined ? undefined : parseCursor(ask.after)
  const maxHits = ask.limit + 1
  const page = createTopN<Hit>(maxHits, compareLines)
  const skipped = createSkippedFiles()
  let total = 0
  let done = 0
  for (const folder of searchFolders(context, ask)) {
    const { scopeIndex, confined } = folder
    const skip = (reason: Skipped['why'], path: string) =>
      skipped.add(reason, { scopeIndex, root: confined.root.key, path })
    for (let index = 0; index < folder.names.length;) {
      const names = folder.names.slice(index, index + filesPerSlice)
      const { count, files, possibleDocuments } = readCandidates(
        context,
        folder,
        names,
        matcher,
        skip,
      )
      index += count
      done += count
      context.reportProgress(done)
      for (const { path, bytes } of possibleDocuments)
        if (await isDocument(path, bytes)) skip('document', path)
      const matches = await findMatches(folder, files, matcher, { after, maxHits })
      total += matches.count
      matches.hits.forEach(page.add)
      await yieldNow()
    }
  }
  context.reportProgress(done, done)
  const hits = page.sorted().slice(0, ask.limit)
  const last = hits.at(-1)
  const isMore = page.sorted().length > ask.limit && last !== undefined
  return {
    hits: hits.map(toSearchHit),
    total,
    skipped: skipped.all(),
    ...(isMore && { next: formatCursor(last) }),
  }
}

type Content = {
  readonly path: string
  readonly size: number
  readonly modifiedAt: number
  readonly bytes: Buffer
}
type File = Content & { readonly needsDecoding: boolean }

/** The number of files, and of bytes, that are read before other operations run. */
const filesPerSlice = 64
const bytesPerSlice = 4 * 1024 * 1024

/** Reads some files of a folder and selects those that may match. A sensitive file is not read at all (PV5). */
function readCandidates(
  { guard, limits }: OpContext,
  folder: SearchFolder,
  names: readonly string[],
  matcher: TextMatcher,
  skip: (reason: Skipped['why'], path: string) => void,
) {
  const files: File[] = []
  const possibleDocuments: Content[] = []
  let [count, bytes] = [0, 0]
  const readOne = (name: string, entryPath: string) => {
    const path = toPath(folder, name)
    if (guard.isSensitive(toAbsoluteHitPath(folder.confined, path))) return skip('sensitive', path)
    const file = readFile(folder, path, entryPath, limits.maxBinaryReadBytes)
    if (typeof file === 'string') return skip(file, path)
    bytes += file.bytes.length
    if (canBeDocument(file.bytes)) return void possibleDocuments.push(file)
    const hint = matcher.hint(file.bytes)
    if (hint !== 'no') files.push({ ...file, needsDecoding: hint === 'odd' })
  }
  const readAll = (pathTo: (name: string) => string) => {
    for (const name of names) {
      if (bytes > bytesPerSlice) return
      count++
      readOne(name, pathTo(name))
    }
  }
  if (folder.fd === undefined) readAll(() => '')
  else withWorkingDirectory(folder.confined, folder.fd, readAll)
  return { files, possibleDocuments, count }
}

/** Returns the content, or the reason why it was not read. The start of a possible document is sufficient. */
function readFile(folder: SearchFolder, path: string, entryPath: string, maxBytes: number) {
  const leaf = tryOpen(folder, entryPath, path)
  if (!leaf) return 'unreadable'
  const { fd, stat } = leaf
  try {
    if (stat.size > BigInt(maxBytes)) return 'too_large'
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

function tryOpen({ confined, fd }: SearchFolder, entryPath: string, path: string) {
  try {
    return fd === undefined ? confined.openFile('') : openRegularFile(confined, entryPath, path)
  } catch {
    // Not regular, not readable or gone: the search continues.
    return undefined
  }
}

/** Documents are skipped: extracting their text takes too long for a search. */
const isDocument = async (path: string, start: Buffer): Promise<boolean> =>
  isLegacyOffice(start) || (await detectType(start, path))?.kind === 'document'

type PageOptions = { readonly after: LineLocation | undefined; readonly maxHits: number }

/** Files that are not text have no matches. */
async function findMatches(
  { confined, scopeIndex }: SearchFolder,
  files: readonly File[],
  matcher: TextMatcher,
  { after, maxHits }: PageOptions,
): Promise<{ readonly count: number; readonly hits: readonly Hit[] }> {
  const contents = await Promise.all(
    files.map(async (file) => ({ file, text: await readText(file) })),
  )
  const texts = contents
    .flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]))
    // Sorted, because only the first lines are kept.
    .toSorted((a, b) => comparePath(a.file.path, b.file.path))
  if (texts.length === 0) return { count: 0, hits: [] }
  const searchedTexts = texts.map(({ file: { path }, text }) => ({
    text,
    after: after === undefined ? 0 : resumeLine(after, { scopeIndex, path }),
  }))
  const results = await matcher.matchAll(searchedTexts, maxHits)
  const hits = texts.flatMap(({ file: { path, size, modifiedAt } }, index) => {
    const file = { scopeIndex, root: confined.root.key, path, size, modifiedAt }
    return (results[index]?.lines ?? []).map((line) => ({ ...file, ...line }))
  })
  return { count: results.reduce((sum, { count }) => sum + count, 0), hits }
}

function resumeLine(after: LineLocation, file: HitLocation): number {
  const comparison = compareLines({ ...file, line: after.line }, after)
  return comparison === 0 ? after.line : comparison < 0 ? Infinity : 0
}

const readText = ({ bytes, needsDecoding }: File): Promise<string | undefined> =>
  needsDecoding ? decodeText(bytes) : Promise.resolve(bytes.toString('utf8').replace(/^\uFEFF/, ''))

function toSearchHit(hit: Hit): SearchHit {
  const { scopeIndex: _, ...rest } = hit
  return rest
}

const formatCursor = ({ scopeIndex, line, path }: LineLocation) => `${scopeIndex}.${line}.${path}`

function parseCursor(cursor: string): LineLocation {
  const [, scopeIndex, line, path] = /^(\d+)\.(\d+)\.(.*)$/s.exec(cursor) ?? []
  if (path === undefined) throw new FileError('invalid_query', 'Invalid cursor.')
  return { scopeIndex: Number(scopeIndex), line: Number(line), path }
}

const maxNamed = 5

/** Files that were not searched: all are counted, the first few are named. */
function createSkippedFiles() {
  type NamedLocation = HitLocation & { readonly root: string }
  const groups = new Map<Skipped['why'], { count: number; readonly first: TopN<NamedLocation> }>()
  return {
    add(reason: Skipped['why'], location: NamedLocation): void {
      const group = groups.get(reason) ?? {
        count: 0,
        first: createTopN<NamedLocation>(maxNamed, compareLocations),
      }
      groups.set(reason, group)
      group.count++
      group.first.add(location)
    },
    all: (): readonly Skipped[] =>
      [...groups]
        .toSorted(([a], [b]) => compareText(a, b))
        .map(([why, { count, first }]) => ({
          why,
          count,
          first: first.sorted().map(({ root, path }) => ({ root, path })),
        })),
  }
}

type TopN<T> = ReturnType<typeof createTopN<T>>
