import fs from 'node:fs'
import { FileFault } from '../confine/fault.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { SearchHit } from '../worker/protocol.ts'
import { pause, readAt } from './disk.ts'
import { compileFinder } from './finder.ts'
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
  const finder = await compileFinder(ask.query, ask.regex ?? false)
  const after = ask.after === undefined ? undefined : parsedCursor(ask.after)
  const page = createSmallest<Hit>(ask.limit + 1, order)
  let [total, skipped] = [0, 0]
  for (const folder of searched(context, ask))
    for (let at = 0; at < folder.names.length;) {
      const batch = lookedAt(context, folder, folder.names.slice(at, at + filesAtOnce), finder)
      at += batch.count
      skipped += batch.skipped
      for (const file of batch.files) {
        const lines = await linesIn(context, folder, file, finder)
        if (!lines) skipped++
        total += lines?.length ?? 0
        for (const hit of lines ?? [])
          if (after === undefined || order(hit, after) > 0) page.add(hit)
      }
      await pause(context, cancelled)
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

/** Files, and bytes of those worth a closer look, before others get their turn. */
const filesAtOnce = 64
const bytesAtOnce = 4 * 1024 * 1024

/** A first look at some files of a folder: which may have a match. */
function lookedAt(context: OpContext, folder: Searched, names: readonly string[], finder: Finder) {
  const files: File[] = []
  let [count, kept, skipped] = [0, 0, 0]
  const lookAll = (at: (name: string) => string) => {
    for (const name of names) {
      count++
      const file = lookAt(context, folder, name, at(name), finder)
      if (file === 'skipped') skipped++
      else if (file) {
        files.push(file)
        kept += file.bytes.length
        if (kept > bytesAtOnce) return
      }
    }
  }
  if (folder.fd === undefined) lookAll(() => '')
  else inside(folder.confined, folder.fd, lookAll)
  return { files, count, skipped }
}

function lookAt(
  { limits }: OpContext,
  folder: Searched,
  name: string,
  at: string,
  finder: Finder,
): File | 'skipped' | undefined {
  const path = pathIn(folder, name)
  const leaf = openedLeaf(folder, at, path)
  if (!leaf) return 'skipped'
  const { fd, stat } = leaf
  try {
    if (stat.size > BigInt(limits.maxBinaryReadBytes)) return 'skipped'
    const bytes = readAt(fd, 0, Number(stat.size))
    const hint = finder.hint(bytes)
    if (hint === 'no') return undefined
    const modifiedAt = Math.floor(Number(stat.mtimeMs))
    return { path, size: Number(stat.size), modifiedAt, bytes, isOdd: hint === 'odd' }
  } catch {
    return 'skipped'
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

/** Undefined where the file is no text. One that is sensitive has no lines to show (PV5). */
async function linesIn(
  { guard }: OpContext,
  { confined, place }: Searched,
  { bytes, isOdd, ...file }: File,
  finder: Finder,
): Promise<readonly Hit[] | undefined> {
  if (guard.isSensitive(absoluteIn(confined, file.path))) return []
  const text = isOdd ? await textOf(bytes) : bytes.toString('utf8').replace(/^\uFEFF/, '')
  if (text === undefined) return undefined
  return finder.linesOf(text).map((line) => ({ place, root: confined.root.key, ...file, ...line }))
}

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
