import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { ConfinedRoot, Parent } from '../confine/types.ts'
import { cleanUpAfterCrash } from '../confine/crash-cleanup.ts'
import { isTempName } from '../confine/temp-name.ts'
import { closing } from './io.ts'
import {
  joinPath,
  readEntriesOrEmpty,
  readEntries,
  openChildFolder,
  toEntryPath,
} from './folders.ts'
import type { Entry } from './folders.ts'
import { lstatEntry } from './regular-file.ts'

/** `real` is relative to the root. */
type OpenFolder = { readonly fd: number; readonly real: string }

export type Folder = OpenFolder & {
  /** Names of its plain files that are not hidden. A large folder comes in several pieces. */
  readonly files: readonly string[]
  /** The bytes of those among them whose names are no text. */
  readonly odd: readonly Buffer[]
}

export type ShouldEnter = (name: string, real: string) => boolean

const filesAtOnce = 4096
/** A tree that is deeper was made to be; each level holds a folder open. */
const deepest = 500

/** Every folder with its files, in no order. Folders are closed when the next one comes, or nobody asks on. */
export function* walkFolders(
  confined: ConfinedRoot,
  path: string,
  enters: ShouldEnter = () => true,
): Generator<Folder> {
  const top = confined.openFolder(path)
  yield* walk(top.fd, top.real, 0)

  function* walk(fd: number, real: string, depth: number): Generator<Folder> {
    using _ = closing(fd)
    const hides = confined.createNameFilter(real)
    const folders: string[] = []
    let files: string[] = []
    let odd: Buffer[] = []
    for (const entry of depth === 0
      ? readEntries(confined, fd)
      : readEntriesOrEmpty(confined, fd)) {
      const { name } = entry
      if (hides(name) || skipTempFile(confined, { fd, real }, name)) continue
      if (entry.isDirectory()) folders.push(name)
      if (!entry.isFile()) continue
      if (entry.bytes) odd.push(entry.bytes)
      if (files.push(name) < filesAtOnce) continue
      yield { fd, real, files, odd }
      files = []
      odd = []
    }
    yield { fd, real, files, odd }
    if (depth === deepest) return
    for (const name of folders) {
      const child = joinPath(real, name)
      if (!enters(name, child)) continue
      const opened = openChildFolder(confined, fd, name, child)
      if (opened !== undefined) yield* walk(opened, child, depth + 1)
    }
  }
}

export type OpenEntry = { readonly confined: ConfinedRoot; readonly parent: Parent }

export async function forEachEntry(
  turn: () => Promise<void>,
  { confined, parent }: OpenEntry,
  visit: (fd: number, entry: Entry, path: string) => void,
): Promise<void> {
  const within = async (
    fd: number,
    { name, bytes }: Pick<Entry, 'name' | 'bytes'>,
    real: string,
  ): Promise<void> => {
    const folder = confined.openChild(fd, name, real, bytes)
    using _ = closing(folder)
    for (const entry of readEntries(confined, folder)) {
      const path = joinPath(real, entry.name)
      visit(folder, entry, path)
      if (entry.isDirectory()) await within(folder, entry, path)
    }
    await turn()
  }
  await within(parent.fd, parent, parent.real)
}

/** Asked right before something goes, by its path relative to the root; throws where it is to stay. */
export type BeforeRemove = (real: string, stat: BigIntStats) => void

type Spot = Pick<Parent, 'fd' | 'name' | 'real'> & {
  /** Of its name, where that may be no text as in old archives. */
  readonly bytes?: Buffer | undefined
}

/**
 * Removes what stands under a name with all that is in it. Links are removed, never followed. What cannot go or is to
 * stay holds up nothing else: why the first of it is left is thrown when all the rest is gone.
 */
export async function removeTree(
  confined: ConfinedRoot,
  top: Spot,
  /** Where this throws, no more goes. */
  rest: () => Promise<void>,
  check: BeforeRemove = () => {},
): Promise<void> {
  let first: { readonly error: unknown } | undefined

  function attempt<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (error) {
      first ??= { error }
      return undefined
    }
  }

  async function remove({ fd, name, real, bytes }: Spot): Promise<void> {
    const path = toEntryPath(confined, fd, { name, bytes })
    const stat = attempt(() => checked(path, real, check))
    if (!stat) return
    if (!stat.isDirectory()) return attempt(() => fs.unlinkSync(path))
    const folder = attempt(() => confined.openChild(fd, name, real, bytes))
    if (folder === undefined) return
    try {
      attempt(() => makeOpen(folder, path, stat))
      // All names first: what a folder lists while it is emptied is not said anywhere.
      const names = attempt(() =>
        fs.readdirSync(confined.entryPath(folder), { encoding: 'buffer' }),
      )
      for (const child of names ?? []) {
        const text = child.toString('utf8')
        await remove({ fd: folder, name: text, real: joinPath(real, text), bytes: child })
        await rest()
      }
    } finally {
      fs.closeSync(folder)
    }
    attempt(() => fs.rmdirSync(path))
  }

  await remove(top)
  // What others took away meanwhile is gone, too.
  if (first && lstatEntry(toEntryPath(confined, top.fd, top))) throw first.error
}

function checked(
  path: string | Buffer,
  real: string,
  check: BeforeRemove,
): BigIntStats | undefined {
  const stat = lstatEntry(path)
  if (stat) check(real, stat)
  return stat
}

/** A folder that its owner may not write to keeps what is in it: package managers make such. */
function makeOpen(folder: number, path: string | Buffer, { mode }: BigIntStats): void {
  if (process.platform === 'win32' || (mode & 0o700n) === 0o700n) return
  fs.chmodSync(process.platform === 'linux' ? `/proc/self/fd/${folder}` : path, 0o700)
}

/** A call has half a minute: what is older will not be finished. */
const abandonedMs = 60 * 60 * 1000
export const isStaleTemp = (mtimeMs: number): boolean => Date.now() - mtimeMs > abandonedMs
/** Of a folder so much goes at once: whoever looks waits for it. */
const mostAtOnce = 10_000

/** Whether a name that a walk met is of that kind. One that was given up goes, and nobody was told that it was kept. */
export function skipTempFile(confined: ConfinedRoot, folder: OpenFolder, name: string): boolean {
  if (!isTempName(name)) return false
  if (confined.root.access === 'read-write') removeAbandoned(confined, folder, name)
  return true
}

function removeAbandoned(confined: ConfinedRoot, { fd, real }: OpenFolder, name: string): void {
  const path = confined.entryPath(fd, name)
  try {
    const stat = fs.lstatSync(path)
    if (stat.isFile() && stat.nlink > 1) cleanUpAfterCrash(path)
    else if (isStaleTemp(stat.mtimeMs))
      removeNow(confined, { fd, real }, { name }, { left: mostAtOnce })
  } catch {
    // Gone by now, or not ours to remove: it stays unseen.
  }
}

/** Without standing aside for others. */
export function removeNow(
  confined: ConfinedRoot,
  { fd, real }: OpenFolder,
  entry: Pick<Entry, 'name' | 'bytes'>,
  most = { left: Infinity },
): void {
  const { name, bytes } = entry
  const path = toEntryPath(confined, fd, entry)
  if (!fs.lstatSync(path).isDirectory()) {
    fs.unlinkSync(path)
    return
  }
  const child = joinPath(real, name)
  const inside = { fd: confined.openChild(fd, name, child, bytes), real: child }
  try {
    for (const one of readEntries(confined, inside.fd))
      if (most.left-- > 0) removeNow(confined, inside, one, most)
  } finally {
    fs.closeSync(inside.fd)
  }
  fs.rmdirSync(path)
}
