/**
 * The path walk of PV1. Each name is opened relative to the open parent folder and without following links, so
 * nothing changes between check and use. The target of a link is read and walked the same way from an open
 * folder: it leads nowhere that the walk itself cannot reach.
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

/** The limit of the Linux kernel. */
const maxLinks = 40
/** Retries for a name that was a link when it was opened and not a link when it was read. */
const maxRetries = 8
/** Link targets can go back and forth thousands of times. No legitimate path needs this many steps. */
const maxSteps = 10_000

/** The result of a walk: an open folder and a name in it, or no name for the folder itself. */
type WalkResult = {
  readonly fd: number
  readonly name: string | undefined
  /** Path relative to the root, without links. */
  readonly real: string
  /** Keeps the folder open after the walk. The caller closes it. */
  keepOpen(): void
}

type WalkOptions = AccessOptions & {
  /** Creates missing folders. */
  readonly parents?: boolean
}

/** Walks to the last name and passes it to `visit`, which returns `symlinkMarker` to have it followed. */
export type Walk = <T>(
  path: string,
  options: WalkOptions,
  visit: (result: WalkResult) => T | typeof symlinkMarker,
) => T

export const createWalk =
  (root: Root, pinned: Pin, checks: AccessChecks): Walk =>
  (path, options, visit) => {
    const prefix = root.path.endsWith('/') ? root.path : `${root.path}/`
    const escape = () =>
      new FileError('path_escape', 'A symbolic link leads out of the folder.', path)
    const names = splitPath(path)
    checks.checkPath(names.join('/'), options)

    // Only one folder is open at a time. `..` restarts at the root, along names that were not links.
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
      for (const name of names) checks.checkName(name, path)
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
            const keepOpen = () => void (folder = pinned.fd)
            const result = visit({ fd: folder, name, real: here, keepOpen })
            if (result !== symlinkMarker) return result
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
        else throw new FileError('not_a_folder', 'A parent of the path is not a folder.', path)
      }
      throw escape()
    } catch (error) {
      throw toFileError(error, path)
    } finally {
      closeFolder()
    }
  }
