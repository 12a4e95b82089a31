/** Going through a whole tree, for searches and sums. */
import fs from 'node:fs'
import type { Confined } from '../confine/types.ts'
import { passesUnfinished } from './abandoned.ts'
import { below, entriesIfOpen, entriesOf, openedChild } from './folders.ts'

export type Folder = {
  readonly fd: number
  /** Relative to the root. */
  readonly real: string
  /** Names of its plain files that are not hidden. A large folder comes in several pieces. */
  readonly files: readonly string[]
  /** The bytes of those among them whose names are no text. */
  readonly odd: readonly Buffer[]
}

/** Whether to go into a folder. */
export type Enters = (name: string, real: string) => boolean

const filesAtOnce = 4096
/** A tree that is deeper was made to be; each level holds a folder open. */
const deepest = 500

/** Every folder with its files, in no order. Folders are closed when the next one comes, or nobody asks on. */
export function* foldersBelow(
  confined: Confined,
  path: string,
  enters: Enters = () => true,
): Generator<Folder> {
  const top = confined.openFolder(path)
  yield* walk(top.fd, top.real, 0)

  function* walk(fd: number, real: string, depth: number): Generator<Folder> {
    try {
      const hides = confined.hidesIn(real)
      const folders: string[] = []
      let files: string[] = []
      let odd: Buffer[] = []
      for (const entry of depth === 0 ? entriesOf(confined, fd) : entriesIfOpen(confined, fd)) {
        const { name } = entry
        if (hides(name) || passesUnfinished(confined, { fd, real }, name)) continue
        if (entry.isDirectory()) folders.push(name)
        if (!entry.isFile()) continue
        if (entry.bytes) odd.push(entry.bytes)
        if (files.push(name) < filesAtOnce) continue
        yield { fd, real, files, odd }
        files = []
        odd = []
      }
      yield { fd, real, files, odd }
      if (depth === deepest) return
      for (const name of folders) {
        const child = below(real, name)
        if (!enters(name, child)) continue
        const opened = openedChild(confined, fd, name, child)
        if (opened !== undefined) yield* walk(opened, child, depth + 1)
      }
    } finally {
      fs.closeSync(fd)
    }
  }
}
