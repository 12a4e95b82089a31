import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } from '../confine/flags.ts'
import type { Confined } from '../confine/types.ts'
import { unfinishedName } from '../confine/unfinished.ts'
import type { OpContext } from '../worker/context.ts'
import { removeAtOnce } from './abandoned.ts'
import { copyContent } from './copying.ts'
import { isUnchanged, syncFolder } from './disk.ts'
import { eachInside } from './each-inside.ts'
import type { End } from './each-inside.ts'
import { below, entriesOf, pathOfEntry } from './folders.ts'
import { leafStat, openLeaf } from './leaf.ts'
import type { Leaf } from './leaf.ts'
import { renameFolderToFree, renameToFree, whileUnplaced } from './placing.ts'
import { notFound, permissionsOf, stale } from './present.ts'
import { removeTree } from './remove-tree.ts'
import type { CheckGoing } from './remove-tree.ts'

/** A name in an open folder. */
type Spot = {
  readonly confined: Confined
  readonly fd: number
  readonly name: string
  /** Of a name that is no text. */
  readonly bytes?: Buffer | undefined
  readonly real: string
}

/** What was copied, as it was then. */
type Copied = { add(real: string, stat: BigIntStats): void; readonly check: CheckGoing }

type How = {
  /** Throws when nobody waits for it any longer. */
  rest(): Promise<void>
  /** Of a file there, by what it was. */
  modeOf(mode: number): number
  /** Awaited right before it gets its name, with what the copy is. */
  whole(stat: BigIntStats): Promise<void>
}

/**
 * Copies a file, a link or a whole folder to a free name; nothing is there until all of it is. Answers by what it
 * is known later that something is still as it was copied.
 */
export async function copyTree({ turn }: OpContext, from: End, to: End, how: How): Promise<Copied> {
  const [source, target] = [spotOf(from), spotOf(to)]
  const name = unfinishedName()
  const temporary = { ...target, name, real: join(dirname(target.real), name) }
  const copied = createCopied()
  const copy = async () => {
    const stat = await copyOne(source, temporary, how, copied)
    if (stat.isDirectory())
      await eachInside(how.rest, from, (fd, entry, real) => {
        const now = leafStat(pathOfEntry(from.confined, fd, entry))
        if (now) copied.check(real, now)
      })
    const made = leafStat(pathOf(temporary))
    if (!made) throw notFound(target.real)
    await how.whole(made)
    const place = stat.isDirectory() ? renameFolderToFree : renameToFree
    place(to.parent.at(name), to.parent.at(target.name))
    return copied
  }
  // A worker that goes while the copy is taken away takes the rest of it.
  return whileUnplaced(
    () => removeAtOnce(target.confined, to.parent, { name }),
    async () => {
      try {
        return await copy()
      } catch (error) {
        await removeTree(target.confined, temporary, turn)
        throw error
      }
    },
  )
}

function createCopied(): Copied {
  // Names that are no text may look alike.
  const known = new Map<string, BigIntStats[]>()
  const isSame = (stat: BigIntStats, before: BigIntStats) =>
    before.isDirectory() ? stat.ino === before.ino : isUnchanged(stat, before)
  return {
    add: (real, stat) => void known.set(real, [...(known.get(real) ?? []), stat]),
    check(real, stat) {
      if (!known.get(real)?.some((before) => isSame(stat, before))) throw stale(real)
    },
  }
}

const spotOf = ({ confined, parent: { fd, name, real } }: End): Spot => ({
  confined,
  fd,
  name,
  real,
})
const pathOf = ({ confined, fd, ...entry }: Spot) => pathOfEntry(confined, fd, entry)

async function copyOne(from: Spot, to: Spot, how: How, copied: Copied): Promise<BigIntStats> {
  await how.rest()
  const stat = leafStat(pathOf(from))
  if (!stat) throw notFound(from.real)
  if (stat.isSymbolicLink() || stat.isDirectory()) {
    copied.add(from.real, stat)
    if (stat.isDirectory()) await copyFolder(from, to, permissionsOf(stat), how, copied)
    else fs.symlinkSync(fs.readlinkSync(pathOf(from), { encoding: 'buffer' }), pathOf(to))
    return stat
  }
  const leaf = openLeaf(from.confined, pathOf(from), from.real)
  if (!leaf) throw notFound(from.real)
  copied.add(from.real, leaf.stat)
  try {
    await copyFile({ ...leaf, name: from.name }, pathOf(to), how)
  } finally {
    fs.closeSync(leaf.fd)
  }
  return leaf.stat
}

/** Under its name at once: what it lies in is unfinished, or it is itself. */
async function copyFile(
  source: Leaf & { readonly name: string },
  to: string | Buffer,
  { rest, modeOf }: How,
): Promise<void> {
  const { stat } = source
  const fd = fs.openSync(to, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    await copyContent(source, fd, rest)
    fs.fchmodSync(fd, modeOf(permissionsOf(stat)))
    fs.futimesSync(fd, Number(stat.atimeMs) / 1000, Number(stat.mtimeMs) / 1000)
  } finally {
    fs.closeSync(fd)
  }
}

async function copyFolder(
  from: Spot,
  to: Spot,
  mode: number,
  how: How,
  copied: Copied,
): Promise<void> {
  fs.mkdirSync(pathOf(to), mode | 0o700)
  const source = openSpot(from)
  try {
    const target = openSpot(to)
    try {
      for (const { name, bytes } of entriesOf(from.confined, source)) {
        const within = (folder: Spot, fd: number) => ({
          confined: folder.confined,
          fd,
          name,
          bytes,
          real: below(folder.real, name),
        })
        await copyOne(within(from, source), within(to, target), how, copied)
      }
      await syncFolder(to.confined.at(target))
    } finally {
      fs.closeSync(target)
    }
  } finally {
    fs.closeSync(source)
  }
}

const openSpot = ({ confined, fd, name, real, bytes }: Spot) =>
  confined.openChild(fd, name, real, bytes)
