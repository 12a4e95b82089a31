/** What a crash left unfinished goes with the next look at its folder. */
import fs from 'node:fs'
import { putRight } from '../confine/leftovers.ts'
import type { Confined } from '../confine/types.ts'
import { isUnfinished } from '../confine/unfinished.ts'
import { below, entriesOf, pathOfEntry } from './folders.ts'
import type { Entry } from './folders.ts'

/** A call has half a minute: what is older will not be finished. */
const abandonedMs = 60 * 60 * 1000
export const isAbandoned = (mtimeMs: number): boolean => Date.now() - mtimeMs > abandonedMs
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
    else if (isAbandoned(stat.mtimeMs))
      removeAtOnce(confined, { fd, real }, { name }, { left: mostAtOnce })
  } catch {
    // Gone by now, or not ours to remove: it stays unseen.
  }
}

/** Without standing aside for others. */
export function removeAtOnce(
  confined: Confined,
  { fd, real }: Folder,
  entry: Pick<Entry, 'name' | 'bytes'>,
  most = { left: Infinity },
): void {
  const { name, bytes } = entry
  const path = pathOfEntry(confined, fd, entry)
  if (!fs.lstatSync(path).isDirectory()) {
    fs.unlinkSync(path)
    return
  }
  const child = below(real, name)
  const inside = { fd: confined.openChild(fd, name, child, bytes), real: child }
  try {
    for (const one of entriesOf(confined, inside.fd))
      if (most.left-- > 0) removeAtOnce(confined, inside, one, most)
  } finally {
    fs.closeSync(inside.fd)
  }
  fs.rmdirSync(path)
}
