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

type CopyTarget = { readonly file: OpenedFile; readonly parent: Parent }

export const copy: RunOp<'copy'> = async (context, { from, to, reviewed = false }) => {
  const source = getRoot(context, from)
  const target = getRoot(context, to)
  const toPath = ({ real }: OpenedFile) => join(source.root.path, real)

  function check(file: OpenedFile): void {
    const { maxFileBytes } = context.limits
    if (file.stat.size > BigInt(maxFileBytes)) throw tooLargeError(maxFileBytes, from.path)
    const path = toPath(file)
    // Under another name it would be found, shown and sent like any text (PV5).
    if (!reviewed && context.guard.isSensitive(path))
      checkRisk(context.guard.riskReason(path), from.path)
  }

  async function walk<T>(use: (target: CopyTarget) => Promise<T>): Promise<T> {
    const file = source.openFile(from.path)
    using _ = closing(file.fd)
    // Checked first, so that a refused copy creates no folder.
    check(file)
    return await target.withParent(to.path, (parent) => use({ file, parent }), {
      need: 'create',
      parents: true,
      reviewed,
      keepLeafLink: true,
    })
  }

  async function copyToParent({ file, parent }: CopyTarget) {
    if (!isFree(parent.entryPath(parent.name))) throw existsError(to.path)
    const mode = permissionBits(file.stat)
    const content = { ...file, name: basename(toPath(file)) }
    const copied = await withTempFile(parent, 0o600, async (temporary) => {
      const size = Number(file.stat.size)
      const onCopied = (bytes: number) => context.reportProgress(bytes, size)
      const sha256 = await copyContent(content, temporary.fd, context.yieldIfDue, onCopied)
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

  // The source needs no lock: it is open, and the copy fails if it changed.
  return walkAndLock(walk, ({ parent }) => [lockPath({ confined: target, parent })], copyToParent)
}

type Yield = () => Promise<void>

/** Copies a descriptor, syncs it and verifies it by reading it back. Returns the hash. */
async function copyContent(
  source: OpenFile & { readonly name: string },
  to: number,
  yieldNow: Yield,
  onCopied: (bytes: number) => void = () => undefined,
): Promise<string> {
  const { fd, stat, name } = source
  if (isCloudPlaceholder(name, stat, () => readAt(fd, 0, chunkBytes)))
    throw cloudPlaceholderError(name)
  const sha256 = await hashDescriptor(fd, yieldNow, (chunk, position) => {
    writeAll(to, chunk, position)
    onCopied(position + chunk.length)
  })
  await fsync(to)
  if ((await hashDescriptor(to, yieldNow)) !== sha256)
    throw new FileError('unreadable', 'The copy differs from the source. The disk may be failing.')
  if (!isUnchanged(fs.fstatSync(fd, { bigint: true }), stat)) throw staleError(name)
  return sha256
}

/** Files created by agents can be executable only in Code/ of the workspace (F5). */
export const canBeExecutable = ({ root }: ConfinedRoot, real: string): boolean =>
  root.key === 'workspace' && real.startsWith('Code/')

export const clearExecuteBits = (mode: number): number => mode & 0o666

type EntryLocation = {
  readonly confined: ConfinedRoot
  readonly fd: number
  readonly name: string
  readonly bytes?: Buffer | undefined
  readonly real: string
}

type CopiedEntries = { add(real: string, stat: BigIntStats): void; readonly check: BeforeRemove }

type CopyOptions = {
  /** Throws when no caller waits any longer. */
  yieldNow(): Promise<void>
  mapMode(mode: number): number
  /** Awaited with the stat of the finished copy before it gets its name. */
  onComplete(stat: BigIntStats): Promise<void>
}

/**
 * Copies a file, a link or a folder to a free name; it appears only when it is complete. Returns what was copied, to
 * verify later that the source is unchanged.
 */
export async function copyTree(
  { yieldIfDue }: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  options: CopyOptions,
): Promise<CopiedEntries> {
  const [source, target] = [toLocation(from), toLocation(to)]
  const name = createTempName()
  const temporary = { ...target, name, real: posix.join(posix.dirname(target.real), name) }
  const copied = createCopiedEntries()
  const copy = async () => {
    const stat = await copyEntry(source, temporary, options, copied)
    if (stat.isDirectory())
      await forEachEntry(options.yieldNow, from, (fd, entry, real) => {
        const stat = lstatEntry(toEntryPath(from.confined, fd, entry))
        if (stat) copied.check(real, stat)
      })
    const created = lstatEntry(toLocationPath(temporary))
    if (!created) throw notFoundError(target.real)
    await options.onComplete(created)
    const publish = stat.isDirectory() ? renameFolderNoReplace : renameNoReplace
    publish(to.parent.entryPath(name), to.parent.entryPath(target.name))
    return copied
  }
  // A worker that exits during the removal must still remove the rest.
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

function createCopiedEntries(): CopiedEntries {
  // A list, because names with invalid UTF-8 may look the same.
  const statsByPath = new Map<string, BigIntStats[]>()
  const isSame = (stat: BigIntStats, before: BigIntStats) =>
    before.isDirectory() ? stat.ino === before.ino : isUnchanged(stat, before)
  return {
    add: (real, stat) => void statsByPath.set(real, [...(statsByPath.get(real) ?? []), stat]),
    check(real, stat) {
      if (!statsByPath.get(real)?.some((before) => isSame(stat, before))) throw staleError(real)
    },
  }
}

const toLocation = ({ confined, parent: { fd, name, real } }: OpenEntry): EntryLocation => ({
  confined,
  fd,
  name,
  real,
})
const toLocationPath = ({ confined, fd, ...entry }: EntryLocation) =>
  toEntryPath(confined, fd, entry)

async function copyEntry(
  from: EntryLocation,
  to: EntryLocation,
  options: CopyOptions,
  copied: CopiedEntries,
): Promise<BigIntStats> {
  await options.yieldNow()
  const stat = lstatEntry(toLocationPath(from))
  if (!stat) throw notFoundError(from.real)
  if (stat.isSymbolicLink() || stat.isDirectory()) {
    copied.add(from.real, stat)
    if (stat.isDirectory()) await copyFolder(from, to, permissionBits(stat), options, copied)
    else
      fs.symlinkSync(
        fs.readlinkSync(toLocationPath(from), { encoding: 'buffer' }),
        toLocationPath(to),
      )
    return stat
  }
  const leaf = openRegularFile(from.confined, toLocationPath(from), from.real)
  if (!leaf) throw notFoundError(from.real)
  copied.add(from.real, leaf.stat)
  using _ = closing(leaf.fd)
  await copyFile({ ...leaf, name: from.name }, toLocationPath(to), options)
  return leaf.stat
}

/** Writes directly under the final name, because the top of the copy has a temporary name. */
async function copyFile(
  source: OpenFile & { readonly name: string },
  to: string | Buffer,
  { yieldNow, mapMode }: CopyOptions,
): Promise<void> {
  const { stat } = source
  const fd = fs.openSync(to, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  using _ = closing(fd)
  await copyContent(source, fd, yieldNow)
  fs.fchmodSync(fd, mapMode(permissionBits(stat)))
  fs.futimesSync(fd, Number(stat.atimeMs) / 1000, Number(stat.mtimeMs) / 1000)
}

async function copyFolder(
  from: EntryLocation,
  to: EntryLocation,
  mode: number,
  options: CopyOptions,
  copied: CopiedEntries,
): Promise<void> {
  fs.mkdirSync(toLocationPath(to), mode | 0o700)
  const source = openLocation(from)
  using _source = closing(source)
  const target = openLocation(to)
  using _target = closing(target)
  for (const { name, bytes } of readEntries(from.confined, source)) {
    const toChildLocation = (folder: EntryLocation, fd: number) => ({
      confined: folder.confined,
      fd,
      name,
      bytes,
      real: joinPath(folder.real, name),
    })
    await copyEntry(toChildLocation(from, source), toChildLocation(to, target), options, copied)
  }
  await fsyncFolder(to.confined.entryPath(target))
}

const openLocation = ({ confined, fd, name, real, bytes }: EntryLocation) =>
  confined.openChild(fd, name, real, bytes)
