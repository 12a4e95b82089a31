import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { checkDestination, toStat } from '../confine/access-checks.ts'
import { getErrno, toFileError, FileError } from '../confine/file-error.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { RootedPath } from '../worker/protocol.ts'
import type { ConfinedRoot } from '../confine/types.ts'
import { createTempName } from '../confine/temp-name.ts'
import { yieldOrCancel, getRoot, fsyncFolder } from './io.ts'
import { forEachEntry, removeTree } from './tree.ts'
import type { OpenEntry } from './tree.ts'
import { walkAndLock, lockPath } from './path-lock.ts'
import { lstatEntry } from './regular-file.ts'
import { existsError, notFoundError, permissionBits } from './current-file.ts'
import { copyTree, canBeExecutable, clearExecuteBits } from './copy.ts'
import { toEntryPath } from './folders.ts'
import { expectFile } from './expected-result.ts'
import { isFree, renameFolderNoReplace, renameNoReplace, unlinkIfExists } from './atomic-publish.ts'

export const move: RunOp<'move'> = async (
  context,
  { from, to, reviewed = false },
  _body,
  cancelled,
) => {
  checkNotInside(from, to)
  const [source, target] = [getRoot(context, from), getRoot(context, to)]
  const walk = <T>(use: (ends: readonly [OpenEntry, OpenEntry]) => Promise<T>) =>
    source.withParent(
      from.path,
      (sourceParent) => {
        // Checked first, so that a missing source creates no folder.
        if (!lstatEntry(sourceParent.entryPath(sourceParent.name))) throw notFoundError(from.path)
        return target.withParent(
          to.path,
          (parent) =>
            use([
              { confined: source, parent: sourceParent },
              { confined: target, parent },
            ]),
          { need: 'create', parents: true, reviewed, keepLeafLink: true },
        )
      },
      { need: 'write', reviewed, keepLeafLink: true },
    )
  return walkAndLock(
    walk,
    (ends) => ends.map(lockPath),
    async (ends) => {
      const [sourcePath, targetPath] = [ends[0].parent.real, ends[1].parent.real]
      checkNotInside({ ...from, path: sourcePath }, { ...to, path: targetPath })
      const answer = (stat: BigIntStats) => ({
        stat: toStat(stat),
        from: sourcePath,
        to: targetPath,
      })
      return answer(await transfer(context, ...ends, { reviewed, cancelled, answer }))
    },
  )
}

function checkNotInside(from: RootedPath, to: RootedPath): void {
  if (from.root === to.root && to.path.startsWith(`${from.path}/`))
    throw new FileError('invalid_path', 'A folder cannot be moved into itself.', to.path)
}

export type TransferOptions = {
  /** A person or trust has approved the destination. */
  readonly reviewed?: boolean
  readonly origin?: string | undefined
  /** Returns true once no caller waits: an incomplete copy is discarded. */
  cancelled?(): boolean
  answer(stat: BigIntStats): object
}

/** Moves with rename or, to another disk, with a verified copy before the original is removed. */
export async function transfer(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  options: TransferOptions,
): Promise<BigIntStats> {
  const [source, target] = [toPath(from), toPath(to)]
  const stat = lstatEntry(source)
  if (!stat) throw notFoundError(from.parent.real)
  if (stat.isDirectory()) await checkInside(context, from, to, options)
  if (!isFree(target)) throw existsError(to.parent.real)
  const isOtherDisk = stat.dev !== lstatEntry(to.parent.entryPath('.'))?.dev
  // A copy never has the execute bits, even after a crash; after a rename it would have them for a moment.
  const needsCopy =
    isOtherDisk ||
    (!keepsExecuteBits(from, to) && (await containsExecutable(from, createYield(context, options))))
  await (needsCopy ? transferByCopy : transferByRename)(context, from, to, options)
  await Promise.all([
    fsyncFolder(to.parent.entryPath('.')),
    fsyncFolder(from.parent.entryPath('.')),
  ])
  return lstatEntry(target) ?? stat
}

const toPath = ({ parent }: OpenEntry) => parent.entryPath(parent.name)

const createYield =
  (context: OpContext, { cancelled = () => false }: TransferOptions) =>
  () =>
    yieldOrCancel(context, cancelled)

const announceResult = (
  context: OpContext,
  to: OpenEntry,
  stat: BigIntStats,
  { answer }: TransferOptions,
  removed?: RootedPath,
) => context.waitForEntry(expectFile(to.confined, to.parent, stat, answer(stat), removed))

