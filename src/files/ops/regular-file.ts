/** Entries of open folders: opens regular files and checks whether their content may be used. */
import fs from 'node:fs'
import { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } from '../confine/flags.ts'
import type { BigIntStats } from 'node:fs'
import { getErrno, FileError } from '../confine/file-error.ts'
import { cleanUpAfterCrash } from '../confine/crash-cleanup.ts'
import type { ConfinedRoot } from '../confine/types.ts'

/** Does not follow links, and does not block on a FIFO. */
const openFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

export type OpenFile = { readonly fd: number; readonly stat: BigIntStats }

export const lstatEntry = (path: string | Buffer): BigIntStats | undefined =>
  fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })

/** Opens a regular file in an open folder; returns undefined if it is missing. The caller closes it. */
export function openRegularFile(
  confined: ConfinedRoot,
  path: string | Buffer,
  real: string,
): OpenFile | undefined {
  const fd = openIfExists(path, real)
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

function openIfExists(path: string | Buffer, real: string): number | undefined {
  try {
    return fs.openSync(path, openFlags)
  } catch (error) {
    const errno = getErrno(error)
    if (errno === 'ENOENT') return undefined
    if (errno === 'ENXIO') throw new FileError('not_regular', 'Not a regular file.', real)
    throw error
  }
}

/**
 * Detects a file whose content is not on this disk (PV9): it has a size but no blocks, and `start` reads as zeros
 * only; or its name is an iCloud placeholder. A sparse file of zeros looks the same and has no content either. A file
 * system that reports no blocks shows the content, so the file passes. On macOS reading would download the file, so
 * the blocks alone decide there.
 */
export function isCloudPlaceholder(name: string, stat: BigIntStats, start: () => Buffer): boolean {
  if (/^\..+\.icloud$/i.test(name)) return true
  // File systems store small files inline, without blocks.
  if (process.platform === 'win32' || stat.blocks > 0n || stat.size <= 4096n) return false
  return process.platform === 'darwin' || start().every((byte) => byte === 0)
}

export const cloudPlaceholderError = (path: string): FileError =>
  new FileError('cloud_placeholder', 'The content of the file is not on this disk.', path)
