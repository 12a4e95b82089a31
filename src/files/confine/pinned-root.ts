/** A root held open, and the few system calls of the walk. Linux only. */
import fs, { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { Inode, Root } from '../worker/protocol.ts'
import { getErrno, FileError } from './file-error.ts'
import { inodeForRoot, matchesPin } from './inode.ts'
import { hasReplacementCharacter } from './names.ts'

const { O_DIRECTORY, O_NOFOLLOW } = constants
/** Not among Node's constants; the same on every architecture that Node runs on. */
export const O_PATH = 0o10000000
const folderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW

/**
 * A name in an open folder, for any call of `fs`. The link in /proc jumps to the folder that is held open,
 * wherever it lies by now, and the kernel looks up one name in it: what openat() and its kin do.
 */
export const fdPath = (fd: number, name = '.'): string => `/proc/self/fd/${fd}/${name}`

/** The inode that was granted, whatever its path leads to later. */
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
      throw new FileError('not_regular', 'Only regular files are read and written.')
    return { fd, stat, inode: inodeForRoot(root, stat), mount: readMountId(fd) }
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
}

/** The granted folder may have been moved away since, and another put in its place (PV9). */
export function checkPin(root: Root, { inode }: Pin): void {
  const now = fs.statSync(root.path, { bigint: true, throwIfNoEntry: false })
  if (!now || !matchesPin(inode, now)) throw rootReplacedError(root.key)
}

/** Of folders that nobody grants: no request brings them back. */
const managedRoots = new Map([
  ['workspace', 'The workspace'],
  ['trash', 'The trash'],
  ['versions', 'The store of versions'],
])

export function rootReplacedError(key: string): FileError {
  const label = managedRoots.get(key)
  if (label === undefined)
    return new FileError('root_replaced', 'What was granted is no longer at its path.')
  const next = 'A person has to put it back, or start cowork again.'
  return new FileError('unreadable', `${label} is no longer at its path. ${next}`)
}

/**
 * The mount that a descriptor lies in. Device numbers would not do: a bind mount has that of what it shows, and
 * files of an overlay or a Btrfs subvolume have others than the folder they are in.
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

/** The root itself lies where it was pinned: what is open stays in its mount. */
export function checkMount(pinned: Pin, fd: number, path: string): void {
  if (fd !== pinned.fd && readMountId(fd) !== pinned.mount)
    throw new FileError('other_device', 'Another disk is mounted there.', path)
}

/** Room for the first lines, among which the mount is; locks come after them. */
const fdinfoBuffer = Buffer.alloc(512)

/** What is answered of a name that is a link, which no call here follows. */
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

/** Opens a folder on the way; one that is missing is made where `mayMake` says nothing against it. */
export function openFolder(
  path: string | Buffer,
  beforeCreate?: () => void,
): number | typeof symlinkMarker {
  try {
    return fs.openSync(path, folderFlags)
  } catch (error) {
    const errno = getErrno(error)
    // Of a link too, since it is no folder.
    if (errno === 'ENOTDIR' || errno === 'ELOOP') return symlinkMarker
    if (!beforeCreate || errno !== 'ENOENT') throw error
  }
  beforeCreate()
  makeFolder(path)
  return openFolder(path)
}

/** A name in an open folder as `at`, also one that is only shown so. */
export const entryPath = (fd: number, name: string): string | Buffer =>
  hasReplacementCharacter(name) ? findEntryBytes(fd, name) : fdPath(fd, name)

/** The bytes of a name as it is shown; of two that look the same neither is taken for the other. */
function findEntryBytes(fd: number, name: string): Buffer | string {
  const matches = fs
    .readdirSync(fdPath(fd), { encoding: 'buffer' })
    .filter((bytes) => bytes.toString('utf8') === name)
  if (matches.length > 1)
    throw new FileError('invalid_path', 'Names that are no UTF-8 look the same. Rename them first.')
  return matches[0] ? entryPathBytes(fd, matches[0]) : fdPath(fd, name)
}

/** A name in an open folder by its bytes. */
export const entryPathBytes = (fd: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(fdPath(fd, '')), bytes])

export function makeFolder(path: string | Buffer): void {
  try {
    fs.mkdirSync(path, 0o755)
  } catch (error) {
    if (getErrno(error) !== 'EEXIST') throw error
  }
}

/** What a link says, or undefined for anything that is none. */
export function readLink(fd: number, name: string): string | undefined {
  try {
    return fs.readlinkSync(entryPath(fd, name))
  } catch (error) {
    if (getErrno(error) === 'EINVAL') return undefined
    throw error
  }
}
