import fs from 'node:fs'
import { FileError } from '../confine/file-error.ts'
import { isSingleSegment, hasReplacementCharacter } from '../confine/names.ts'
import type { ConfinedRoot } from '../confine/types.ts'
import { createColumnWriter } from '../worker/columns.ts'
import type { RunOp } from '../worker/context.ts'
import { skipTempFile } from './tree.ts'
import { closing, yieldOrCancel, getRoot } from './io.ts'
import {
  joinPath,
  readEntriesOrEmpty,
  readEntries,
  withWorkingDirectory,
  openChildFolder,
  toEntryPath,
  statEntry,
  entryType,
} from './folders.ts'
import type { Entry, EntryStat } from './folders.ts'
import { isIgnored, loadIgnore, loadRulesUpToRoot, loadRules } from './ignore.ts'
import type { IgnoreRules } from './ignore.ts'
import { compareText, createTopN } from './top-n.ts'

/** Deeper ones are listed from further down. */
const deepest = 200

type Folder = {
  readonly fd: number
  /** Relative to the root. */
  readonly real: string
  /** Relative to where was asked. */
  readonly path: string
  readonly cursor: string
  readonly rules: IgnoreRules | undefined
}

type Name = Pick<Entry, 'name' | 'bytes'>

type Listing = {
  readonly confined: ConfinedRoot
  readonly makeIgnore: Awaited<ReturnType<typeof loadIgnore>> | undefined
  readonly found: ReturnType<typeof createColumnWriter>
  readonly bare: boolean
  /** One more than the page takes, to know whether there is more. */
  readonly wanted: number
  rest(): Promise<void>
}

/** Names in order, each folder right before what is in it. */
export const list: RunOp<'list'> = async (context, ask, _body, cancelled) => {
  const confined = getRoot(context, ask.at)
  const makeIgnore = ask.ignore ? await loadIgnore() : undefined
  const { fd, real } = confined.openFolder(ask.at.path)
  const bare = ask.bare === true
  const found = createColumnWriter(bare)
  try {
    const rest = () => {
      context.reportProgress(found.count())
      return yieldOrCancel(context, cancelled)
    }
    const listing = { confined, makeIgnore, found, bare, wanted: ask.limit + 1, rest }
    const above = makeIgnore && loadRulesUpToRoot(makeIgnore, confined, real)
    const top = { fd, real, path: '', cursor: '', rules: rulesOf(listing, fd, real, above) }
    const depth = ask.recursive ? Math.min(ask.depth ?? deepest, deepest) : 1
    await listFolder(listing, top, namesIn(ask.after), depth)
  } finally {
    fs.closeSync(fd)
  }
  const count = Math.min(found.count(), ask.limit)
  context.reportProgress(count, count)
  const page = found.take(ask.limit)
  const { paths, cursors } = page.entries
  const last = cursors?.[paths.length - 1] ?? paths.at(-1)
  const next = found.count() > ask.limit ? last : undefined
  return { ...page, ...(next !== undefined && { next }) }
}

/** A name in a cursor: two that look the same are told apart by their bytes, after an empty name. */
const cursorName = ({ name, bytes }: Name): string =>
  bytes ? `${name}//${bytes.toString('hex')}` : name

/** A cursor is a path that comes back from the caller, who may have written another. */
function namesIn(cursor: string | undefined): readonly Name[] {
  const names: Name[] = []
  const parts = (cursor?.split('/') ?? []).values()
  for (const name of parts) {
    const before = name === '' ? names.pop() : undefined
    const bytes = before && Buffer.from(parts.next().value ?? '', 'hex')
    const isIt = bytes ? isShown(before.name, bytes) : isSingleSegment(name)
    if (!isIt) throw new FileError('invalid_query', 'That is no cursor of this list.')
    names.push(bytes ? { name: before.name, bytes } : { name })
  }
  return names
}

const isShown = (name: string, bytes: Buffer) =>
  hasReplacementCharacter(name) && bytes.toString('utf8') === name

const byName = (a: Name, b: Name): number =>
  compareText(a.name, b.name) || (a.bytes && b.bytes ? Buffer.compare(a.bytes, b.bytes) : 0)

const rulesOf = (
  { makeIgnore, confined }: Listing,
  fd: number,
  real: string,
  above?: IgnoreRules,
) => makeIgnore && loadRules(makeIgnore, confined, { fd, real }, above)

