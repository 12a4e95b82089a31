import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { Confined, Parent } from '../confine/types.ts'
import { below, pathOfEntry } from './folders.ts'
import { leafStat } from './leaf.ts'

/** Asked right before something goes, by its path relative to the root; throws where it is to stay. */
export type CheckGoing = (real: string, stat: BigIntStats) => void

type Spot = Pick<Parent, 'fd' | 'name' | 'real'> & {
  /** Of its name, where that may be no text as in old archives. */
  readonly bytes?: Buffer | undefined
}

/**
 * Removes what stands under a name with all that is in it. Links are removed, never followed. What cannot go or is to
 * stay holds up nothing else: why the first of it is left is thrown when all the rest is gone.
 */
export async function removeTree(
  confined: Confined,
  top: Spot,
  /** Where this throws, no more goes. */
  rest: () => Promise<void>,
  check: CheckGoing = () => {},
): Promise<void> {
  let first: { readonly error: unknown } | undefined

  function attempt<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (error) {
      first ??= { error }
      return undefined
    }
  }

  async function remove({ fd, name, real, bytes }: Spot): Promise<void> {
    const path = pathOfEntry(confined, fd, { name, bytes })
    const stat = attempt(() => checked(path, real, check))
    if (!stat) return
    if (!stat.isDirectory()) return attempt(() => fs.unlinkSync(path))
    const folder = attempt(() => confined.openChild(fd, name, real, bytes))
    if (folder === undefined) return
    try {
      attempt(() => makeOpen(folder, path, stat))
      // All names first: what a folder lists while it is emptied is not said anywhere.
      const names = attempt(() => fs.readdirSync(confined.at(folder), { encoding: 'buffer' }))
      for (const child of names ?? []) {
        const text = child.toString('utf8')
        await remove({ fd: folder, name: text, real: below(real, text), bytes: child })
        await rest()
      }
    } finally {
      fs.closeSync(folder)
    }
    attempt(() => fs.rmdirSync(path))
  }

  await remove(top)
  // What others took away meanwhile is gone, too.
  if (first && leafStat(pathOfEntry(confined, top.fd, top))) throw first.error
}

function checked(path: string | Buffer, real: string, check: CheckGoing): BigIntStats | undefined {
  const stat = leafStat(path)
  if (stat) check(real, stat)
  return stat
}

/** A folder that its owner may not write to keeps what is in it: package managers make such. */
function makeOpen(folder: number, path: string | Buffer, { mode }: BigIntStats): void {
  if (process.platform === 'win32' || (mode & 0o700n) === 0o700n) return
  fs.chmodSync(process.platform === 'linux' ? `/proc/self/fd/${folder}` : path, 0o700)
}
