/**
 * Where there is no /proc: paths are resolved, checked, opened, and what was opened is compared with what was
 * checked. Somebody who swaps folders for links at the right moment may win against it, so it is called
 * `checked` and never more (PV6).
 */
import fs from 'node:fs'
import { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } from './flags.ts'
import type { BigIntStats } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { Guard } from '../rules/guard.ts'
import type { Inode, Root } from '../worker/protocol.ts'
import { createAccessChecks, toIdentifiedStat, splitPath } from './access-checks.ts'
import type { AccessOptions } from './access-checks.ts'
import { toFileError, FileError } from './file-error.ts'
import { inodeForRoot, matchesPin } from './inode.ts'
import { cleanUpAfterCrash } from './crash-cleanup.ts'
import { isSingleSegment } from './names.ts'
import { makeFolder, rootReplacedError } from './pinned-root.ts'
import type { ConfinedRoot, Parent, ParentOptions } from './types.ts'

const lstat = (path: string) => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
const isSame = (one: BigIntStats | undefined, other: BigIntStats | undefined) =>
  one !== undefined && one.dev === other?.dev && one.ino === other.ino

const escapeError = (path: string) =>
  new FileError('path_escape', 'A link on the way leads out of the folder.', path)
const folderError = (path: string) => new FileError('is_a_folder', 'That is a folder.', path)
const notFolderError = (path: string) => new FileError('not_a_folder', 'That is no folder.', path)

