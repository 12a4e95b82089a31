/**
 * The walk of PV1. Each name is opened relative to the open folder before it and never as a link, so nothing is
 * checked and then opened. A link is read and walked here, name by name from a folder that is held open: it
 * leads nowhere that the walk itself could not go.
 */
import fs from 'node:fs'
import type { Root } from '../worker/protocol.ts'
import { splitPath } from './access-checks.ts'
import type { AccessChecks, AccessOptions } from './access-checks.ts'
import { toFileError, FileError } from './file-error.ts'
import {
  checkMount,
  checkPin,
  openFolder,
  symlinkMarker,
  entryPath,
  readLink,
} from './pinned-root.ts'
import type { Pin } from './pinned-root.ts'

/** As many as the kernel follows. */
const maxLinks = 40
/** Tries at a name that was a link when it was opened and none when it was read. */
const maxRetries = 8
/** A link may name thousands of folders back and forth; no honest path takes this many steps. */
const maxSteps = 10_000

/** What a walk came to: an open folder and a name in it, or the folder itself where there is no name. */
type WalkResult = {
  readonly fd: number
  readonly name: string | undefined
  /** Path relative to the root, without links. */
  readonly real: string
  /** Leaves the folder open; the caller closes it. */
  keep(): void
}

type WalkOptions = AccessOptions & {
  /** Makes the folders on the way that are missing. */
  readonly parents?: boolean
}

/** Goes to the last name and hands it to `take`, which answers `link` when it wants that one followed too. */
export type Walk = <T>(
  path: string,
  options: WalkOptions,
  take: (place: WalkResult) => T | typeof symlinkMarker,
) => T

export const createWalk =
  (root: Root, pinned: Pin, checks: AccessChecks): Walk =>
  (path, options, take) => {
    const prefix = root.path.endsWith('/') ? root.path : `${root.path}/`
    const escape = () =>
      new FileError('path_escape', 'A link on the way leads out of the folder.', path)
    const names = splitPath(path)
    checks.checkPath(names.join('/'), options)

    // One folder is open at a time. Going up starts again at the root, by names that were no links.
    let folder = pinned.fd
    let real: string[] = []
    const pending = names.toReversed()
    let links = 0
    let retries = 0

    const closeFolder = () => {
      if (folder !== pinned.fd) fs.closeSync(folder)
      folder = pinned.fd
    }
    const climb = () => {
      let levels = 1
      for (; pending.at(-1) === '..'; levels++) pending.pop()
      if (levels > real.length) throw escape()
      pending.push(...real.slice(0, -levels).toReversed())
      real = []
      closeFolder()
    }
    const follow = (target: string) => {
      if (++links > maxLinks) throw escape()
      const isAbsolute = target.startsWith('/')
      if (isAbsolute) {
        if (!`${target}/`.startsWith(prefix)) throw escape()
        real = []
        closeFolder()
      }
      const names = (isAbsolute ? target.slice(prefix.length) : target)
        .split('/')
        .filter((name) => name !== '' && name !== '.')
      for (const name of names) checks.name(name, path)
      pending.push(...names.toReversed())
    }

    try {
      checkPin(root, pinned)
      for (let steps = 0; steps < maxSteps; steps++) {
        const name = pending.pop()
        if (name === '..') {
          climb()
          continue
        }
        const isLast = name === undefined || pending.length === 0
        if (isLast || links > 0) {
          const here = name === undefined ? real.join('/') : [...real, name].join('/')
          if (links > 0) checks.checkPath(here, options)
          if (isLast) {
            const keep = () => void (folder = pinned.fd)
            const taken = take({ fd: folder, name, real: here, keep })
            if (taken !== symlinkMarker) return taken
          }
        }
        if (name === undefined) throw escape()
        if (!isLast) {
          const here = folder
          const beforeCreate = () => checkMount(pinned, here, path)
          const next = openFolder(
            entryPath(folder, name),
            options.parents ? beforeCreate : undefined,
          )
          if (next !== symlinkMarker) {
            closeFolder()
            folder = next
            real.push(name)
            continue
          }
        }
        const target = readLink(folder, name)
        if (target !== undefined) follow(target)
        else if (retries++ < maxRetries) pending.push(name)
        else throw new FileError('not_a_folder', 'A name on the way is not a folder.', path)
      }
      throw escape()
    } catch (error) {
      throw toFileError(error, path)
    } finally {
      closeFolder()
    }
  }
