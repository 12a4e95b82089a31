import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { checkRisk, toStat } from '../confine/access-checks.ts'
import type { ConfinedRoot, OpenedFile, Parent } from '../confine/types.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import { FileError } from '../confine/file-error.ts'
import { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } from '../confine/flags.ts'
import { createTempName } from '../confine/temp-name.ts'
import {
  closing,
  hashDescriptor,
  isUnchanged,
  chunkBytes,
  readAt,
  getRoot,
  fsync,
  fsyncFolder,
  writeAll,
} from './io.ts'
import { walkAndLock, lockPath } from './path-lock.ts'
import { expectFile } from './expected-result.ts'
import {
  isFree,
  publishNew,
  renameFolderNoReplace,
  renameNoReplace,
  withCleanup,
  withTempFile,
} from './atomic-publish.ts'
import {
  existsError,
  notFoundError,
  permissionBits,
  staleError,
  tooLargeError,
} from './current-file.ts'
import {
  isCloudPlaceholder,
  lstatEntry,
  openRegularFile,
  cloudPlaceholderError,
} from './regular-file.ts'
import type { OpenFile } from './regular-file.ts'
import { forEachEntry, removeNow, removeTree } from './tree.ts'
import type { BeforeRemove, OpenEntry } from './tree.ts'
import { joinPath, readEntries, toEntryPath } from './folders.ts'

type Way = { readonly file: OpenedFile; readonly parent: Parent }

export const copy: RunOp<'copy'> = async (context, { from, to, reviewed = false }) => {
  const source = getRoot(context, from)
  const target = getRoot(context, to)
  const pathOf = ({ real }: OpenedFile) => join(source.root.path, real)

  function check(file: OpenedFile): void {
    const { maxFileBytes } = context.limits
    if (file.stat.size > BigInt(maxFileBytes)) throw tooLargeError(maxFileBytes, from.path)
    const path = pathOf(file)
    // Under a plain name it would be found, shown and sent like any text (PV5).
    if (!reviewed && context.guard.isSensitive(path))
      checkRisk(context.guard.riskReason(path), from.path)
  }

  async function walk<T>(use: (way: Way) => Promise<T>): Promise<T> {
    const file = source.openFile(from.path)
    using _ = closing(file.fd)
    // What is not copied makes no folder either.
    check(file)
    return await target.withParent(to.path, (parent) => use({ file, parent }), {
      need: 'create',
      parents: true,
      reviewed,
      keepLeafLink: true,
    })
  }

  async function act({ file, parent }: Way) {
    if (!isFree(parent.entryPath(parent.name))) throw existsError(to.path)
    const mode = permissionBits(file.stat)
    const content = { ...file, name: basename(pathOf(file)) }
    const copied = await withTempFile(parent, 0o600, async (temporary) => {
      const size = Number(file.stat.size)
      const tell = (bytes: number) => context.reportProgress(bytes, size)
      const sha256 = await copyContent(content, temporary.fd, context.yieldIfDue, tell)
      fs.fchmodSync(
        temporary.fd,
        canBeExecutable(target, parent.real) ? mode : clearExecuteBits(mode),
      )
      const stat = fs.fstatSync(temporary.fd, { bigint: true })
      const answer = { sha256, real: parent.real, stat: toStat(stat) }
      await context.waitForEntry(expectFile(target, parent, stat, answer))
      publishNew(temporary, parent.entryPath(parent.name))
      return answer
    })
    await fsyncFolder(parent.entryPath('.'))
    return copied
  }

  // Of the file that is copied none is taken: it is open, and a copy of what was changed meanwhile is refused.
  return walkAndLock(walk, ({ parent }) => [lockPath({ confined: target, parent })], act)
}

type Rest = () => Promise<void>

/** The content of one descriptor into another, on disk and read back when it resolves; answers its hash. */
async function copyContent(
  source: OpenFile & { readonly name: string },
  to: number,
  rest: Rest,
  onCopied: (bytes: number) => void = () => undefined,
): Promise<string> {
  const { fd, stat, name } = source
  if (isCloudPlaceholder(name, stat, () => readAt(fd, 0, chunkBytes)))
    throw cloudPlaceholderError(name)
  const sha256 = await hashDescriptor(fd, rest, (piece, position) => {
    writeAll(to, piece, position)
    onCopied(position + piece.length)
  })
  await fsync(to)
  if ((await hashDescriptor(to, rest)) !== sha256)
    throw new FileError('unreadable', 'The copy differs from the file. The disk may be failing.')
  if (!isUnchanged(fs.fstatSync(fd, { bigint: true }), stat)) throw staleError(name)
  return sha256
}

/** Only in the workspace's Code/ may a file that was made here be run (F5). */
export const canBeExecutable = ({ root }: ConfinedRoot, real: string): boolean =>
  root.key === 'workspace' && real.startsWith('Code/')

export const clearExecuteBits = (mode: number): number => mode & 0o666