export function createPortableRoot(
  root: Root,
  guard: Guard,
): (closed?: readonly string[], denied?: readonly Inode[]) => ConfinedRoot {
  const pinned = fs.lstatSync(root.path, { bigint: true })
  if (!matchesPin(root, pinned)) throw rootReplacedError(root.key)
  if (root.kind === 'file' ? !pinned.isFile() : !pinned.isDirectory())
    throw new FileError('not_regular', 'What was granted is no longer what it was.')
  const pinnedInode = inodeForRoot(root, pinned)
  const rootPath = fs.realpathSync.native(root.path)
  /** Folders that were opened, by descriptor: their names are all there is to reach them by. */
  const folders = new Map<number, string>()

  return (closed = [], denied = []) => {
    const checks = createAccessChecks(root, guard, closed, denied)

    function relativeTo(real: string, path: string): string {
      if (real !== rootPath && !real.startsWith(rootPath.endsWith(sep) ? rootPath : rootPath + sep))
        throw escapeError(path)
      return relative(rootPath, real).replaceAll(sep, '/')
    }

    function checkDisk(absolute: string, path: string): void {
      if (fs.lstatSync(absolute, { bigint: true }).dev !== pinned.dev)
        throw new FileError('other_device', 'Another disk is mounted there.', path)
    }

    /** Where a path leads, all links followed. */
    function resolve(path: string, options: AccessOptions): { absolute: string; real: string } {
      const now = lstat(root.path)
      if (!now || !matchesPin(pinnedInode, now)) throw rootReplacedError(root.key)
      const names = splitPath(path)
      checks.checkPath(names.join('/'), options)
      const absolute = fs.realpathSync.native(join(rootPath, ...names))
      const real = relativeTo(absolute, path)
      checks.checkPath(real, options)
      checkDisk(absolute, path)
      return { absolute, real }
    }

    function open(absolute: string, flags: number, path: string) {
      const before = lstat(absolute)
      const fd = fs.openSync(absolute, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
      try {
        const stat = fs.fstatSync(fd, { bigint: true })
        if (!isSame(before, stat) || fs.realpathSync.native(absolute) !== absolute)
          throw escapeError(path)
        return { fd, stat }
      } catch (error) {
        fs.closeSync(fd)
        throw error
      }
    }

    function openFolderAt(absolute: string, path: string): number {
      if (!fs.lstatSync(absolute).isDirectory()) throw notFolderError(path)
      const { fd } = open(absolute, O_RDONLY, path)
      folders.set(fd, absolute)
      return fd
    }

    const at = (fd: number, name?: string) => {
      const folder = folders.get(fd)
      if (folder === undefined) throw new FileError('unreadable', 'The folder is not open.')
      return name === undefined ? folder : join(folder, name)
    }

    /** The folder a name lies in, and the name; of a link that is followed, those of what it leads to. */
    function resolveParent(path: string, options: ParentOptions): { folder: string; name: string } {
      const names = splitPath(path)
      checks.checkPath(names.join('/'), options)
      const name = names.pop()
      if (name === undefined) throw folderError(path)
      let folder = resolve('', { need: 'read' }).absolute
      for (const step of names) {
        const next = join(folder, step)
        if (options.parents && !lstat(next)) {
          checks.checkPath(relativeTo(next, path), options)
          makeFolder(next)
        }
        folder = lstat(next)?.isSymbolicLink() ? fs.realpathSync.native(next) : next
        relativeTo(folder, path)
      }
      if (options.keepLeafLink || !lstat(join(folder, name))?.isSymbolicLink())
        return { folder, name }
      const target = fs.realpathSync.native(join(folder, name))
      relativeTo(target, path)
      return { folder: dirname(target), name: target.slice(dirname(target).length + 1) }
    }

    const withFileErrors =
      <A extends unknown[], R>(act: (path: string, ...rest: A) => R) =>
      (path: string, ...rest: A): R => {
        try {
          return act(path, ...rest)
        } catch (error) {
          throw toFileError(error, path)
        }
      }

    function withParent<T>(
      path: string,
      use: (parent: Parent) => T,
      options: ParentOptions = { need: 'read' },
    ): T {
      if (root.kind === 'file') throw notFolderError(path)
      const { folder, name } = resolveParent(path, options)
      const real = relativeTo(join(folder, name), path)
      checks.checkPath(real, options)
      checks.checkExtension(real, options, () => lstat(join(folder, name)) !== undefined)
      checkDisk(folder, path)
      const fd = openFolderAt(folder, path)
      const opened = fs.fstatSync(fd, { bigint: true })
      const leave = () => {
        fs.closeSync(fd)
        if (!isSame(lstat(folder), opened)) throw escapeError(path)
      }
      let used: T
      try {
        used = use({ fd, name, real, entryPath: (other) => join(folder, other) })
      } catch (error) {
        fs.closeSync(fd)
        throw error
      }
      if (used instanceof Promise) return used.finally(leave) as T
      leave()
      return used
    }

    return {
      root,
      entryPath: at,
      checkRegular: checks.checkRegular,
      isHidden: checks.hides,
      createNameFilter: checks.createNameFilter,
      withParent: (path, use, options) =>
        withFileErrors(withParent<ReturnType<typeof use>>)(path, use, options),
      openFile: withFileErrors((path, { write = false, reviewed = false } = {}) => {
        const options: AccessOptions = { need: write ? 'write' : 'read', reviewed }
        const { absolute, real } = resolve(path, options)
        const before = lstat(absolute)
        if (before)
          checks.checkRegular(before, path, () => {
            if (root.access === 'read-write' && root.kind === 'folder') cleanUpAfterCrash(absolute)
            return lstat(absolute) ?? before
          })
        const { fd, stat } = open(absolute, write ? O_RDWR : O_RDONLY, path)
        return { fd, stat, real }
      }),
      openFolder: withFileErrors((path: string) => {
        const { absolute, real } = resolve(path, { need: 'read' })
        return { fd: openFolderAt(absolute, path), real }
      }),
      openChild(parentFd, name, real) {
        if (!isSingleSegment(name))
          throw new FileError('path_traversal', 'That is no name of a folder.')
        checks.checkPath(real, { need: 'read' })
        return withFileErrors(() => openFolderAt(at(parentFd, name), real))(real)
      },
      stat: withFileErrors((path: string) => {
        const { absolute, real } = resolve(path, { need: 'read' })
        return { ...toIdentifiedStat(fs.lstatSync(absolute, { bigint: true })), real }
      }),
    }
  }
}
