/** Changes one file: stores the old content first and publishes the new one atomically. */
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
  buildNewContent,
  notFoundError,
  permissionBits,
  readCurrentFile,
  staleError,
} from './current-file.ts'
import type { ChangeResult, BuildContent, CurrentFile, ChangeRequest } from './current-file.ts'

export async function changeFile(
  context: OpContext,
  request: ChangeRequest,
  buildContent: BuildContent,
): Promise<ChangeResult> {
  const confined = getRoot(context, request.at)
  if (confined.root.kind === 'file') {
    await context.waitForEntry()
    return withPathLock([confined.root.path], () =>
      changeInPlace(context, confined, request, buildContent),
    )
  }
  const change = (parents: boolean) =>
    walkAndLock<Parent, ChangeResult>(
      (use) =>
        confined.withParent(request.at.path, use, {
          need: request.writeMode === 'create' ? 'create' : 'write',
          parents,
          reviewed: request.reviewed ?? false,
        }),
      (parent) => [lockPath({ confined, parent })],
      (parent) => changeAtParent({ context, confined, parent }, request, buildContent),
    )
  try {
    return await change(false)
  } catch (error) {
    const isMissing = error instanceof FileError && error.code === 'not_found'
    if (!isMissing || request.writeMode === 'replace') throw error
  }
  // New folders are visible immediately, so the content is validated before they are created.
  await buildNewContent(context, request, undefined, buildContent)
  await context.waitForEntry()
  return change(true)
}

type ChangeTarget = {
  readonly context: OpContext
  readonly confined: ConfinedRoot
  readonly parent: Parent
}

async function changeAtParent(
  target: ChangeTarget,
  request: ChangeRequest,
  buildContent: BuildContent,
): Promise<ChangeResult> {
  const { context, confined, parent } = target
  const current = readCurrent(target, request)
  const bytes = await buildNewContent(context, request, current, buildContent)
  if (bytes === undefined) return unchangedResult(current, parent.real)

  const mode = resolveMode(target, request, current)
  const changed = await withTempFile(parent, mode ?? 0o644, async (temporary) => {
    const { fd } = temporary
    writeAll(fd, bytes)
    // A new file without a requested mode gets the system default.
    if (mode !== undefined) fs.fchmodSync(fd, mode)
    if (current) preserveOwner(fd, current)
    const durable = Promise.all([
      fsync(fd),
      current && storeVersion(context, current.sha256, current.bytes),
    ])
    // Runs while the disk syncs.
    const sha256 = sha256Hex(bytes)
    const stat = fs.fstatSync(fd, { bigint: true })
    const buildResult = (backup: string | undefined): ChangeResult => ({
      stat: toStat(stat),
      real: parent.real,
      sha256,
      ...(current && { before: { ...toVersion(current), swap: toSwap(current.stat, stat) } }),
      ...(backup !== undefined && { backup: join(dirname(parent.real), backup) }),
    })
    const answer = buildResult(current && request.backup ? nextBackupName(parent) : undefined)
    const expected = expectFile(confined, parent, stat, answer)
    // A rejected change does not wait for the disk.
    await Promise.all([durable, context.waitForEntry(expected)])
    const result = buildResult(publish(parent, temporary, current, request))
    const { swap } = result.before ?? {}
    // A grant of this file alone follows the new inode (PV9).
    if (swap) context.roots.follow(lockPath(target), swap.from, swap.to)
    return result
  })
  await fsyncFolder(parent.entryPath('.'))
  return changed
}

/** A restored file has its own mode, but outside Code/ no execute bit that the current file lacks (F5). */
function resolveMode(
  { confined, parent }: ChangeTarget,
  { mode }: ChangeRequest,
  current: CurrentFile | undefined,
) {
  const currentMode = current && permissionBits(current.stat)
  if (mode === undefined || canBeExecutable(confined, parent.real)) return mode ?? currentMode
  return clearExecuteBits(mode) | (mode & (currentMode ?? 0))
}

function readCurrent(
  { context, confined, parent }: ChangeTarget,
  { at, writeMode }: ChangeRequest,
): CurrentFile | undefined {
  const target = parent.entryPath(parent.name)
  // A create-only caller learns that the file exists and nothing else (GR9).
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

function unchangedResult(current: CurrentFile | undefined, real: string): ChangeResult {
  if (!current) throw notFoundError(real)
  return { stat: toStat(current.stat), real, sha256: current.sha256 }
}

const toSwap = (from: fs.BigIntStats, to: fs.BigIntStats) => ({
  from: toInode(from),
  to: toInode(to),
})

/** A daemon that runs as root keeps the owner of the file. */
function preserveOwner(fd: number, { stat }: CurrentFile): void {
  if (process.getuid?.() !== 0) return
  const created = fs.fstatSync(fd, { bigint: true })
  if (created.uid === stat.uid && created.gid === stat.gid) return
  fs.fchownSync(fd, Number(stat.uid), Number(stat.gid))
}

/** Synchronous, so that only other processes can interfere, which is detected. */
function publish(
  parent: Parent,
  temporary: TempFile,
  current: CurrentFile | undefined,
  { backup, at: { path } }: ChangeRequest,
): string | undefined {
  const target = parent.entryPath(parent.name)
  if (!current) {
    publishNew(temporary, target)
    return undefined
  }
  const now = lstatEntry(target)
  if (!now || !isUnchanged(now, current.stat)) throw staleError(path)
  if (backup) return createBackup(parent, current, () => publishOver(temporary, target))
  publishOver(temporary, target)
  return undefined
}
