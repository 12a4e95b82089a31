import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import type { Confined } from '../confine/types.ts'
import { unfinishedName } from '../confine/unfinished.ts'
import type { OpContext } from '../worker/context.ts'
import { copyContent } from './copying.ts'
import { isUnchanged, syncFolder } from './disk.ts'
import { eachInside } from './each-inside.ts'
import type { End } from './each-inside.ts'
import { below, entriesOf, pathOfEntry } from './folders.ts'
import { leafStat, openLeaf } from './leaf.ts'
import { renameFolderToFree, placeAtFree, withTemporary } from './placing.ts'
import { notFound, permissionsOf, stale } from './present.ts'
import { removeTree } from './remove-tree.ts'
import type { CheckGoing } from './remove-tree.ts'

/** A name in an open folder. */
type Spot = {
  readonly confined: Confined
  readonly fd: number
  readonly name: string
  readonly real: string
}

/** What was copied, as it was then. */
type Copied = { add(real: string, stat: BigIntStats): void; readonly check: CheckGoing }

/**
 * Copies a file, a link or a whole folder to a free name; nothing is there until all of it is. Answers by what it
 * is known later that something is still as it was copied.
 */
export async function copyTree(
  { turn }: OpContext,
  from: End,
  to: End,
  /** Throws when nobody waits for it any longer. */
  rest: () => Promise<void>,
): Promise<Copied> {
  const target = spotOf(to)
  const source = spotOf(from)
  const copied = createCopied()
  if (!leafStat(pathOf(source))?.isDirectory()) {
    await copyOne(source, target, rest, copied)
    return copied
  }
  const name = unfinishedName()
  const temporary = { ...target, name, real: join(dirname(target.real), name) }
  try {
    await copyOne(source, temporary, rest, copied)
    await eachInside(rest, from, (fd, entry, real) => {
      const now = leafStat(pathOfEntry(from.confined, fd, entry))
      if (now) copied.check(real, now)
    })
    renameFolderToFree(pathOf(temporary), pathOf(target))
    return copied
  } catch (error) {
    await removeTree(target.confined, temporary, turn)
    throw error
  }
}

function createCopied(): Copied {
  const known = new Map<string, BigIntStats>()
  return {
    add: (real, stat) => void known.set(real, stat),
    check(real, stat) {
      const before = known.get(real)
      const isSame = before?.isDirectory()
        ? stat.ino === before.ino
        : before && isUnchanged(stat, before)
      if (!isSame) throw stale(real)
    },
  }
}

const spotOf = ({ confined, parent: { fd, name, real } }: End): Spot => ({
  confined,
  fd,
  name,
  real,
})
const pathOf = ({ confined, fd, name }: Spot) => confined.at(fd, name)

async function copyOne(
  from: Spot,
  to: Spot,
  rest: () => Promise<void>,
  copied: Copied,
): Promise<void> {
  await rest()
  const stat = leafStat(pathOf(from))
  if (!stat) throw notFound(from.real)
  copied.add(from.real, stat)
  if (stat.isSymbolicLink()) return fs.symlinkSync(fs.readlinkSync(pathOf(from)), pathOf(to))
  if (stat.isDirectory()) return copyFolder(from, to, permissionsOf(stat), rest, copied)
  const leaf = openLeaf(from.confined, pathOf(from), from.real)
  if (!leaf) throw notFound(from.real)
  copied.add(from.real, leaf.stat)
  try {
    await withTemporary({ at: (name) => to.confined.at(to.fd, name) }, 0o600, async (temporary) => {
      const { fd } = temporary
      await copyContent({ ...leaf, name: from.name }, fd, rest)
      fs.fchmodSync(fd, permissionsOf(leaf.stat))
      fs.futimesSync(fd, Number(leaf.stat.atimeMs) / 1000, Number(leaf.stat.mtimeMs) / 1000)
      placeAtFree(temporary, pathOf(to))
    })
  } finally {
    fs.closeSync(leaf.fd)
  }
}

async function copyFolder(
  from: Spot,
  to: Spot,
  mode: number,
  rest: () => Promise<void>,
  copied: Copied,
): Promise<void> {
  fs.mkdirSync(pathOf(to), mode | 0o700)
  const source = from.confined.openChild(from.fd, from.name, from.real)
  try {
    const target = to.confined.openChild(to.fd, to.name, to.real)
    try {
      for (const { name } of entriesOf(from.confined, source))
        await copyOne(
          { confined: from.confined, fd: source, name, real: below(from.real, name) },
          { confined: to.confined, fd: target, name, real: below(to.real, name) },
          rest,
          copied,
        )
      await syncFolder(to.confined.at(target))
    } finally {
      fs.closeSync(target)
    }
  } finally {
    fs.closeSync(source)
  }
}
