/** Files that are being written stand under names of their own until they are whole. */
import fs from 'node:fs'
import { newSalt } from '#base/ids.ts'
import type { Confined } from './types.ts'

/** Of a pool: to ask the system for a name each time costs as much as to make the file. */
export const unfinishedName = (): string => `.cowork-${newSalt().slice(0, 24)}.tmp`

/** Never shown, never searched, and nobody else's to make: an old one is taken for what a crash left. */
export const isUnfinished = (name: string): boolean =>
  name.startsWith('.cowork-') && unfinished.test(name)
const unfinished = /^\.cowork-[0-9a-f]{24}\.tmp$/

/** A call has half a minute: what is older will not be finished. */
const abandonedMs = 60 * 60 * 1000

/** Whether a name that a walk met is of that kind. One that was given up goes, and nobody was told that it was kept. */
export function passesUnfinished({ root, at }: Confined, fd: number, name: string): boolean {
  if (!isUnfinished(name)) return false
  if (root.access === 'read-write') removeAbandoned(at(fd, name))
  return true
}

function removeAbandoned(path: string): void {
  try {
    const { mtimeMs } = fs.lstatSync(path)
    if (Date.now() - mtimeMs > abandonedMs) fs.unlinkSync(path)
  } catch {
    // Gone by now, or not ours to remove: it stays unseen.
  }
}
