/** Operations on descriptors, in chunks, so that no large content is in memory or blocks the thread. */
import { createHash } from 'node:crypto'
import fs, { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { getErrno, FileError } from '../confine/file-error.ts'
import type { ConfinedRoot } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import type { RootedPath } from '../worker/protocol.ts'

export const getRoot = ({ roots }: OpContext, { root, closed, denied }: RootedPath): ConfinedRoot =>
  roots.get(root, closed, denied)

/** The name to show to people: for a root that is a file, its file name. */
export const displayName = (context: OpContext, at: RootedPath): string =>
  at.path || basename(getRoot(context, at).root.path)

/** Lets other operations run, and throws if the call was cancelled. */
export async function yieldOrCancel(
  { yieldIfDue }: OpContext,
  cancelled: () => boolean,
): Promise<void> {
  if (cancelled()) throw new FileError('cancelled', 'The call was cancelled.')
  await yieldIfDue()
}

/** Closes a descriptor at the end of the block that declares it. */
export const closing = (fd: number): Disposable => ({ [Symbol.dispose]: () => fs.closeSync(fd) })

/** Returns the result, or undefined if the operation fails with one of these codes. */
export function unless<T>(codes: readonly string[], operation: () => T): T | undefined {
  try {
    return operation()
  } catch (error) {
    if (codes.includes(getErrno(error) ?? '')) return undefined
    throw error
  }
}

export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const bytesRead = fs.readSync(fd, bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled === length ? bytes : bytes.subarray(0, filled)
}

export function readContent(
  confined: ConfinedRoot,
  path: string,
  maxBytes = Infinity,
): { readonly bytes: Buffer; readonly stat: BigIntStats } {
  const { fd, stat } = confined.openFile(path)
  using _ = closing(fd)
  return { bytes: readAt(fd, 0, Math.min(Number(stat.size), maxBytes)), stat }
}

export function writeAll(fd: number, bytes: Uint8Array, position = 0): void {
  let written = 0
  while (written < bytes.length)
    written += fs.writeSync(fd, bytes, written, bytes.length - written, position + written)
}

/** The bytes that are copied or hashed between two yields. */
export const chunkBytes = 1024 * 1024

export async function hashDescriptor(
  fd: number,
  yieldNow: () => Promise<void>,
  onChunk: (chunk: Buffer, position: number) => void = () => {},
): Promise<string> {
  const hash = createHash('sha256')
  for (let position = 0; ;) {
    const chunk = readAt(fd, position, chunkBytes)
    hash.update(chunk)
    onChunk(chunk, position)
    position += chunk.length
    if (chunk.length < chunkBytes) return hash.digest('hex')
    await yieldNow()
  }
}

/** Compares two stats: the same inode with the same size and modification time. */
export const isUnchanged = (a: BigIntStats, b: BigIntStats): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs

/** Asynchronous, so that the thread serves other operations. */
export const fsync = promisify(fs.fsync)

/** Errors of file systems that cannot sync a folder. */
const noFolderSync = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** Makes the names in a folder durable. Windows cannot open a folder and does not need it. */
export async function fsyncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  // A folder that is writable but not readable cannot be synced.
  const flags = constants.O_RDONLY | constants.O_DIRECTORY
  const fd = unless(['EACCES'], () => fs.openSync(path, flags))
  if (fd === undefined) return
  try {
    await fsync(fd)
  } catch (error) {
    if (!noFolderSync.has(getErrno(error) ?? '')) throw error
  } finally {
    fs.closeSync(fd)
  }
}
