/** What stands under one name comes to stand under another that is free: renamed, or on another disk copied, checked and then removed. */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { errnoOf, FileFault } from '../confine/fault.ts'
import type { Confined, Parent } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { copyTree } from './copy-tree.ts'
import { mayRun, withoutRunning } from './copying.ts'
import { isUnchanged, syncFolder } from './disk.ts'
import { below, entriesOf } from './folders.ts'
import { leafStat, openLeaf } from './leaf.ts'
import { renameFolderToFree, renameToFree } from './placing.ts'
import { notFound, permissionsOf, stale } from './present.ts'
import { removeTree } from './remove-tree.ts'

/** A name in a folder that is held open. */
export type End = { readonly confined: Confined; readonly parent: Parent }

export async function transfer(context: OpContext, from: End, to: End): Promise<BigIntStats> {
  const [source, target] = [pathOf(from), pathOf(to)]
  const stat = leafStat(source)
  if (!stat) throw notFound(from.parent.real)
  if (stat.isDirectory()) await checkInside(context, from)
  try {
    if (stat.isDirectory()) renameFolderToFree(source, target)
    else renameToFree(source, target)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error
    await transferByCopy(context, from, to, stat)
  }
  if (stat.isFile()) lessRunning(to)
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

/** A folder is not carried away with what is closed in it, nor with another disk that is mounted there (PV4, PV9). */
async function checkInside(context: OpContext, { confined, parent }: End): Promise<void> {
  const { guard, turn } = context
  const check = async (fd: number, real: string): Promise<void> => {
    for (const entry of entriesOf(confined, fd)) {
      const { name } = entry
      const path = below(real, name)
      const absolute = `${confined.root.path}/${path}`
      if (!isOwn(confined) && guard.forbidden(absolute, 'write'))
        throw new FileFault('forbidden_path', 'Something in the folder is closed.', parent.real)
      if (entry.isDirectory()) await within(fd, name, path)
    }
    await turn()
  }
  const within = async (fd: number, name: string, real: string) => {
    const child = confined.openChild(fd, name, real)
    try {
      await check(child, real)
    } finally {
      fs.closeSync(child)
    }
  }
  await within(parent.fd, parent.name, parent.real)
}

const isOwn = ({ root }: Confined) => root.key === 'trash'

/** What comes into the workspace is not to be run, but in Code/ (F5). */
function lessRunning(to: End): void {
  const { confined, parent } = to
  if (confined.root.key !== 'workspace' || mayRun(confined, parent.real)) return
  const leaf = openLeaf(confined, pathOf(to), parent.real)
  if (!leaf) return
  try {
    const mode = permissionsOf(leaf.stat)
    if (mode !== withoutRunning(mode)) fs.fchmodSync(leaf.fd, withoutRunning(mode))
  } finally {
    fs.closeSync(leaf.fd)
  }
}