type Spot = {
  readonly confined: ConfinedRoot
  readonly fd: number
  readonly name: string
  readonly bytes?: Buffer | undefined
  readonly real: string
}

type Copied = { add(real: string, stat: BigIntStats): void; readonly check: BeforeRemove }

type How = {
  /** Throws when nobody waits for it any longer. */
  rest(): Promise<void>
  modeOf(mode: number): number
  /** Awaited right before it gets its name, with what the copy is. */
  whole(stat: BigIntStats): Promise<void>
}

/**
 * Copies a file, a link or a whole folder to a free name; nothing is there until all of it is. Answers by what it
 * is known later that something is still as it was copied.
 */
export async function copyTree(
  { yieldIfDue }: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  how: How,
): Promise<Copied> {
  const [source, target] = [spotOf(from), spotOf(to)]
  const name = createTempName()
  const temporary = { ...target, name, real: posix.join(posix.dirname(target.real), name) }
  const copied = createCopied()
  const copy = async () => {
    const stat = await copyOne(source, temporary, how, copied)
    if (stat.isDirectory())
      await forEachEntry(how.rest, from, (fd, entry, real) => {
        const now = lstatEntry(toEntryPath(from.confined, fd, entry))
        if (now) copied.check(real, now)
      })
    const made = lstatEntry(pathOf(temporary))
    if (!made) throw notFoundError(target.real)
    await how.whole(made)
    const place = stat.isDirectory() ? renameFolderNoReplace : renameNoReplace
    place(to.parent.entryPath(name), to.parent.entryPath(target.name))
    return copied
  }
  // A worker that goes while the copy is taken away takes the rest of it.
  return withCleanup(
    () => removeNow(target.confined, to.parent, { name }),
    async () => {
      try {
        return await copy()
      } catch (error) {
        await removeTree(target.confined, temporary, yieldIfDue)
        throw error
      }
    },
  )
}

function createCopied(): Copied {
  // Names that are no text may look alike.
  const known = new Map<string, BigIntStats[]>()
  const isSame = (stat: BigIntStats, before: BigIntStats) =>
    before.isDirectory() ? stat.ino === before.ino : isUnchanged(stat, before)
  return {
    add: (real, stat) => void known.set(real, [...(known.get(real) ?? []), stat]),
    check(real, stat) {
      if (!known.get(real)?.some((before) => isSame(stat, before))) throw staleError(real)
    },
  }
}

const spotOf = ({ confined, parent: { fd, name, real } }: OpenEntry): Spot => ({
  confined,
  fd,
  name,
  real,
})
const pathOf = ({ confined, fd, ...entry }: Spot) => toEntryPath(confined, fd, entry)

async function copyOne(from: Spot, to: Spot, how: How, copied: Copied): Promise<BigIntStats> {
  await how.rest()
  const stat = lstatEntry(pathOf(from))
  if (!stat) throw notFoundError(from.real)
  if (stat.isSymbolicLink() || stat.isDirectory()) {
    copied.add(from.real, stat)
    if (stat.isDirectory()) await copyFolder(from, to, permissionBits(stat), how, copied)
    else fs.symlinkSync(fs.readlinkSync(pathOf(from), { encoding: 'buffer' }), pathOf(to))
    return stat
  }
  const leaf = openRegularFile(from.confined, pathOf(from), from.real)
  if (!leaf) throw notFoundError(from.real)
  copied.add(from.real, leaf.stat)
  using _ = closing(leaf.fd)
  await copyFile({ ...leaf, name: from.name }, pathOf(to), how)
  return leaf.stat
}

/** Under its name at once: what it lies in is unfinished, or it is itself. */
async function copyFile(
  source: OpenFile & { readonly name: string },
  to: string | Buffer,
  { rest, modeOf }: How,
): Promise<void> {
  const { stat } = source
  const fd = fs.openSync(to, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  using _ = closing(fd)
  await copyContent(source, fd, rest)
  fs.fchmodSync(fd, modeOf(permissionBits(stat)))
  fs.futimesSync(fd, Number(stat.atimeMs) / 1000, Number(stat.mtimeMs) / 1000)
}

async function copyFolder(
  from: Spot,
  to: Spot,
  mode: number,
  how: How,
  copied: Copied,
): Promise<void> {
  fs.mkdirSync(pathOf(to), mode | 0o700)
  const source = openSpot(from)
  using _source = closing(source)
  const target = openSpot(to)
  using _target = closing(target)
  for (const { name, bytes } of readEntries(from.confined, source)) {
    const within = (folder: Spot, fd: number) => ({
      confined: folder.confined,
      fd,
      name,
      bytes,
      real: joinPath(folder.real, name),
    })
    await copyOne(within(from, source), within(to, target), how, copied)
  }
  await fsyncFolder(to.confined.entryPath(target))
}

const openSpot = ({ confined, fd, name, real, bytes }: Spot) =>
  confined.openChild(fd, name, real, bytes)
