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
      (away) => {
        // Nothing is moved, then no folder is made for it either.
        if (!lstatEntry(away.entryPath(away.name))) throw notFoundError(from.path)
        return target.withParent(
          to.path,
          (parent) =>
            use([
              { confined: source, parent: away },
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
      const [away, parent] = [ends[0].parent.real, ends[1].parent.real]
      checkNotInside({ ...from, path: away }, { ...to, path: parent })
      const answer = (stat: BigIntStats) => ({ stat: toStat(stat), from: away, to: parent })
      return answer(await transfer(context, ...ends, { reviewed, cancelled, answer }))
    },
  )
}

function checkNotInside(from: RootedPath, to: RootedPath): void {
  if (from.root === to.root && to.path.startsWith(`${from.path}/`))
    throw new FileError('invalid_path', 'A folder cannot be moved into itself.', to.path)
}

export type TransferOptions = {
  /** Trust or a person has looked at where it goes. */
  readonly reviewed?: boolean
  readonly origin?: string | undefined
  /** Nobody waits any longer: a copy that is not whole is given up. */
  cancelled?(): boolean
  answer(stat: BigIntStats): object
}

/** Moves by a rename or, to another disk, by a copy that is verified before the original is removed. */
export async function transfer(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  leave: TransferOptions,
): Promise<BigIntStats> {
  const [source, target] = [pathOf(from), pathOf(to)]
  const stat = lstatEntry(source)
  if (!stat) throw notFoundError(from.parent.real)
  if (stat.isDirectory()) await checkInside(context, from, to, leave)
  if (!isFree(target)) throw existsError(to.parent.real)
  const isOtherDisk = stat.dev !== lstatEntry(to.parent.entryPath('.'))?.dev
  // A copy never has the execute bit, not even after a crash; a rename would have it for a moment.
  const needsCopy =
    isOtherDisk || (!keepsRunning(from, to) && (await hasProgram(from, restOf(context, leave))))
  await (needsCopy ? transferByCopy : transferByRename)(context, from, to, leave)
  await Promise.all([
    fsyncFolder(to.parent.entryPath('.')),
    fsyncFolder(from.parent.entryPath('.')),
  ])
  return lstatEntry(target) ?? stat
}

const pathOf = ({ parent }: OpenEntry) => parent.entryPath(parent.name)

const restOf =
  (context: OpContext, { cancelled = () => false }: TransferOptions) =>
  () =>
    yieldOrCancel(context, cancelled)

const announceResult = (
  context: OpContext,
  to: OpenEntry,
  stat: BigIntStats,
  { answer }: TransferOptions,
  gone?: RootedPath,
) => context.waitForEntry(expectFile(to.confined, to.parent, stat, answer(stat), gone))

async function transferByRename(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  leave: TransferOptions,
): Promise<void> {
  const [source, target] = [pathOf(from), pathOf(to)]
  const stat = lstatEntry(source)
  if (!stat) throw notFoundError(from.parent.real)
  await announceResult(context, to, stat, leave)
  try {
    // A folder of the trash is new and ours alone: nothing has to hold the name there.
    if (isOwn(to.confined)) fs.renameSync(source, target)
    else if (stat.isDirectory()) renameFolderNoReplace(source, target)
    else renameNoReplace(source, target)
  } catch (error) {
    if (getErrno(error) !== 'EXDEV') throw error
    await transferByCopy(context, from, to, leave)
  }
}

async function transferByCopy(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  leave: TransferOptions,
): Promise<void> {
  const gone = { root: from.confined.root.key, path: from.parent.real }
  const copied = await copyTree(context, from, to, {
    rest: restOf(context, leave),
    modeOf: keepsRunning(from, to) ? (mode) => mode : clearExecuteBits,
    // Not before: what was cut off until then has done nothing, and is begun anew.
    whole: (stat) => announceResult(context, to, stat, leave, gone),
  })
  await fsyncFolder(to.parent.entryPath('.'))
  const source = pathOf(from)
  // At once, since half of a thing would be listed and restored for the whole. Whoever restores it clears up.
  if (isOwn(from.confined)) return fs.renameSync(source, from.parent.entryPath(createTempName()))
  try {
    await removeTree(from.confined, from.parent, context.yieldIfDue, copied.check)
  } catch (error) {
    const left = lstatEntry(source)
    if (left?.isDirectory()) throw partlyMoved(toFileError(error), from.parent.real)
    // It is whole where it was. One that is gone all the same was moved.
    if (!left) return
    unlinkIfExists(pathOf(to))
    throw error
  }
}

/** Some of the old files may be gone by now, so the copy is not taken away again. */
function partlyMoved({ code, cause }: FileError, path: string): FileError {
  const why = code === 'stale' ? 'was changed while it was moved' : 'could not be removed'
  return new FileError(
    code,
    `Something in the folder ${why}. The copy is whole; what is left of the folder stands where it was.`,
    path,
    cause,
  )
}

/** A folder is not carried away with what is closed in it or may not stand where it goes, nor with another disk (PV4, F5, PV9). */
async function checkInside(
  context: OpContext,
  from: OpenEntry,
  to: OpenEntry,
  { reviewed = false, origin = absolute(from) }: TransferOptions,
): Promise<void> {
  const { guard } = context
  const target = absolute(to)
  const { confined, parent } = from
  await forEachEntry(context.yieldIfDue, from, (_fd, entry, path) => {
    const inner = path.slice(parent.real.length)
    const before = `${origin}${inner}`
    if (!isOwn(confined) && guard.checkForbidden(before, 'write'))
      throw new FileError('forbidden_path', 'Something in the folder is closed.', parent.real)
    if (isOwn(to.confined)) return
    const ends = { from: before, to: `${target}${inner}`, isFolder: entry.isDirectory() }
    checkDestination(guard, ends, reviewed, path)
  })
}

async function hasProgram(end: OpenEntry, rest: () => Promise<void>): Promise<boolean> {
  const stat = lstatEntry(pathOf(end))
  if (!stat?.isDirectory()) return isProgram(stat)
  let isFound = false
  await forEachEntry(rest, end, (fd, entry) => {
    isFound ||= entry.isFile() && isProgram(lstatEntry(toEntryPath(end.confined, fd, entry)))
  })
  return isFound
}

const isProgram = (stat: BigIntStats | undefined): boolean =>
  stat?.isFile() === true && permissionBits(stat) !== clearExecuteBits(permissionBits(stat))

const isOwn = ({ root }: ConfinedRoot) => root.key === 'trash'

const absolute = ({ confined, parent }: OpenEntry) => `${confined.root.path}/${parent.real}`

/** In the trash nothing is run; a person's own folder is theirs, and what only moves in it is as it was. */
const keepsRunning = (from: OpenEntry, to: OpenEntry): boolean =>
  isOwn(to.confined) ||
  canBeExecutable(to.confined, to.parent.real) ||
  (to.confined.root.key !== 'workspace' && from.confined.root.key === to.confined.root.key)
