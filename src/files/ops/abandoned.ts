/** What a crash left unfinished goes with the next look at its folder. */
import fs from 'node:fs'
import { putRight } from '../confine/leftovers.ts'
import type { Confined } from '../confine/types.ts'
import { isUnfinished } from '../confine/unfinished.ts'
import { below } from './folders.ts'

/** A call has half a minute: what is older will not be finished. */
const abandonedMs = 60 * 60 * 1000
/** Of a folder so much goes at once: whoever looks waits for it. */
const mostAtOnce = 10_000

type Folder = { readonly fd: number; readonly real: string }

/** Whether a name that a walk met is of that kind. One that was given up goes, and nobody was told that it was kept. */
export function passesUnfinished(confined: Confined, folder: Folder, name: string): boolean {
  if (!isUnfinished(name)) return false
  if (confined.root.access === 'read-write') removeAbandoned(confined, folder, name)
  return true
}

function removeAbandoned(confined: Confined, { fd, real }: Folder, name: string): void {
  const path = confined.at(fd, name)
  try {
    const stat = fs.lstatSync(path)
    if (stat.isFile() && stat.nlink > 1) putRight(path)
    else if (Date.now() - stat.mtimeMs > abandonedMs)
      remove(confined, { fd, real }, name, { left: mostAtOnce })
  } catch {
    // Gone by now, or not ours to remove: it stays unseen.
  }
}

function remove(confined: Confined, { fd, real }: Folder, name: string, most: { left: number }) {
  const path = confined.at(fd, name)
  if (!fs.lstatSync(path).isDirectory()) {
    fs.unlinkSync(path)
    return
  }
  const inside = { fd: confined.openChild(fd, name, below(real, name)), real: below(real, name) }
  try {
    for (const child of fs.readdirSync(confined.at(inside.fd)))
      if (most.left-- > 0) remove(confined, inside, child, most)
  } finally {
    fs.closeSync(inside.fd)
  }
  fs.rmdirSync(path)
}
