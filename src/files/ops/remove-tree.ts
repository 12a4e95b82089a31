import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { Confined, Parent } from '../confine/types.ts'
import { below, pathOfEntry } from './folders.ts'
import { leafStat } from './leaf.ts'

/** Asked right before something goes, by its path relative to the root; throws where it is to stay. */
export type CheckGoing = (real: string, stat: BigIntStats) => void

/** Removes what stands under a name with all that is in it. Links are removed, never followed. */
export async function removeTree(
  confined: Confined,
  { fd, name, real }: Pick<Parent, 'fd' | 'name' | 'real'>,
  rest: () => Promise<void>,
  check: CheckGoing = () => {},
  /** Of its name, where that may be no text as in old archives. */
  bytes?: Buffer,
): Promise<void> {
  const path = pathOfEntry(confined, fd, { name, bytes })
  const stat = leafStat(path)
  if (!stat) return
  check(real, stat)
  if (!stat.isDirectory()) {
    fs.unlinkSync(path)
    return
  }
  const folder = confined.openChild(fd, name, real, bytes)
  try {
    makeOpen(folder, path, stat)
    // All names first: what a folder lists while it is emptied is not said anywhere.
    for (const child of fs.readdirSync(confined.at(folder), { encoding: 'buffer' })) {
      const text = child.toString('utf8')
      const inside = { fd: folder, name: text, real: below(real, text) }
      await removeTree(confined, inside, rest, check, child)
      await rest()
    }
  } finally {
    fs.closeSync(folder)
  }
  fs.rmdirSync(path)
}

/** A folder that its owner may not write to keeps what is in it: package managers make such. */
function makeOpen(folder: number, path: string | Buffer, { mode }: BigIntStats): void {
  if (process.platform === 'win32' || (mode & 0o700n) === 0o700n) return
  fs.chmodSync(process.platform === 'linux' ? `/proc/self/fd/${folder}` : path, 0o700)
}
