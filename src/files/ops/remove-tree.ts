import fs from 'node:fs'
import type { Confined, Parent } from '../confine/types.ts'
import { below } from './folders.ts'
import { leafStat } from './leaf.ts'

/** Removes what stands under a name with all that is in it. Links are removed, never followed. */
export async function removeTree(
  confined: Confined,
  { fd, name, real }: Pick<Parent, 'fd' | 'name' | 'real'>,
  rest: () => Promise<void>,
  /** Its bytes, where it is no text as in old archives. */
  path: string | Buffer = confined.at(fd, name),
): Promise<void> {
  const stat = leafStat(path)
  if (!stat) return
  if (!stat.isDirectory()) {
    fs.unlinkSync(path)
    return
  }
  const folder = confined.openChild(fd, name, real)
  try {
    // All names first: what a folder lists while it is emptied is not said anywhere.
    for (const child of fs.readdirSync(confined.at(folder), { encoding: 'buffer' })) {
      const text = child.toString('utf8')
      const at = Buffer.concat([Buffer.from(`${confined.at(folder)}/`), child])
      await removeTree(confined, { fd: folder, name: text, real: below(real, text) }, rest, at)
      await rest()
    }
  } finally {
    fs.closeSync(folder)
  }
  fs.rmdirSync(path)
}
