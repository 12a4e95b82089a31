/** Changing one file: what was there is kept first, what comes is there whole or not at all. */
import fs from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { sha256Hex } from '#base/hash.ts'
import { statOf } from '../confine/checks.ts'
import { FileFault } from '../confine/fault.ts'
import { inodeOf } from '../confine/inode.ts'
import type { Confined, Parent } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { backedUp, nextBackup } from './backup.ts'
import { mayRun, withoutRunning } from './copy.ts'
import { closing, isUnchanged, rootOf, sync, syncFolder, writeAll } from './disk.ts'
import { changeInPlace } from './in-place.ts'
import { actInTurn, inTurn, pathOfEnd } from './in-turn.ts'
import { keep } from './kept.ts'
import { leafStat, openLeaf } from './leaf.ts'
import { outlookOf } from './outlook.ts'
import { isFree, placeAtFree, placeOver, withTemporary } from './placing.ts'
import type { Temporary } from './placing.ts'
import { exists, keptOf, newContent, notFound, permissionsOf, presentOf, stale } from './present.ts'
import type { Changed, Make, Present, Wanted } from './present.ts'

export async function changeFile(context: OpContext, wanted: Wanted, make: Make): Promise<Changed> {
  const confined = rootOf(context, wanted.at)
  if (confined.root.kind === 'file') {
    await context.entered()
    return inTurn([confined.root.path], () => changeInPlace(context, confined, wanted, make))
  }
  const change = (parents: boolean) =>
    actInTurn<Parent, Changed>(
      (use) =>
        confined.withParent(wanted.at.path, use, {
          need: wanted.how === 'create' ? 'create' : 'write',
          parents,
          reviewed: wanted.reviewed ?? false,
        }),
      (parent) => [pathOfEnd({ confined, parent })],
      (parent) => changeIn({ context, confined, parent }, wanted, make),
    )
  try {
    return await change(false)
  } catch (error) {
    const isMissing = error instanceof FileFault && error.code === 'not_found'
    if (!isMissing || wanted.how === 'replace') throw error
  }
  // Folders on the way can be seen as soon as they are made: a content that is refused makes none.
  await newContent(context, wanted, undefined, make)
  await context.entered()
  return change(true)
}

type Where = { readonly context: OpContext; readonly confined: Confined; readonly parent: Parent }

async function changeIn(where: Where, wanted: Wanted, make: Make): Promise<Changed> {
  const { context, confined, parent } = where
  const present = presentIn(where, wanted)
  const bytes = await newContent(context, wanted, present, make)
  if (bytes === undefined) return asItIs(present, parent.real)

  const mode = modeOf(where, wanted, present)
  const changed = await withTemporary(parent, mode ?? 0o644, async (made) => {
    const { fd } = made
    writeAll(fd, bytes)
    // A new file gets what the system gives to new files.
    if (mode !== undefined) fs.fchmodSync(fd, mode)
    if (present) keepOwner(fd, present)
    const durable = Promise.all([sync(fd), present && keep(context, present.sha256, present.bytes)])
    // While the disk is at work.
    const sha256 = sha256Hex(bytes)
    const stat = fs.fstatSync(fd, { bigint: true })
    const becomes = (backup: string | undefined): Changed => ({
      stat: statOf(stat),
      real: parent.real,
      sha256,
      ...(present && { before: { ...keptOf(present), swap: swapOf(present.stat, stat) } }),
      ...(backup !== undefined && { backup: join(dirname(parent.real), backup) }),
    })
    const answer = becomes(present && wanted.backup ? nextBackup(parent) : undefined)
    const outlook = outlookOf(confined, parent, stat, answer)
    // What must not be done after all does not wait for the disk.
    await Promise.all([durable, context.entered(outlook)])
    const is = becomes(putInPlace(parent, made, present, wanted))
    const { swap } = is.before ?? {}
    // Whoever has a grant of that file alone comes to the new one from now on (PV9).
    if (swap) context.roots.follow(pathOfEnd(where), swap.from, swap.to)
    return is
  })
  await syncFolder(parent.at('.'))
  return changed
}

/** What is put back has its own mode; but outside Code/ it is run only where what is there is run (F5). */
function modeOf({ confined, parent }: Where, { mode }: Wanted, present: Present | undefined) {
  const now = present && permissionsOf(present.stat)
  if (mode === undefined || mayRun(confined, parent.real)) return mode ?? now
  return withoutRunning(mode) | (mode & (now ?? 0))
}

function presentIn({ context, confined, parent }: Where, { at, how }: Wanted): Present | undefined {
  const target = parent.at(parent.name)
  // Whoever may only create learns that something is there, and nothing of what it is (GR9).
  if (how === 'create') {
    if (!isFree(target)) throw exists(at.path)
    return undefined
  }
  const leaf = openLeaf(confined, target, at.path)
  if (!leaf && how === 'replace') throw notFound(at.path)
  if (!leaf) return undefined
  using _ = closing(leaf.fd)
  return presentOf(context, leaf, parent.name, at.path)
}

function asItIs(present: Present | undefined, real: string): Changed {
  if (!present) throw notFound(real)
  return { stat: statOf(present.stat), real, sha256: present.sha256 }
}

const swapOf = (from: fs.BigIntStats, to: fs.BigIntStats) => ({
  from: inodeOf(from),
  to: inodeOf(to),
})

/** A daemon of the administrator leaves a file to whom it belonged. */
function keepOwner(fd: number, { stat }: Present): void {
  if (process.getuid?.() !== 0) return
  const mine = fs.fstatSync(fd, { bigint: true })
  if (mine.uid === stat.uid && mine.gid === stat.gid) return
  fs.fchownSync(fd, Number(stat.uid), Number(stat.gid))
}

/** Nothing in here waits, so only other programs can come in between; and those are noticed. */
function putInPlace(
  parent: Parent,
  made: Temporary,
  present: Present | undefined,
  { backup, at: { path } }: Wanted,
): string | undefined {
  const target = parent.at(parent.name)
  if (!present) {
    placeAtFree(made, target)
    return undefined
  }
  const now = leafStat(target)
  if (!now || !isUnchanged(now, present.stat)) throw stale(path)
  if (backup) return backedUp(parent, present, () => placeOver(made, target))
  placeOver(made, target)
  return undefined
}