/** `after` are the names that lead from here to the last entry of the page before. */
async function listFolder(
  listing: Listing,
  folder: Folder,
  after: readonly Name[],
  depth: number,
): Promise<void> {
  const { found, wanted, rest } = listing
  const [last, ...more] = after
  if (last !== undefined && depth > 1) await resume(listing, folder, last, more, depth)
  if (found.count() >= wanted) return
  const entries = await entriesAfter(listing, folder, last)
  for (let at = 0; at < entries.length && found.count() < wanted;) {
    const entry = entries[at]
    if (depth > 1 && entry?.isDirectory()) {
      await listChild(listing, folder, entry, depth)
      at++
      await rest()
    } else {
      const end = depth > 1 ? endOfFiles(entries, at) : entries.length
      statAll(listing, folder, entries.slice(at, Math.min(end, at + wanted - found.count())))
      at = end
    }
  }
}

const endOfFiles = (entries: readonly Entry[], from: number) => {
  const end = entries.findIndex((entry, at) => at >= from && entry.isDirectory())
  return end === -1 ? entries.length : end
}

/** The first entries of a folder after a name, as many as the page can take: each of them fills a place at least. */
async function entriesAfter(listing: Listing, folder: Folder, last: Name | undefined) {
  const { confined, found, wanted, rest } = listing
  const first = createTopN<Entry>(wanted - found.count(), byName)
  const hides = confined.createNameFilter(folder.real)
  // What was asked for is refused where it cannot be read; below it only that is left out.
  const entries = folder.path === '' ? readEntries : readEntriesOrEmpty
  let seen = 0
  for (const entry of entries(confined, folder.fd)) {
    if (++seen % 4096 === 0) await rest()
    const { name } = entry
    if ((last !== undefined && byName(entry, last) <= 0) || hides(name)) continue
    if (skipTempFile(confined, folder, name)) continue
    if (isLeftOut(listing, folder, entry)) continue
    first.add(entry)
  }
  return first.sorted()
}

const isLeftOut = ({ makeIgnore }: Listing, { rules, real }: Folder, entry: Entry): boolean =>
  makeIgnore !== undefined && isIgnored(rules, joinPath(real, entry.name), entry.isDirectory())

function statAll(listing: Listing, folder: Folder, entries: readonly Entry[]): void {
  const { confined, bare } = listing
  if (bare) {
    for (const entry of entries) add(listing, folder, entry)
    return
  }
  withWorkingDirectory(confined, folder.fd, (at) => {
    for (const entry of entries) {
      const path = entry.bytes ? toEntryPath(confined, folder.fd, entry) : at(entry.name)
      add(listing, folder, entry, statEntry(path))
    }
  })
}

/** An entry with what was seen of it; one that is gone is listed as it was met. */
function add({ found }: Listing, folder: Folder, entry: Entry, seen?: EntryStat): void {
  const path = joinPath(folder.path, entry.name)
  const cursor =
    entry.bytes || folder.cursor !== folder.path ? joinPath(folder.cursor, cursorName(entry)) : path
  found.add(path, seen?.type ?? entryType(entry), seen?.size, seen?.modifiedAt, cursor)
}

/** A folder and what is in it. One that cannot be entered is listed all the same. */
async function listChild(listing: Listing, folder: Folder, entry: Entry, depth: number) {
  const { confined, bare } = listing
  const seen = bare ? undefined : statEntry(toEntryPath(confined, folder.fd, entry))
  add(listing, folder, entry, seen)
  await withChild(listing, folder, entry, (child) => listFolder(listing, child, [], depth - 1))
}

/** The page before ended at this name, or somewhere below it. What a list leaves out no page leads into. */
async function resume(
  listing: Listing,
  folder: Folder,
  last: Name,
  after: readonly Name[],
  depth: number,
): Promise<void> {
  const { confined, makeIgnore } = listing
  const { real, rules } = folder
  if (confined.createNameFilter(real)(last.name)) return
  if (makeIgnore && isIgnored(rules, joinPath(real, last.name), true)) return
  await withChild(listing, folder, last, (child) => listFolder(listing, child, after, depth - 1))
}

async function withChild(
  listing: Listing,
  folder: Folder,
  child: Name,
  use: (child: Folder) => Promise<void>,
): Promise<void> {
  const { name, bytes } = child
  const real = joinPath(folder.real, name)
  const fd = openChildFolder(listing.confined, folder.fd, name, real, bytes)
  if (fd === undefined) return
  using _ = closing(fd)
  const rules = rulesOf(listing, fd, real, folder.rules)
  const cursor = joinPath(folder.cursor, cursorName(child))
  await use({ fd, real, path: joinPath(folder.path, name), cursor, rules })
}
