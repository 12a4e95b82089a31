/** What stands under one name comes to stand under another that is free: renamed, or on another disk copied, checked and then removed. */
import fs from 'node:fs'
import type { BigIntStats, Dirent } from 'node:fs'
import { checkArrival } from '../confine/checks.ts'
import { errnoOf, FileFault } from '../confine/fault.ts'
import { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } from '../confine/flags.ts'
import type { Confined, Parent } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { copyTree } from './copy-tree.ts'
import { mayRun, withoutRunning } from './copying.ts'
import { isUnchanged, syncFolder } from './disk.ts'
import { below, entriesOf } from './folders.ts'
import { leafStat } from './leaf.ts'
import { renameFolderToFree, renameToFree } from './placing.ts'
import { notFound, permissionsOf, stale } from './present.ts'
import { removeTree } from './remove-tree.ts'

/** A name in a folder that is held open. */
export type End = { readonly confined: Confined; readonly parent: Parent }

type Leave = {
  /** Trust or a person has looked at where it goes. */
  readonly reviewed?: boolean
  /** Where it stood before it came into the trash. */
  readonly origin?: string | undefined
}

export async function transfer(
  context: OpContext,
  from: End,
  to: End,
  leave: Leave = {},
): Promise<BigIntStats> {
  const [source, target] = [pathOf(from), pathOf(to)]
  const stat = leafStat(source)
  if (!stat) throw notFound(from.parent.real)
  if (stat.isDirectory()) await checkInside(context, from, to, leave)
  try {
    // A folder of the trash is new and ours alone: nothing has to hold the name there.
    if (isOwn(to.confined)) fs.renameSync(source, target)
    else if (stat.isDirectory()) renameFolderToFree(source, target)
    else renameToFree(source, target)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error
    await transferByCopy(context, from, to, stat)
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
): Promise<void> {
  await copyTree(context, from, to)
  const now = leafStat(pathOf(from))
  if (!now || !isUnchanged(now, stat)) {
    await removeTree(to.confined, to.parent, context.turn)
    throw stale(from.parent.real)
  }
  await syncFolder(to.parent.at('.'))
  await removeTree(from.confined, from.parent, context.turn)
}

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
  await eachInside(context, from, (_fd, entry, path) => {
    const inner = path.slice(parent.real.length)
    const before = `${origin}${inner}`
    if (!isOwn(confined) && guard.forbidden(before, 'write'))
      throw new FileFault('forbidden_path', 'Something in the folder is closed.', parent.real)
    if (isOwn(to.confined)) return
    const ends = { from: before, to: `${target}${inner}`, isFolder: entry.isDirectory() }
    checkArrival(guard, ends, reviewed, path)
  })
}

/** All that is in a folder, each with the open folder it lies in and its path. */
async function eachInside(
  { turn }: OpContext,
  { confined, parent }: End,
  visit: (fd: number, entry: Dirent, path: string) => void,
): Promise<void> {
  const within = async (fd: number, name: string, real: string): Promise<void> => {
    const folder = confined.openChild(fd, name, real)
    try {
      for (const entry of entriesOf(confined, folder)) {
        const path = below(real, entry.name)
        visit(folder, entry, path)
        if (entry.isDirectory()) await within(folder, entry.name, path)
      }
      await turn()
    } finally {
      fs.closeSync(folder)
    }
  }
  await within(parent.fd, parent.name, parent.real)
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
    await eachInside(context, to, (fd, entry) => {
      if (entry.isFile()) dropRunning(to.confined.at(fd, entry.name))
    })
}

function dropRunning(path: string): void {
  const stat = leafStat(path)
  if (!stat?.isFile() || permissionsOf(stat) === withoutRunning(permissionsOf(stat))) return
  const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const now = fs.fstatSync(fd, { bigint: true })
    if (now.isFile()) fs.fchmodSync(fd, withoutRunning(permissionsOf(now)))
  } finally {
    fs.closeSync(fd)
  }
}
