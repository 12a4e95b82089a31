/** Plain dealings with descriptors, in pieces, so that nothing large is held or waited for at once. */
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

/** As a person would call it: of a root that is a file, the file's own name. */
export const displayName = (context: OpContext, at: RootedPath): string =>
  at.path || basename(getRoot(context, at).root.path)

/** A long piece of work is ended when nobody waits for it any longer. */
export async function yieldOrCancel(
  { yieldIfDue }: OpContext,
  cancelled: () => boolean,
): Promise<void> {
  if (cancelled()) throw new FileError('cancelled', 'The call was cancelled.')
  await yieldIfDue()
}

/** Closes a descriptor at the end of the block that declares it. */
export const closing = (fd: number): Disposable => ({ [Symbol.dispose]: () => fs.closeSync(fd) })

/** The result; undefined where it fails with one of these codes, of a fault or of the system. */
export function unless<T>(codes: readonly string[], act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (codes.includes(getErrno(error) ?? '')) return undefined
    throw error
  }
}

export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const got = fs.readSync(fd, bytes, filled, length - filled, position + filled)
    if (got === 0) break
    filled += got
  }
  return filled === length ? bytes : bytes.subarray(0, filled)
}

export function readContent(
  confined: ConfinedRoot,
  path: string,
  most = Infinity,
): { readonly bytes: Buffer; readonly stat: BigIntStats } {
  const { fd, stat } = confined.openFile(path)
  using _ = closing(fd)
  return { bytes: readAt(fd, 0, Math.min(Number(stat.size), most)), stat }
}

export function writeAll(fd: number, bytes: Uint8Array, position = 0): void {
  let written = 0
  while (written < bytes.length)
    written += fs.writeSync(fd, bytes, written, bytes.length - written, position + written)
}

/** What is copied or hashed between two looks at whether others wait. */
export const chunkBytes = 1024 * 1024

export async function hashDescriptor(
  fd: number,
  rest: () => Promise<void>,
  each: (piece: Buffer, position: number) => void = () => {},
): Promise<string> {
  const hash = createHash('sha256')
  for (let position = 0; ;) {
    const piece = readAt(fd, position, chunkBytes)
    hash.update(piece)
    each(piece, position)
    position += piece.length
    if (piece.length < chunkBytes) return hash.digest('hex')
    await rest()
  }
}

/** The same file with the same content, as far as stat can tell. */
export const isUnchanged = (a: BigIntStats, b: BigIntStats): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs

/** On disk when it resolves. Not in this thread: others work on meanwhile. */
export const fsync = promisify(fs.fsync)

/** Disks that cannot sync a folder: its names are as durable as the disk makes them. */
const noFolderSync = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** Makes names in a folder durable. Windows cannot open a folder, and needs no such thing. */
export async function fsyncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  // A folder that may be written and not listed: its names are as durable as the disk makes them.
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
