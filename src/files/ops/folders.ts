/** Entries of open folders, streamed: a folder of a million names takes no more memory than its page. */
import fs from 'node:fs'
import type { Dirent } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { FileFault } from '../confine/fault.ts'
import type { Confined } from '../confine/types.ts'
import type { Stat } from '../worker/protocol.ts'

/** A folder whose own size is above this is streamed; the others are read at once, which is faster. */
const largeFolder = 1024 * 1024
const entriesAtOnce = 1024

export function entriesOf(confined: Confined, fd: number): Iterable<Dirent> {
  const path = confined.at(fd)
  return fs.fstatSync(fd).size > largeFolder
    ? streamed(path)
    : fs.readdirSync(path, { withFileTypes: true })
}

function* streamed(path: string): Generator<Dirent> {
  const folder = fs.opendirSync(path, { bufferSize: entriesAtOnce })
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) yield entry
  } finally {
    folder.closeSync()
  }
}

export const typeOf = (
  entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>,
): Stat['type'] =>
  entry.isFile()
    ? 'file'
    : entry.isDirectory()
      ? 'folder'
      : entry.isSymbolicLink()
        ? 'link'
        : 'other'

/** Where we are, unless that folder is gone. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/**
 * Runs `use` with that folder as the working directory, where a bare name is looked up in the folder that is
 * held open, like openat(). Measured: a stat takes 2.4 µs so, and 5.0 µs by /proc. Nothing in it may wait.
 */
export function inside<T>(
  confined: Confined,
  fd: number,
  use: (at: (name: string) => string) => T,
): T {
  if (process.platform !== 'linux' || !isMainThread) return use((name) => confined.at(fd, name))
  const before = workingFolder()
  process.chdir(confined.at(fd))
  try {
    return use((name) => name)
  } finally {
    process.chdir(before)
  }
}

export const below = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}/${name}`

/** A folder on the way down a tree; undefined for one that cannot or may not be entered. */
export function openedChild(
  confined: Confined,
  fd: number,
  name: string,
  real: string,
): number | undefined {
  try {
    return confined.openChild(fd, name, real)
  } catch (error) {
    if (error instanceof FileFault) return undefined
    throw error
  }
}
