import fs from 'node:fs'
import { FileFault } from '../confine/fault.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { Answered, Ask, SearchHit } from '../worker/protocol.ts'
import { pause, readAt } from './disk.ts'
import { withFinder } from './finder.ts'
import type { Finder } from './finder.ts'
import { inside } from './folders.ts'
import { openLeaf } from './leaf.ts'
import { absoluteIn, pathIn, searched } from './search-places.ts'
import type { Searched } from './search-places.ts'
import { byPath, createSmallest } from './smallest.ts'
import { textOf } from './text-diff.ts'

type Found = { readonly place: number; readonly path: string; readonly line: number }
type Hit = Found & Required<SearchHit>

const order = (a: Found, b: Found): number =>
  a.place - b.place || byPath(a.path, b.path) || a.line - b.line

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
  const page = createSmallest<Hit>(ask.limit + 1, order)
  let [total, skipped] = [0, 0]
  for (const folder of searched(context, ask))
    for (let at = 0; at < folder.names.length;) {
      const batch = lookedAt(context, folder, folder.names.slice(at, at + filesAtOnce), finder)
      at += batch.count
      const hits = await hitsIn(context, folder, batch.files, finder)
      skipped += batch.skipped
      total += hits.length
      for (const hit of hits) if (after === undefined || order(hit, after) > 0) page.add(hit)
      await rest()
    }
  const hits = page.sorted().slice(0, ask.limit)
  const last = hits.at(-1)
  const isMore = page.sorted().length > ask.limit && last !== undefined
  return { hits: hits.map(shown), total, skipped, ...(isMore && { next: cursorOf(last) }) }
}

type File = {
  readonly path: string
  readonly size: number
  readonly modifiedAt: number
  readonly bytes: Buffer
  readonly isOdd: boolean
}

/** Files, and bytes of them, before others get their turn. */
const filesAtOnce = 64
const bytesAtOnce = 4 * 1024 * 1024

/** A first look at some files of a folder: which may have a match. */
function lookedAt(context: OpContext, folder: Searched, names: readonly string[], finder: Finder) {
  const files: File[] = []
  let [count, bytes, skipped] = [0, 0, 0]
  const lookAll = (at: (name: string) => string) => {
    for (const name of names) {
      if (bytes > bytesAtOnce) return
      count++
      const file = contentOf(context, folder, name, at(name))
      if (!file) skipped++
      else {
        bytes += file.bytes.length
        const hint = finder.hint(file.bytes)
        if (hint !== 'no') files.push({ ...file, isOdd: hint === 'odd' })
      }
    }
  }
  if (folder.fd === undefined) lookAll(() => '')
  else inside(folder.confined, folder.fd, lookAll)
  return { files, count, skipped }
}

/** Undefined for a file that is too large or cannot be read. */
function contentOf({ limits }: OpContext, folder: Searched, name: string, at: string) {
  const path = pathIn(folder, name)
  const leaf = openedLeaf(folder, at, path)
  if (!leaf) return undefined
  const { fd, stat } = leaf
  try {
    if (stat.size > BigInt(limits.maxBinaryReadBytes)) return undefined
    const size = Number(stat.size)
    const modifiedAt = Math.floor(Number(stat.mtimeMs))
    return { path, size, modifiedAt, bytes: readAt(fd, 0, size) }
  } catch {
    return undefined
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

/** What is no text has no lines, and one that is sensitive has none to show (PV5). */
async function hitsIn(
  { guard }: OpContext,
  { confined, place }: Searched,
  files: readonly File[],
  finder: Finder,
): Promise<readonly Hit[]> {
  const open = files.filter(({ path }) => !guard.isSensitive(absoluteIn(confined, path)))
  const read = await Promise.all(open.map(async (file) => ({ file, text: await textIn(file) })))
  const texts = read.flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]))
  const found = texts.length === 0 ? [] : await finder.linesOf(texts.map(({ text }) => text))
  return texts.flatMap(({ file: { path, size, modifiedAt } }, at) => {
    const file = { place, root: confined.root.key, path, size, modifiedAt }
    return (found[at] ?? []).map((line) => ({ ...file, ...line }))
  })
}

const textIn = ({ bytes, isOdd }: File): Promise<string | undefined> =>
  isOdd ? textOf(bytes) : Promise.resolve(bytes.toString('utf8').replace(/^\uFEFF/, ''))

const shown = ({ root, path, modifiedAt, size, line, snippet }: Hit): SearchHit => ({
  root,
  path,
  modifiedAt,
  size,
  line,
  snippet,
})

const cursorOf = ({ place, line, path }: Found) => `${place}.${line}.${path}`

function parsedCursor(cursor: string): Found {
  const [, place, line, path] = /^(\d+)\.(\d+)\.(.*)$/s.exec(cursor) ?? []
  if (path === undefined) throw new FileFault('invalid_query', 'That is no cursor of this search.')
  return { place: Number(place), line: Number(line), path }
}
