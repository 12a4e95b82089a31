/** A root as an open descriptor, and the system calls of the walk. Linux only. */
import fs, { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { Inode, Root } from '../worker/protocol.ts'
import { getErrno, FileError } from './file-error.ts'
import { inodeForRoot, matchesPin } from './inode.ts'
import { hasReplacementCharacter } from './names.ts'

const { O_DIRECTORY, O_NOFOLLOW } = constants
/** Missing in Node's constants; the value is the same on every architecture that Node supports. */
export const O_PATH = 0o10000000
const folderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW

/**
 * The path of an entry in an open folder, for any `fs` function. The /proc link leads to the open folder even
 * after it was moved, and the kernel resolves one name in it, like openat(2).
 */
export const fdPath = (fd: number, name = '.'): string => `/proc/self/fd/${fd}/${name}`

/** The granted inode, independent of what its path leads to later. */
export type Pin = {
  readonly fd: number
  readonly stat: BigIntStats
  readonly inode: Inode
  readonly mount: string
}

export function pin(root: Root): Pin {
  const fd = fs.openSync(root.path, root.kind === 'folder' ? folderFlags : O_PATH | O_NOFOLLOW)
  try {
    const stat = fs.fstatSync(fd, { bigint: true })
    if (!matchesPin(root, stat)) throw rootReplacedError(root.key)
    if (root.kind === 'file' && !stat.isFile())
      throw new FileError('not_regular', 'Not a regular file.')
    return { fd, stat, inode: inodeForRoot(root, stat), mount: readMountId(fd) }
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
}

/** Fails if the root was moved and something else is at its path (PV9). */
export function checkPin(root: Root, { inode }: Pin): void {
  const now = fs.statSync(root.path, { bigint: true, throwIfNoEntry: false })
  if (!now || !matchesPin(inode, now)) throw rootReplacedError(root.key)
}

/** Roots that are not grants: an access request cannot bring them back. */
const managedRoots = new Map([
  ['workspace', 'The workspace'],
  ['trash', 'The trash'],
  ['versions', 'The version store'],
])

export function rootReplacedError(key: string): FileError {
  const label = managedRoots.get(key)
  if (label === undefined)
    return new FileError('root_replaced', 'The granted file or folder is no longer at its path.')
  return new FileError(
    'unreadable',
    `${label} is no longer at its path. A person must restore it or restart cowork.`,
  )
}

/**
 * Reads the mount id of a descriptor. Device numbers are not sufficient: a bind mount has the number of its
 * source, and files of an overlay or a Btrfs subvolume differ from the folder that contains them.
 */
function readMountId(fd: number): string {
  const opened = fs.openSync(`/proc/self/fdinfo/${fd}`, constants.O_RDONLY)
  try {
    const length = fs.readSync(opened, fdinfoBuffer)
    return /^mnt_id:\s*(\d+)$/m.exec(fdinfoBuffer.toString('latin1', 0, length))?.[1] ?? ''
  } finally {
    fs.closeSync(opened)
  }
}

/** Fails if the descriptor is on another mount. The root itself cannot change its mount while it is open. */
export function checkMount(pinned: Pin, fd: number, path: string): void {
  if (fd !== pinned.fd && readMountId(fd) !== pinned.mount)
    throw new FileError('other_device', 'Another disk is mounted at the path.', path)
}

/** Large enough for the lines up to the mount id; the lock lines follow it. */
const fdinfoBuffer = Buffer.alloc(512)

/** Returned for a name that is a symbolic link. */
export const symlinkMarker = Symbol('a link')

/** Opens a name with flags that refuse links. */
export function openNoFollow(path: string | Buffer, flags: number): number | typeof symlinkMarker {
  try {
    return fs.openSync(path, flags)
  } catch (error) {
    if (getErrno(error) === 'ELOOP') return symlinkMarker
    throw error
  }
}

/** Opens a folder. If it is missing and `beforeCreate` is given and does not throw, creates it. */
export function openFolder(
  path: string | Buffer,
  beforeCreate?: () => void,
): number | typeof symlinkMarker {
  try {
    return fs.openSync(path, folderFlags)
  } catch (error) {
    const errno = getErrno(error)
    // O_DIRECTORY reports ENOTDIR for a link too.
    if (errno === 'ENOTDIR' || errno === 'ELOOP') return symlinkMarker
    if (!beforeCreate || errno !== 'ENOENT') throw error
  }
  beforeCreate()
  makeFolder(path)
  return openFolder(path)
}

/** The path of an entry in an open folder. Accepts a name shown with replacement characters. */
export const entryPath = (fd: number, name: string): string | Buffer =>
  hasReplacementCharacter(name) ? findEntryBytes(fd, name) : fdPath(fd, name)

/** Finds the bytes of a shown name. If two names look the same, neither is chosen. */
function findEntryBytes(fd: number, name: string): Buffer | string {
  const matches = fs
    .readdirSync(fdPath(fd), { encoding: 'buffer' })
    .filter((bytes) => bytes.toString('utf8') === name)
  if (matches.length > 1)
    throw new FileError(
      'invalid_path',
      'Several names with invalid UTF-8 look the same. Rename them first.',
    )
  return matches[0] ? entryPathBytes(fd, matches[0]) : fdPath(fd, name)
}

export const entryPathBytes = (fd: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(fdPath(fd, '')), bytes])

export function makeFolder(path: string | Buffer): void {
  try {
    fs.mkdirSync(path, 0o755)
  } catch (error) {
    if (getErrno(error) !== 'EEXIST') throw error
  }
}

/** Returns the target of a link, or undefined if the entry is not a link. */
export function readLink(fd: number, name: string): string | undefined {
  try {
    return fs.readlinkSync(entryPath(fd, name))
  } catch (error) {
    if (getErrno(error) === 'EINVAL') return undefined
    throw error
  }
}