async function transferByRename(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  options: TransferOptions,
): Promise<void> {
  const [source, target] = [toPath(from), toPath(to)]
  const stat = lstatEntry(source)
  if (!stat) throw notFoundError(from.parent.real)
  await announceResult(context, to, stat, options)
  try {
    // An item folder of the trash is new and internal, so no placeholder is needed.
    if (isTrash(to.confined)) fs.renameSync(source, target)
    else if (stat.isDirectory()) renameFolderNoReplace(source, target)
    else renameNoReplace(source, target)
  } catch (error) {
    if (getErrno(error) !== 'EXDEV') throw error
    await transferByCopy(context, from, to, options)
  }
}

async function transferByCopy(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  options: TransferOptions,
): Promise<void> {
  const removed = { root: from.confined.root.key, path: from.parent.real }
  const copied = await copyTree(context, from, to, {
    yieldNow: createYield(context, options),
    mapMode: keepsExecuteBits(from, to) ? (mode) => mode : clearExecuteBits,
    // Announced late: until here, an interrupted move has no effect and is retried.
    onComplete: (stat) => announceResult(context, to, stat, options, removed),
  })
  await fsyncFolder(to.parent.entryPath('.'))
  const source = toPath(from)
  // Renamed first, because half of an item would be listed and restored as a whole. The restore cleans up.
  if (isTrash(from.confined)) return fs.renameSync(source, from.parent.entryPath(createTempName()))
  try {
    await removeTree(from.confined, from.parent, context.yieldIfDue, copied.check)
  } catch (error) {
    const remaining = lstatEntry(source)
    if (remaining?.isDirectory()) throw partialMoveError(toFileError(error), from.parent.real)
    // The source is complete, so the copy is removed. If the source is gone, the move succeeded.
    if (!remaining) return
    unlinkIfExists(toPath(to))
    throw error
  }
}

/** The copy stays, because some of the source files may be gone. */
function partialMoveError({ code, cause }: FileError, path: string): FileError {
  const message =
    code === 'stale'
      ? 'A file in the folder changed during the move.'
      : 'A file in the folder could not be removed.'
  return new FileError(
    code,
    `${message} The copy is complete; part of the source remains.`,
    path,
    cause,
  )
}

/** Checks all entries of a folder: none may be protected, forbidden at the destination or on another disk (PV4, F5, PV9). */
async function checkInside(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  { reviewed = false, origin = toAbsolute(from) }: TransferOptions,
): Promise<void> {
  const { guard } = context
  const target = toAbsolute(to)
  const { confined, parent } = from
  await forEachEntry(context.yieldIfDue, from, (_fd, entry, path) => {
    const suffix = path.slice(parent.real.length)
    const before = `${origin}${suffix}`
    if (!isTrash(confined) && guard.checkForbidden(before, 'write'))
      throw new FileError('forbidden_path', 'The folder contains a protected path.', parent.real)
    if (isTrash(to.confined)) return
    const ends = { from: before, to: `${target}${suffix}`, isFolder: entry.isDirectory() }
    checkDestination(guard, ends, reviewed, path)
  })
}

async function containsExecutable(end: OpenEntry, yieldNow: () => Promise<void>): Promise<boolean> {
  const stat = lstatEntry(toPath(end))
  if (!stat?.isDirectory()) return isExecutable(stat)
  let isFound = false
  await forEachEntry(yieldNow, end, (fd, entry) => {
    isFound ||= entry.isFile() && isExecutable(lstatEntry(toEntryPath(end.confined, fd, entry)))
  })
  return isFound
}

const isExecutable = (stat: BigIntStats | undefined): boolean =>
  stat?.isFile() === true && permissionBits(stat) !== clearExecuteBits(permissionBits(stat))

const isTrash = ({ root }: ConfinedRoot) => root.key === 'trash'

const toAbsolute = ({ confined, parent }: OpenEntry) => `${confined.root.path}/${parent.real}`

/** Nothing in the trash is executed, and a move within a person's own grant keeps the modes. */
const keepsExecuteBits = (from: OpenEntry, to: OpenEntry): boolean =>
  isTrash(to.confined) ||
  canBeExecutable(to.confined, to.parent.real) ||
  (to.confined.root.key !== 'workspace' && from.confined.root.key === to.confined.root.key)
