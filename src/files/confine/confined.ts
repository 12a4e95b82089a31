/** A root as the operations see it, on top of the walk. Linux only. */
import fs, { constants } from 'node:fs'
import type { Guard } from '../rules/guard.ts'
import type { Inode, Root } from '../worker/protocol.ts'
import { createChecks, lookOf } from './checks.ts'
import { errnoOf, faultOf, FileFault } from './fault.ts'
import { putRight } from './leftovers.ts'
import {
  at,
  bytesAt,
  checkMount,
  enter,
  link,
  O_PATH,
  openUnlessLink,
  pathTo,
  readLink,
} from './pinned.ts'
import type { Pin } from './pinned.ts'
import { isOneName, isShownOtherwise } from './names.ts'
import type { Confined } from './types.ts'
import { createWalk } from './walk.ts'

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

/** `closed`: what lies below the root and is not this caller's. `denied`: files that are not, whatever their name. */
export function confinedTo(
  root: Root,
  pinned: Pin,
  guard: Guard,
  closed: readonly string[] = [],
  denied: readonly Inode[] = [],
): Confined {
  const checks = createChecks(root, guard, closed, denied)
  const walk = createWalk(root, pinned, checks)
  const isFolder = (path: string) => new FileFault('is_a_folder', 'That is a folder.', path)
  const isNoFolder = (path: string) => new FileFault('not_a_folder', 'That is no folder.', path)

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
    at,
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
            : openUnlessLink(pathTo(fd, name), flags | O_NOFOLLOW)
        if (opened === link) return link
        return passing(opened, path, () => {
          const stat = statOfOpen(opened)
          checks.regular(stat, path, () => {
            if (name !== undefined && root.access === 'read-write') putRight(at(fd, name))
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
        if (isShownOtherwise(name) && !lookAt(fd, name) && pathTo(fd, name) instanceof Buffer)
          throw new FileFault(
            'invalid_path',
            'Its name is no UTF-8: a person has to rename it.',
            path,
          )
        if (!options.keepLeafLink && lookAt(fd, name)?.isSymbolicLink()) return link
        checkMount(pinned, fd, path)
        checks.extension(real, options, () => lookAt(fd, name) !== undefined)
        const used = use({ fd, name, real, at: (other) => at(fd, other) })
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
        const opened = enter(pathTo(fd, name ?? '.'))
        if (opened === link) {
          if (name !== undefined && isThere(() => readLink(fd, name))) return link
          throw isNoFolder(path)
        }
        return passing(opened, path, () => ({ fd: opened, real }))
      })
    },

    openChild(parentFd, name, real, bytes) {
      if (!isOneName(name)) throw new FileFault('path_traversal', 'That is no name of a folder.')
      checks.place(real, { need: 'read' })
      try {
        const opened = enter(bytes ? bytesAt(parentFd, bytes) : pathTo(parentFd, name))
        if (opened === link) throw isNoFolder(real)
        return passing(opened, real, () => opened)
      } catch (error) {
        throw faultOf(error, real)
      }
    },

    stat(path) {
      return walk(path, { need: 'read' }, ({ fd, name, real }) => {
        if (name === undefined) return { ...lookOf(statOfOpen(fd)), real }
        const opened = fs.openSync(pathTo(fd, name), O_PATH | O_NOFOLLOW)
        const stat = passing(opened, path, () => statOfOpen(opened))
        fs.closeSync(opened)
        return stat.isSymbolicLink() ? link : { ...lookOf(stat), real }
      })
    },
  }
}

/** What stands under a name, if anything: an answer, where an error would cost twice as much to make. */
const lookAt = (fd: number, name: string) => fs.lstatSync(at(fd, name), { throwIfNoEntry: false })

/** Whether looking finds something; what is missing is no fault here. */
function isThere(look: () => unknown): boolean {
  try {
    return look() !== undefined
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}
