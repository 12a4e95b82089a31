/**
 * Confinement without /proc: resolves and checks the path, opens it, and compares the opened file with the checked
 * one. An attacker who swaps folders for links at the right moment can win the race, so this containment is
 * reported as `checked` and never as more (PV6).
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
const isSame = (left: BigIntStats | undefined, right: BigIntStats | undefined) =>
  left !== undefined && left.dev === right?.dev && left.ino === right.ino

const escapeError = (path: string) =>
  new FileError('path_escape', 'A symbolic link leads out of the folder.', path)
const folderError = (path: string) => new FileError('is_a_folder', 'The path is a folder.', path)
const notFolderError = (path: string) =>
  new FileError('not_a_folder', 'The path is not a folder.', path)

export function createPortableRoot(
  root: Root,
  guard: Guard,
): (closed?: readonly string[], denied?: readonly Inode[]) => ConfinedRoot {
  const pinned = fs.lstatSync(root.path, { bigint: true })
  if (!matchesPin(root, pinned)) throw rootReplacedError(root.key)
  if (root.kind === 'file' ? !pinned.isFile() : !pinned.isDirectory())
    throw new FileError('not_regular', 'The granted path now has another type.')
  const pinnedInode = inodeForRoot(root, pinned)
  const rootPath = fs.realpathSync.native(root.path)
  /** Paths of open folders by descriptor: without /proc a folder is reachable by its path only. */
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
        throw new FileError('other_device', 'Another disk is mounted at the path.', path)
    }

    /** Resolves a path, following all links. */
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

    const entryPath = (fd: number, name?: string) => {
      const folder = folders.get(fd)
      if (folder === undefined) throw new FileError('unreadable', 'The folder is not open.')
      return name === undefined ? folder : join(folder, name)
    }

    /** Resolves the parent folder and the last name; follows a link unless `keepLeafLink`. */
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
      <A extends unknown[], R>(run: (path: string, ...rest: A) => R) =>
      (path: string, ...rest: A): R => {
        try {
          return run(path, ...rest)
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
      const closeFolder = () => {
        fs.closeSync(fd)
        if (!isSame(lstat(folder), opened)) throw escapeError(path)
      }
      let result: T
      try {
        result = use({ fd, name, real, entryPath: (other) => join(folder, other) })
      } catch (error) {
        fs.closeSync(fd)
        throw error
      }
      if (result instanceof Promise) return result.finally(closeFolder) as T
      closeFolder()
      return result
    }

    return {
      root,
      entryPath,
      checkRegular: checks.checkRegular,
      isHidden: checks.isHidden,
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
          throw new FileError('path_traversal', 'Not a valid folder name.')
        checks.checkPath(real, { need: 'read' })
        return withFileErrors(() => openFolderAt(entryPath(parentFd, name), real))(real)
      },
      stat: withFileErrors((path: string) => {
        const { absolute, real } = resolve(path, { need: 'read' })
        return { ...toIdentifiedStat(fs.lstatSync(absolute, { bigint: true })), real }
      }),
    }
  }
}
