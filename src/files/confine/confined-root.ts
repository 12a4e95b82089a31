/** A root as the operations see it, on top of the walk. Linux only. */
import fs, { constants } from 'node:fs'
import type { Guard } from '../rules/guard.ts'
import type { Inode, Root } from '../worker/protocol.ts'
import { createAccessChecks, lookOf } from './access-checks.ts'
import { getErrno, toFileError, FileError } from './file-error.ts'
import { cleanUpAfterCrash } from './crash-cleanup.ts'
import {
  fdPath,
  entryPathBytes,
  checkMount,
  openFolder,
  symlinkMarker,
  O_PATH,
  openNoFollow,
  entryPath,
  readLink,
} from './pinned-root.ts'
import type { Pin } from './pinned-root.ts'
import { isSingleSegment, hasReplacementCharacter } from './names.ts'
import type { ConfinedRoot } from './types.ts'
import { createWalk } from './walk.ts'

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

/** `closed`: what lies below the root and is not this caller's. `denied`: files that are not, whatever their name. */
export function createConfinedRoot(
  root: Root,
  pinned: Pin,
  guard: Guard,
  closed: readonly string[] = [],
  denied: readonly Inode[] = [],
): ConfinedRoot {
  const checks = createAccessChecks(root, guard, closed, denied)
  const walk = createWalk(root, pinned, checks)
  const isFolder = (path: string) => new FileError('is_a_folder', 'That is a folder.', path)
  const isNoFolder = (path: string) => new FileError('not_a_folder', 'That is no folder.', path)

  /** What was opened is closed again unless it passes. */
  function passing<T>(fd: number, path: string, check: () => T): T {
    try {
      checkMount(pinned, fd, path)
      return check()
    } catch (error) {
      fs.closeSync(fd)
      throw error
    }
  }

  const statOfOpen = (fd: number) => fs.fstatSync(fd, { bigint: true })

  return {
    root,
    at: fdPath,
    checkRegular: checks.regular,
    hides: checks.hides,
    hidesIn: checks.hidesIn,

    openFile(path, { write = false, reviewed = false } = {}) {
      // A FIFO does not wait for its other end, a terminal does not become ours.
      const flags = (write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY
      return walk(path, { need: write ? 'write' : 'read', reviewed }, ({ fd, name, real }) => {
        if (name === undefined && root.kind === 'folder') throw isFolder(path)
        const opened =
          name === undefined
            ? fs.openSync(`/proc/self/fd/${fd}`, flags)
            : openNoFollow(entryPath(fd, name), flags | O_NOFOLLOW)
        if (opened === symlinkMarker) return symlinkMarker
        return passing(opened, path, () => {
          const stat = statOfOpen(opened)
          checks.regular(stat, path, () => {
            if (name !== undefined && root.access === 'read-write')
              cleanUpAfterCrash(fdPath(fd, name))
            return statOfOpen(opened)
          })
          return { fd: opened, stat, real }
        })
      })
    },

    withParent(path, use, options = { need: 'read' }) {
      if (root.kind === 'file') throw isNoFolder(path)
      return walk(path, options, ({ fd, name, real, keep }) => {
        if (name === undefined) throw isFolder(path)
        if (
          hasReplacementCharacter(name) &&
          !lookAt(fd, name) &&
          entryPath(fd, name) instanceof Buffer
        )
          throw new FileError(
            'invalid_path',
            'Its name is no UTF-8: a person has to rename it.',
            path,
          )
        if (!options.keepLeafLink && lookAt(fd, name)?.isSymbolicLink()) return symlinkMarker
        checkMount(pinned, fd, path)
        checks.extension(real, options, () => lookAt(fd, name) !== undefined)
        const used = use({ fd, name, real, at: (other) => fdPath(fd, other) })
        if (used instanceof Promise && fd !== pinned.fd) {
          keep()
          // The promise that is handed on is the caller's to await; this one only closes.
          const close = () => fs.closeSync(fd)
          used.then(close, close)
        }
        return used
      })
    },

    openFolder(path) {
      if (root.kind === 'file') throw isNoFolder(path)
      return walk(path, { need: 'read' }, ({ fd, name, real }) => {
        const opened = openFolder(entryPath(fd, name ?? '.'))
        if (opened === symlinkMarker) {
          if (name !== undefined && isThere(() => readLink(fd, name))) return symlinkMarker
          throw isNoFolder(path)
        }
        return passing(opened, path, () => ({ fd: opened, real }))
      })
    },

    openChild(parentFd, name, real, bytes) {
      if (!isSingleSegment(name))
        throw new FileError('path_traversal', 'That is no name of a folder.')
      checks.place(real, { need: 'read' })
      try {
        const opened = openFolder(
          bytes ? entryPathBytes(parentFd, bytes) : entryPath(parentFd, name),
        )
        if (opened === symlinkMarker) throw isNoFolder(real)
        return passing(opened, real, () => opened)
      } catch (error) {
        throw toFileError(error, real)
      }
    },

    stat(path) {
      return walk(path, { need: 'read' }, ({ fd, name, real }) => {
        if (name === undefined) return { ...lookOf(statOfOpen(fd)), real }
        const opened = fs.openSync(entryPath(fd, name), O_PATH | O_NOFOLLOW)
        const stat = passing(opened, path, () => statOfOpen(opened))
        fs.closeSync(opened)
        return stat.isSymbolicLink() ? symlinkMarker : { ...lookOf(stat), real }
      })
    },
  }
}

/** What stands under a name, if anything: an answer, where an error would cost twice as much to make. */
const lookAt = (fd: number, name: string) =>
  fs.lstatSync(fdPath(fd, name), { throwIfNoEntry: false })

/** Whether looking finds something; what is missing is no fault here. */
function isThere(look: () => unknown): boolean {
  try {
    return look() !== undefined
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return false
    throw error
  }
}
