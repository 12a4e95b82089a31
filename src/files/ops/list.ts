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

/** Deeper folders can be listed from a subfolder. */
const maxDepth = 200

type Folder = {
  readonly fd: number
  /** Relative to the root. */
  readonly real: string
  /** Relative to the requested folder. */
  readonly path: string
  readonly cursor: string
  readonly rules: IgnoreRules | undefined
}

type Name = Pick<Entry, 'name' | 'bytes'>

type Listing = {
  readonly confined: ConfinedRoot
  readonly makeIgnore: Awaited<ReturnType<typeof loadIgnore>> | undefined
  readonly columns: ReturnType<typeof createColumnWriter>
  readonly bare: boolean
  /** One more than the page size, to detect whether there is a next page. */
  readonly maxEntries: number
  yieldNow(): Promise<void>
}

/** Lists entries in order, each folder directly before its content. */
export const list: RunOp<'list'> = async (context, ask, _body, cancelled) => {
  const confined = getRoot(context, ask.at)
  const makeIgnore = ask.ignore ? await loadIgnore() : undefined
  const { fd, real } = confined.openFolder(ask.at.path)
  const bare = ask.bare === true
  const columns = createColumnWriter(bare)
  try {
    const yieldNow = () => {
      context.reportProgress(columns.count())
      return yieldOrCancel(context, cancelled)
    }
    const listing = { confined, makeIgnore, columns, bare, maxEntries: ask.limit + 1, yieldNow }
    const parentRules = makeIgnore && loadRulesUpToRoot(makeIgnore, confined, real)
    const top = {
      fd,
      real,
      path: '',
      cursor: '',
      rules: loadFolderRules(listing, fd, real, parentRules),
    }
    const depth = ask.recursive ? Math.min(ask.depth ?? maxDepth, maxDepth) : 1
    await listFolder(listing, top, parseCursor(ask.after), depth)
  } finally {
    fs.closeSync(fd)
  }
  const count = Math.min(columns.count(), ask.limit)
  context.reportProgress(count, count)
  const page = columns.take(ask.limit)
  const { paths, cursors } = page.entries
  const last = cursors?.[paths.length - 1] ?? paths.at(-1)
  const next = columns.count() > ask.limit ? last : undefined
  return { ...page, ...(next !== undefined && { next }) }
}

/** A name in a cursor. Names that look the same are distinguished by their bytes, after an empty name. */
const cursorName = ({ name, bytes }: Name): string =>
  bytes ? `${name}//${bytes.toString('hex')}` : name

/** Parses a cursor, which comes from the caller and is untrusted. */
function parseCursor(cursor: string | undefined): readonly Name[] {
  const names: Name[] = []
  const parts = (cursor?.split('/') ?? []).values()
  for (const name of parts) {
    const previous = name === '' ? names.pop() : undefined
    const bytes = previous && Buffer.from(parts.next().value ?? '', 'hex')
    const isValid = bytes ? isShownAs(previous.name, bytes) : isSingleSegment(name)
    if (!isValid) throw new FileError('invalid_query', 'Invalid cursor.')
    names.push(bytes ? { name: previous.name, bytes } : { name })
  }
  return names
}

const isShownAs = (name: string, bytes: Buffer) =>
  hasReplacementCharacter(name) && bytes.toString('utf8') === name

const compareNames = (a: Name, b: Name): number =>
  compareText(a.name, b.name) || (a.bytes && b.bytes ? Buffer.compare(a.bytes, b.bytes) : 0)

const loadFolderRules = (
  { makeIgnore, confined }: Listing,
  fd: number,
  real: string,
  parentRules?: IgnoreRules,
) => makeIgnore && loadRules(makeIgnore, confined, { fd, real }, parentRules)

