/** Confined access to one root, on top of the walk. Linux only. */
import fs, { constants } from 'node:fs'
import type { Guard } from '../rules/guard.ts'
import type { Inode, Root } from '../worker/protocol.ts'
import { createAccessChecks, toIdentifiedStat } from './access-checks.ts'
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

/** `closed` are paths below the root that this caller cannot use; `denied` are files it cannot use by any name. */
export function createConfinedRoot(
  root: Root,
  pinned: Pin,
  guard: Guard,
  closed: readonly string[] = [],
  denied: readonly Inode[] = [],
): ConfinedRoot {
  const checks = createAccessChecks(root, guard, closed, denied)
  const walk = createWalk(root, pinned, checks)
  const folderError = (path: string) => new FileError('is_a_folder', 'The path is a folder.', path)
  const notFolderError = (path: string) =>
    new FileError('not_a_folder', 'The path is not a folder.', path)

  /** Closes the descriptor unless the check passes. */
  function withCheck<T>(fd: number, path: string, check: () => T): T {
    try {
      checkMount(pinned, fd, path)
      return check()
    } catch (error) {
      fs.closeSync(fd)
      throw error
    }
  }

  const fstat = (fd: number) => fs.fstatSync(fd, { bigint: true })

  return {
    root,
    entryPath: fdPath,
    checkRegular: checks.checkRegular,
    isHidden: checks.isHidden,
    createNameFilter: checks.createNameFilter,

    openFile(path, { write = false, reviewed = false } = {}) {
      // Opening a FIFO does not block, and a terminal does not become the controlling terminal.
      const flags = (write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY
      return walk(path, { need: write ? 'write' : 'read', reviewed }, ({ fd, name, real }) => {
        if (name === undefined && root.kind === 'folder') throw folderError(path)
        const opened =
          name === undefined
            ? fs.openSync(`/proc/self/fd/${fd}`, flags)
            : openNoFollow(entryPath(fd, name), flags | O_NOFOLLOW)
        if (opened === symlinkMarker) return symlinkMarker
        return withCheck(opened, path, () => {
          const stat = fstat(opened)
          checks.checkRegular(stat, path, () => {
            if (name !== undefined && root.access === 'read-write')
              cleanUpAfterCrash(fdPath(fd, name))
            return fstat(opened)
          })
          return { fd: opened, stat, real }
        })
      })
    },

    withParent(path, use, options = { need: 'read' }) {
      if (root.kind === 'file') throw notFolderError(path)
      return walk(path, options, ({ fd, name, real, keepOpen }) => {
        if (name === undefined) throw folderError(path)
        if (
          hasReplacementCharacter(name) &&
          !lstatEntry(fd, name) &&
          entryPath(fd, name) instanceof Buffer
        )
          throw new FileError(
            'invalid_path',
            'The name is not valid UTF-8. A person must rename the file.',
            path,
          )
        if (!options.keepLeafLink && lstatEntry(fd, name)?.isSymbolicLink()) return symlinkMarker
        checkMount(pinned, fd, path)
        checks.checkExtension(real, options, () => lstatEntry(fd, name) !== undefined)
        const result = use({ fd, name, real, entryPath: (other) => fdPath(fd, other) })
        if (result instanceof Promise && fd !== pinned.fd) {
          keepOpen()
          // The caller awaits the returned promise; this branch only closes the folder.
          const close = () => fs.closeSync(fd)
          result.then(close, close)
        }
        return result
      })
    },

    openFolder(path) {
      if (root.kind === 'file') throw notFolderError(path)
      return walk(path, { need: 'read' }, ({ fd, name, real }) => {
        const opened = openFolder(entryPath(fd, name ?? '.'))
        if (opened === symlinkMarker) {
          if (name !== undefined && exists(() => readLink(fd, name))) return symlinkMarker
          throw notFolderError(path)
        }
        return withCheck(opened, path, () => ({ fd: opened, real }))
      })
    },

    openChild(parentFd, name, real, bytes) {
      if (!isSingleSegment(name)) throw new FileError('path_traversal', 'Not a valid folder name.')
      checks.checkPath(real, { need: 'read' })
      try {
        const opened = openFolder(
          bytes ? entryPathBytes(parentFd, bytes) : entryPath(parentFd, name),
        )
        if (opened === symlinkMarker) throw notFolderError(real)
        return withCheck(opened, real, () => opened)
      } catch (error) {
        throw toFileError(error, real)
      }
    },

    stat(path) {
      return walk(path, { need: 'read' }, ({ fd, name, real }) => {
        if (name === undefined) return { ...toIdentifiedStat(fstat(fd)), real }
        const opened = fs.openSync(entryPath(fd, name), O_PATH | O_NOFOLLOW)
        const stat = withCheck(opened, path, () => fstat(opened))
        fs.closeSync(opened)
        return stat.isSymbolicLink() ? symlinkMarker : { ...toIdentifiedStat(stat), real }
      })
    },
  }
}

/** Returns undefined for a missing entry: throwing an error would cost twice as much. */
const lstatEntry = (fd: number, name: string) =>
  fs.lstatSync(fdPath(fd, name), { throwIfNoEntry: false })

/** Returns false if the probe fails with ENOENT. */
function exists(probe: () => unknown): boolean {
  try {
    return probe() !== undefined
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return false
    throw error
  }
}
