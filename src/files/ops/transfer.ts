/** What stands under one name comes to stand under another that is free: renamed, or on another disk copied, checked and then removed. */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { checkArrival } from '../confine/checks.ts'
import { errnoOf, FileFault } from '../confine/fault.ts'
import { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } from '../confine/flags.ts'
import { O_PATH } from '../confine/pinned.ts'
import type { Confined } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { copyTree } from './copy-tree.ts'
import { mayRun, withoutRunning } from './copying.ts'
import { pause, syncFolder } from './disk.ts'
import { eachInside } from './each-inside.ts'
import type { End } from './each-inside.ts'
import { pathOfEntry } from './folders.ts'
import { leafStat } from './leaf.ts'
import { outlookOf } from './outlook.ts'
import { renameFolderToFree, renameToFree, unlinkIfThere } from './placing.ts'
import { notFound, permissionsOf } from './present.ts'
import { removeTree } from './remove-tree.ts'

export type Leave = {
  /** Trust or a person has looked at where it goes. */
  readonly reviewed?: boolean
  /** Where it stood before it came into the trash. */
  readonly origin?: string | undefined
  /** Nobody waits any longer: a copy that is not whole is given up. */
  cancelled?(): boolean
  /** What its call is answered when it is done. */
  answer(stat: BigIntStats): object
}

export async function transfer(
  context: OpContext,
  from: End,
  to: End,
  leave: Leave,
): Promise<BigIntStats> {
  const [source, target] = [pathOf(from), pathOf(to)]
  const stat = leafStat(source)
  if (!stat) throw notFound(from.parent.real)
  if (stat.isDirectory()) await checkInside(context, from, to, leave)
  await context.entered(outlookOf(to.confined, to.parent, stat, leave.answer(stat)))
  try {
    // A folder of the trash is new and ours alone: nothing has to hold the name there.
    if (isOwn(to.confined)) fs.renameSync(source, target)
    else if (stat.isDirectory()) renameFolderToFree(source, target)
    else renameToFree(source, target)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error
    await transferByCopy(context, from, to, stat, leave)
  }
  if (!keepsRunning(from, to)) await lessRunning(context, to, stat)
  await Promise.all([syncFolder(to.parent.at('.')), syncFolder(from.parent.at('.'))])
  return leafStat(target) ?? stat
}

const pathOf = ({ parent }: End) => parent.at(parent.name)

async function transferByCopy(
  context: OpContext,
  from: End,
  to: End,
  stat: BigIntStats,
  { cancelled = () => false }: Leave,
): Promise<void> {
  const copied = await copyTree(context, from, to, () => pause(context, cancelled))
  await syncFolder(to.parent.at('.'))
  try {
    await removeTree(from.confined, from.parent, context.turn, copied.check)
  } catch (error) {
    const isStale = error instanceof FileFault && error.code === 'stale'
    if (!isStale) throw error
    if (stat.isDirectory()) throw partlyMoved(from.parent.real)
    unlinkIfThere(pathOf(to))
    throw error
  }
}

/** Some of the old files may be gone by now, so the copy is not taken away again. */
const partlyMoved = (path: string) =>
  new FileFault(
    'stale',
    'Something in the folder was changed while it was moved. The copy is whole; what is left of the folder stands where it was.',
    path,
  )

/** A folder is not carried away with what is closed in it or may not stand where it goes, nor with another disk (PV4, F5, PV9). */
async function checkInside(
  context: OpContext,
  from: End,
  to: End,
  { reviewed = false, origin = absolute(from) }: Leave,
): Promise<void> {
  const { guard } = context
  const target = absolute(to)
  const { confined, parent } = from
  await eachInside(context.turn, from, (_fd, entry, path) => {
    const inner = path.slice(parent.real.length)
    const before = `${origin}${inner}`
    if (!isOwn(confined) && guard.forbidden(before, 'write'))
      throw new FileFault('forbidden_path', 'Something in the folder is closed.', parent.real)
    if (isOwn(to.confined)) return
    const ends = { from: before, to: `${target}${inner}`, isFolder: entry.isDirectory() }
    checkArrival(guard, ends, reviewed, path)
  })
}

const isOwn = ({ root }: Confined) => root.key === 'trash'

const absolute = ({ confined, parent }: End) => `${confined.root.path}/${parent.real}`

/** In the trash nothing is run; a person's own folder is theirs, and what only moves in it is as it was. */
const keepsRunning = (from: End, to: End): boolean =>
  isOwn(to.confined) ||
  mayRun(to.confined, to.parent.real) ||
  (to.confined.root.key !== 'workspace' && from.confined.root.key === to.confined.root.key)

/** What comes from elsewhere is not to be run, but in Code/ (F5). */
async function lessRunning(context: OpContext, to: End, stat: BigIntStats): Promise<void> {
  if (stat.isFile()) dropRunning(pathOf(to))
  else if (stat.isDirectory())
    await eachInside(context.turn, to, (fd, entry) => {
      if (entry.isFile()) dropRunning(pathOfEntry(to.confined, fd, entry))
    })
}

function dropRunning(path: string | Buffer): void {
  const stat = leafStat(path)
  if (!stat?.isFile() || permissionsOf(stat) === withoutRunning(permissionsOf(stat))) return
  const fd = fs.openSync(path, asFile)
  try {
    const now = fs.fstatSync(fd, { bigint: true })
    if (now.isFile()) changeMode(fd, withoutRunning(permissionsOf(now)))
  } finally {
    fs.closeSync(fd)
  }
}

const isLinux = process.platform === 'linux'
/** What may be run and not read cannot be opened but so. */
const asFile = (isLinux ? O_PATH : O_RDONLY | O_NONBLOCK) | O_NOFOLLOW

/** By the link in /proc, since what is opened so takes no call of its own. */
const changeMode = (fd: number, mode: number): void =>
  isLinux ? fs.chmodSync(`/proc/self/fd/${fd}`, mode) : fs.fchmodSync(fd, mode)
