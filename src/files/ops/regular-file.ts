/** A name in a folder that is held open: what it is, and whether its content may be used. */
import fs from 'node:fs'
import { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } from '../confine/flags.ts'
import type { BigIntStats } from 'node:fs'
import { getErrno, FileError } from '../confine/file-error.ts'
import { cleanUpAfterCrash } from '../confine/crash-cleanup.ts'
import type { ConfinedRoot } from '../confine/types.ts'

/** No link is followed, and a FIFO does not wait for its other end. */
const asFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

export type OpenFile = { readonly fd: number; readonly stat: BigIntStats }

export const lstatEntry = (path: string | Buffer): BigIntStats | undefined =>
  fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })

/** Opens a regular file by its path in an open folder; undefined where there is none. The caller closes it. */
export function openRegularFile(
  confined: ConfinedRoot,
  path: string | Buffer,
  real: string,
): OpenFile | undefined {
  const fd = opened(path, real)
  if (fd === undefined) return undefined
  try {
    const stat = fs.fstatSync(fd, { bigint: true })
    confined.checkRegular(stat, real, () => {
      if (confined.root.access === 'read-write' && typeof path === 'string') cleanUpAfterCrash(path)
      return fs.fstatSync(fd, { bigint: true })
    })
    return { fd, stat }
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
}

function opened(path: string | Buffer, real: string): number | undefined {
  try {
    return fs.openSync(path, asFile)
  } catch (error) {
    const errno = getErrno(error)
    if (errno === 'ENOENT') return undefined
    if (errno === 'ENXIO')
      throw new FileError('not_regular', 'Only regular files are read and written.', real)
    throw error
  }
}

/**
 * Whether a file's content lies elsewhere (PV9): it has a size and no blocks, and reads as nothing but zeros as
 * far as `start` goes; or iCloud keeps its name only. A file of zeros that was never written looks the same,
 * and is worth as little. A disk that counts no blocks shows its content and passes. On a Mac reading would
 * fetch the file, so there the blocks alone decide.
 */
export function isCloudPlaceholder(name: string, stat: BigIntStats, start: () => Buffer): boolean {
  if (/^\..+\.icloud$/i.test(name)) return true
  // Disks keep small files beside their names, in no block.
  if (process.platform === 'win32' || stat.blocks > 0n || stat.size <= 4096n) return false
  return process.platform === 'darwin' || start().every((byte) => byte === 0)
}

export const cloudPlaceholderError = (path: string): FileError =>
  new FileError('cloud_placeholder', 'The content of the file is not on this disk.', path)
