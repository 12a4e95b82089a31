import fs from 'node:fs'
import type { Dirent } from 'node:fs'
import type { Confined } from '../confine/types.ts'
import type { RunOp } from '../worker/context.ts'
import type { Listed } from '../worker/protocol.ts'
import { pause, rootOf } from './disk.ts'
import { below, entriesOf, inside, listed, named, openedChild, typeOf } from './folders.ts'
import { isIgnored, loadIgnore, rulesAt, rulesIn } from './ignore.ts'
import type { Rules } from './ignore.ts'
import { isUnfinished } from './leaf.ts'
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
  readonly entries: Listed[]
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
  const entries: Listed[] = []
  try {
    const rest = () => pause(context, cancelled)
    const bare = ask.bare === true
    const listing = { confined, makeIgnore, entries, bare, wanted: ask.limit + 1, rest }
    const above = makeIgnore && rulesAt(makeIgnore, confined, real)
    const top = { fd, real, path: '', rules: rulesOf(listing, fd, real, above) }
    const depth = ask.recursive ? Math.min(ask.depth ?? deepest, deepest) : 1
    await listFolder(listing, top, ask.after?.split('/') ?? [], depth)
  } finally {
    fs.closeSync(fd)
  }
  const page = entries.slice(0, ask.limit)
  const last = page.at(-1)
  return { entries: page, ...(entries.length > ask.limit && last && { next: last.path }) }
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
  const { entries, wanted, rest } = listing
  const [last, ...more] = after
  if (last !== undefined && depth > 1) await resume(listing, folder, last, more, depth)
  if (entries.length >= wanted) return
  const found = await entriesAfter(listing, folder, last)
  for (let at = 0; at < found.length && entries.length < wanted;) {
    const entry = found[at]
    if (depth > 1 && entry?.isDirectory()) {
      await listChild(listing, folder, entry.name, depth)
      at++
      await rest()
    } else {
      const end = depth > 1 ? endOfFiles(found, at) : found.length
      statAll(listing, folder, found.slice(at, Math.min(end, at + wanted - entries.length)))
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
  const { confined, entries, wanted, rest } = listing
  const first = createSmallest<Dirent>(wanted - entries.length, (a, b) => byText(a.name, b.name))
  const hides = confined.hidesIn(folder.real)
  let seen = 0
  for (const entry of entriesOf(confined, folder.fd)) {
    if (++seen % 4096 === 0) await rest()
    const { name } = entry
    if ((last !== undefined && name <= last) || isUnfinished(name) || hides(name)) continue
    if (isLeftOut(listing, folder, entry)) continue
    first.add(entry)
  }
  return first.sorted()
}

const isLeftOut = ({ makeIgnore }: Listing, { rules, real }: Folder, entry: Dirent): boolean =>
  makeIgnore !== undefined && isIgnored(rules, below(real, entry.name), entry.isDirectory())

function statAll(listing: Listing, folder: Folder, found: readonly Dirent[]): void {
  const { confined, entries, bare } = listing
  if (bare) {
    for (const entry of found) entries.push(named(below(folder.path, entry.name), typeOf(entry)))
    return
  }
  inside(confined, folder.fd, (at) => {
    for (const entry of found)
      entries.push(listed(below(folder.path, entry.name), at(entry.name), typeOf(entry)))
  })
}

/** A folder and what is in it. One that cannot be entered is listed all the same. */
async function listChild(listing: Listing, folder: Folder, name: string, depth: number) {
  const { confined, entries, bare } = listing
  const path = below(folder.path, name)
  entries.push(bare ? named(path, 'folder') : listed(path, confined.at(folder.fd, name), 'folder'))
  await withChild(listing, folder, name, (child) => listFolder(listing, child, [], depth - 1))
}

/** The page before ended at this name, or somewhere below it. */
const resume = (
  listing: Listing,
  folder: Folder,
  name: string,
  after: readonly string[],
  depth: number,
) => withChild(listing, folder, name, (child) => listFolder(listing, child, after, depth - 1))

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
