import fs from 'node:fs'
import type { Dirent } from 'node:fs'
import { FileFault } from '../confine/fault.ts'
import { isOneName } from '../confine/names.ts'
import type { Confined } from '../confine/types.ts'
import { createColumns } from '../worker/columns.ts'
import type { RunOp } from '../worker/context.ts'
import type { Stat } from '../worker/protocol.ts'
import { passesUnfinished } from './abandoned.ts'
import { pause, rootOf } from './disk.ts'
import { below, entriesOf, inside, openedChild, typeOf } from './folders.ts'
import { isIgnored, loadIgnore, rulesAt, rulesIn } from './ignore.ts'
import type { Rules } from './ignore.ts'
import { byText, createSmallest } from './smallest.ts'

/** Deeper ones are listed from further down. */
const deepest = 200

type Folder = {
  readonly fd: number
  /** Relative to the root. */
  readonly real: string
  /** Relative to where was asked. */
  readonly path: string
  readonly rules: Rules | undefined
}

type Listing = {
  readonly confined: Confined
  readonly makeIgnore: Awaited<ReturnType<typeof loadIgnore>> | undefined
  readonly found: ReturnType<typeof createColumns>
  /** Without sizes and times. */
  readonly bare: boolean
  /** One more than the page takes, to know whether there is more. */
  readonly wanted: number
  rest(): Promise<void>
}

/** Names in order, each folder right before what is in it. */
export const list: RunOp<'list'> = async (context, ask, _body, cancelled) => {
  const confined = rootOf(context, ask.at)
  const makeIgnore = ask.ignore ? await loadIgnore() : undefined
  const { fd, real } = confined.openFolder(ask.at.path)
  const bare = ask.bare === true
  const found = createColumns(bare)
  try {
    const rest = () => pause(context, cancelled)
    const listing = { confined, makeIgnore, found, bare, wanted: ask.limit + 1, rest }
    const above = makeIgnore && rulesAt(makeIgnore, confined, real)
    const top = { fd, real, path: '', rules: rulesOf(listing, fd, real, above) }
    const depth = ask.recursive ? Math.min(ask.depth ?? deepest, deepest) : 1
    await listFolder(listing, top, namesIn(ask.after), depth)
  } finally {
    fs.closeSync(fd)
  }
  const page = found.first(ask.limit)
  const next = found.count() > ask.limit ? page.entries.paths.at(-1) : undefined
  return { ...page, ...(next !== undefined && { next }) }
}

/** A cursor is a path that comes back from the caller, who may have written another. */
function namesIn(cursor: string | undefined): readonly string[] {
  const names = cursor?.split('/') ?? []
  if (names.every(isOneName)) return names
  throw new FileFault('invalid_query', 'That is no cursor of this list.')
}

const rulesOf = ({ makeIgnore, confined }: Listing, fd: number, real: string, above?: Rules) =>
  makeIgnore && rulesIn(makeIgnore, confined, { fd, real }, above)

/** `after` are the names that lead from here to the last entry of the page before. */
async function listFolder(
  listing: Listing,
  folder: Folder,
  after: readonly string[],
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
      await listChild(listing, folder, entry.name, depth)
      at++
      await rest()
    } else {
      const end = depth > 1 ? endOfFiles(entries, at) : entries.length
      statAll(listing, folder, entries.slice(at, Math.min(end, at + wanted - found.count())))
      at = end
    }
  }
}

const endOfFiles = (entries: readonly Dirent[], from: number) => {
  const end = entries.findIndex((entry, at) => at >= from && entry.isDirectory())
  return end === -1 ? entries.length : end
}

/** The first entries of a folder after a name, as many as the page can take: each of them fills a place at least. */
async function entriesAfter(listing: Listing, folder: Folder, last: string | undefined) {
  const { confined, found, wanted, rest } = listing
  const first = createSmallest<Dirent>(wanted - found.count(), (a, b) => byText(a.name, b.name))
  const hides = confined.hidesIn(folder.real)
  let seen = 0
  for (const entry of entriesOf(confined, folder.fd)) {
    if (++seen % 4096 === 0) await rest()
    const { name } = entry
    if ((last !== undefined && name <= last) || hides(name)) continue
    if (passesUnfinished(confined, folder, name)) continue
    if (isLeftOut(listing, folder, entry)) continue
    first.add(entry)
  }
  return first.sorted()
}

const isLeftOut = ({ makeIgnore }: Listing, { rules, real }: Folder, entry: Dirent): boolean =>
  makeIgnore !== undefined && isIgnored(rules, below(real, entry.name), entry.isDirectory())

function statAll(listing: Listing, folder: Folder, entries: readonly Dirent[]): void {
  const { confined, found, bare } = listing
  if (bare) {
    for (const entry of entries) found.add(below(folder.path, entry.name), typeOf(entry))
    return
  }
  inside(confined, folder.fd, (at) => {
    for (const entry of entries)
      addStat(listing, below(folder.path, entry.name), at(entry.name), typeOf(entry))
  })
}

/** An entry with what stat says; one that is gone, or whose name is not text, is listed as it was met. */
function addStat({ found }: Listing, path: string, at: string, type: Stat['type']): void {
  const stat = fs.lstatSync(at, { throwIfNoEntry: false })
  if (!stat) found.add(path, type)
  else found.add(path, typeOf(stat), stat.isFile() ? stat.size : 0, Math.floor(stat.mtimeMs))
}

/** A folder and what is in it. One that cannot be entered is listed all the same. */
async function listChild(listing: Listing, folder: Folder, name: string, depth: number) {
  const { confined, found, bare } = listing
  const path = below(folder.path, name)
  if (bare) found.add(path, 'folder')
  else addStat(listing, path, confined.at(folder.fd, name), 'folder')
  await withChild(listing, folder, name, (child) => listFolder(listing, child, [], depth - 1))
}

/** The page before ended at this name, or somewhere below it. What a list leaves out no page leads into. */
async function resume(
  listing: Listing,
  folder: Folder,
  name: string,
  after: readonly string[],
  depth: number,
): Promise<void> {
  const { confined, makeIgnore } = listing
  const { real, rules } = folder
  if (confined.hidesIn(real)(name)) return
  if (makeIgnore && isIgnored(rules, below(real, name), true)) return
  await withChild(listing, folder, name, (child) => listFolder(listing, child, after, depth - 1))
}

async function withChild(
  listing: Listing,
  folder: Folder,
  name: string,
  use: (child: Folder) => Promise<void>,
): Promise<void> {
  const real = below(folder.real, name)
  const fd = openedChild(listing.confined, folder.fd, name, real)
  if (fd === undefined) return
  try {
    const rules = rulesOf(listing, fd, real, folder.rules)
    await use({ fd, real, path: below(folder.path, name), rules })
  } finally {
    fs.closeSync(fd)
  }
}