/** `after` are the names that lead from this folder to the last entry of the previous page. */
async function listFolder(
  listing: Listing,
  folder: Folder,
  after: readonly Name[],
  depth: number,
): Promise<void> {
  const { columns, maxEntries, yieldNow } = listing
  const [last, ...remaining] = after
  if (last !== undefined && depth > 1) await resume(listing, folder, last, remaining, depth)
  if (columns.count() >= maxEntries) return
  const entries = await selectEntries(listing, folder, last)
  for (let index = 0; index < entries.length && columns.count() < maxEntries;) {
    const entry = entries[index]
    if (depth > 1 && entry?.isDirectory()) {
      await listChild(listing, folder, entry, depth)
      index++
      await yieldNow()
    } else {
      const end = depth > 1 ? findNextFolder(entries, index) : entries.length
      statAll(
        listing,
        folder,
        entries.slice(index, Math.min(end, index + maxEntries - columns.count())),
      )
      index = end
    }
  }
}

const findNextFolder = (entries: readonly Entry[], from: number) => {
  const end = entries.findIndex((entry, index) => index >= from && entry.isDirectory())
  return end === -1 ? entries.length : end
}

/** Selects the first entries after a name, at most as many as the page has room for. */
async function selectEntries(listing: Listing, folder: Folder, last: Name | undefined) {
  const { confined, columns, maxEntries, yieldNow } = listing
  const first = createTopN<Entry>(maxEntries - columns.count(), compareNames)
  const isHidden = confined.createNameFilter(folder.real)
  // The requested folder must be readable; folders below it are omitted if they are not.
  const entries = folder.path === '' ? readEntries : readEntriesOrEmpty
  let visited = 0
  for (const entry of entries(confined, folder.fd)) {
    if (++visited % 4096 === 0) await yieldNow()
    const { name } = entry
    if ((last !== undefined && compareNames(entry, last) <= 0) || isHidden(name)) continue
    if (skipTempFile(confined, folder, name)) continue
    if (isOmitted(listing, folder, entry)) continue
    first.add(entry)
  }
  return first.sorted()
}

const isOmitted = ({ makeIgnore }: Listing, { rules, real }: Folder, entry: Entry): boolean =>
  makeIgnore !== undefined && isIgnored(rules, joinPath(real, entry.name), entry.isDirectory())

function statAll(listing: Listing, folder: Folder, entries: readonly Entry[]): void {
  const { confined, bare } = listing
  if (bare) {
    for (const entry of entries) addEntry(listing, folder, entry)
    return
  }
  withWorkingDirectory(confined, folder.fd, (pathTo) => {
    for (const entry of entries) {
      const path = entry.bytes ? toEntryPath(confined, folder.fd, entry) : pathTo(entry.name)
      addEntry(listing, folder, entry, statEntry(path))
    }
  })
}

/** Adds an entry with its stat; an entry that is gone is listed with the type from readdir. */
function addEntry({ columns }: Listing, folder: Folder, entry: Entry, stat?: EntryStat): void {
  const path = joinPath(folder.path, entry.name)
  const cursor =
    entry.bytes || folder.cursor !== folder.path ? joinPath(folder.cursor, cursorName(entry)) : path
  columns.add(path, stat?.type ?? entryType(entry), stat?.size, stat?.modifiedAt, cursor)
}

/** Lists a folder and its content. A folder that cannot be opened is listed without content. */
async function listChild(listing: Listing, folder: Folder, entry: Entry, depth: number) {
  const { confined, bare } = listing
  const stat = bare ? undefined : statEntry(toEntryPath(confined, folder.fd, entry))
  addEntry(listing, folder, entry, stat)
  await withChild(listing, folder, entry, (child) => listFolder(listing, child, [], depth - 1))
}

/** Continues in the folder where the previous page ended. A cursor cannot lead into omitted folders. */
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
  const rules = loadFolderRules(listing, fd, real, folder.rules)
  const cursor = joinPath(folder.cursor, cursorName(child))
  await use({ fd, real, path: joinPath(folder.path, name), cursor, rules })
}
