/** Changing one file: what was there is kept first, what comes is there whole or not at all. */
import fs from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { sha256Hex } from '#base/hash.ts'
import { toStat } from '../confine/access-checks.ts'
import { FileError } from '../confine/file-error.ts'
import { toInode } from '../confine/inode.ts'
import type { ConfinedRoot, Parent } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { createBackup, nextBackupName } from './backup.ts'
import { canBeExecutable, clearExecuteBits } from './copy.ts'
import { closing, isUnchanged, getRoot, fsync, fsyncFolder, writeAll } from './io.ts'
import { changeInPlace } from './in-place.ts'
import { walkAndLock, withPathLock, lockPath } from './path-lock.ts'
import { storeVersion } from './version-store.ts'
import { lstatEntry, openRegularFile } from './regular-file.ts'
import { expectFile } from './expected-result.ts'
import { isFree, publishNew, publishOver, withTempFile } from './atomic-publish.ts'
import type { TempFile } from './atomic-publish.ts'
import {
  existsError,
  toVersion,
  newContent,
  notFoundError,
  permissionBits,
  readCurrentFile,
  staleError,
} from './current-file.ts'
import type { ChangeResult, BuildContent, CurrentFile, ChangeRequest } from './current-file.ts'

export async function changeFile(
  context: OpContext,
  wanted: ChangeRequest,
  make: BuildContent,
): Promise<ChangeResult> {
  const confined = getRoot(context, wanted.at)
  if (confined.root.kind === 'file') {
    await context.waitForEntry()
    return withPathLock([confined.root.path], () => changeInPlace(context, confined, wanted, make))
  }
  const change = (parents: boolean) =>
    walkAndLock<Parent, ChangeResult>(
      (use) =>
        confined.withParent(wanted.at.path, use, {
          need: wanted.writeMode === 'create' ? 'create' : 'write',
          parents,
          reviewed: wanted.reviewed ?? false,
        }),
      (parent) => [lockPath({ confined, parent })],
      (parent) => changeIn({ context, confined, parent }, wanted, make),
    )
  try {
    return await change(false)
  } catch (error) {
    const isMissing = error instanceof FileError && error.code === 'not_found'
    if (!isMissing || wanted.writeMode === 'replace') throw error
  }
  // Folders on the way can be seen as soon as they are made: a content that is refused makes none.
  await newContent(context, wanted, undefined, make)
  await context.waitForEntry()
  return change(true)
}

type Where = {
  readonly context: OpContext
  readonly confined: ConfinedRoot
  readonly parent: Parent
}

async function changeIn(
  where: Where,
  wanted: ChangeRequest,
  make: BuildContent,
): Promise<ChangeResult> {
  const { context, confined, parent } = where
  const present = presentIn(where, wanted)
  const bytes = await newContent(context, wanted, present, make)
  if (bytes === undefined) return asItIs(present, parent.real)

  const mode = modeOf(where, wanted, present)
  const changed = await withTempFile(parent, mode ?? 0o644, async (made) => {
    const { fd } = made
    writeAll(fd, bytes)
    // A new file gets what the system gives to new files.
    if (mode !== undefined) fs.fchmodSync(fd, mode)
    if (present) keepOwner(fd, present)
    const durable = Promise.all([
      fsync(fd),
      present && storeVersion(context, present.sha256, present.bytes),
    ])
    // While the disk is at work.
    const sha256 = sha256Hex(bytes)
    const stat = fs.fstatSync(fd, { bigint: true })
    const becomes = (backup: string | undefined): ChangeResult => ({
      stat: toStat(stat),
      real: parent.real,
      sha256,
      ...(present && { before: { ...toVersion(present), swap: swapOf(present.stat, stat) } }),
      ...(backup !== undefined && { backup: join(dirname(parent.real), backup) }),
    })
    const answer = becomes(present && wanted.backup ? nextBackupName(parent) : undefined)
    const outlook = expectFile(confined, parent, stat, answer)
    // What must not be done after all does not wait for the disk.
    await Promise.all([durable, context.waitForEntry(outlook)])
    const is = becomes(putInPlace(parent, made, present, wanted))
    const { swap } = is.before ?? {}
    // Whoever has a grant of that file alone comes to the new one from now on (PV9).
    if (swap) context.roots.follow(lockPath(where), swap.from, swap.to)
    return is
  })
  await fsyncFolder(parent.entryPath('.'))
  return changed
}

/** What is put back has its own mode; but outside Code/ it is run only where what is there is run (F5). */
function modeOf(
  { confined, parent }: Where,
  { mode }: ChangeRequest,
  present: CurrentFile | undefined,
) {
  const now = present && permissionBits(present.stat)
  if (mode === undefined || canBeExecutable(confined, parent.real)) return mode ?? now
  return clearExecuteBits(mode) | (mode & (now ?? 0))
}

function presentIn(
  { context, confined, parent }: Where,
  { at, writeMode }: ChangeRequest,
): CurrentFile | undefined {
  const target = parent.entryPath(parent.name)
  // Whoever may only create learns that something is there, and nothing of what it is (GR9).
  if (writeMode === 'create') {
    if (!isFree(target)) throw existsError(at.path)
    return undefined
  }
  const leaf = openRegularFile(confined, target, at.path)
  if (!leaf && writeMode === 'replace') throw notFoundError(at.path)
  if (!leaf) return undefined
  using _ = closing(leaf.fd)
  return readCurrentFile(context, leaf, parent.name, at.path)
}

function asItIs(present: CurrentFile | undefined, real: string): ChangeResult {
  if (!present) throw notFoundError(real)
  return { stat: toStat(present.stat), real, sha256: present.sha256 }
}

const swapOf = (from: fs.BigIntStats, to: fs.BigIntStats) => ({
  from: toInode(from),
  to: toInode(to),
})

/** A daemon of the administrator leaves a file to whom it belonged. */
function keepOwner(fd: number, { stat }: CurrentFile): void {
  if (process.getuid?.() !== 0) return
  const mine = fs.fstatSync(fd, { bigint: true })
  if (mine.uid === stat.uid && mine.gid === stat.gid) return
  fs.fchownSync(fd, Number(stat.uid), Number(stat.gid))
}

/** Nothing in here waits, so only other programs can come in between; and those are noticed. */
function putInPlace(
  parent: Parent,
  made: TempFile,
  present: CurrentFile | undefined,
  { backup, at: { path } }: ChangeRequest,
): string | undefined {
  const target = parent.entryPath(parent.name)
  if (!present) {
    publishNew(made, target)
    return undefined
  }
  const now = lstatEntry(target)
  if (!now || !isUnchanged(now, present.stat)) throw staleError(path)
  if (backup) return createBackup(parent, present, () => publishOver(made, target))
  publishOver(made, target)
  return undefined
}
