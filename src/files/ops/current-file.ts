import type { BigIntStats } from 'node:fs'
import { basename } from 'node:path/posix'
import { sha256Hex } from '#base/hash.ts'
import { FileError } from '../confine/file-error.ts'
import type { OpContext } from '../worker/context.ts'
import type { OpRequest, StoredVersion, Replaced } from '../worker/protocol.ts'
import { readAt } from './io.ts'
import { detectFormat, isPdf } from './file-type.ts'
import { isCloudPlaceholder, cloudPlaceholderError } from './regular-file.ts'

export type CurrentFile = {
  readonly stat: BigIntStats
  readonly bytes: Buffer
  readonly sha256: string
}

export type ChangeRequest = Pick<
  OpRequest<'write'>,
  'at' | 'writeMode' | 'reviewed' | 'expected' | 'backup'
> & {
  /** Of a file that is put back. Otherwise the one it has, or that of new files. */
  readonly mode?: number
}

export type ChangeResult = Omit<Replaced, 'diff'>

/** The new content, made of the present one; undefined leaves all as it is. */
export type BuildContent = (
  present: CurrentFile | undefined,
) => Promise<Buffer | undefined> | Buffer | undefined

export function readCurrentFile(
  { limits }: OpContext,
  { fd, stat }: { fd: number; stat: BigIntStats },
  name: string,
  path: string,
): CurrentFile {
  if (stat.size > BigInt(limits.maxFileBytes)) throw tooLargeError(limits.maxFileBytes, path)
  const bytes = readAt(fd, 0, Number(stat.size))
  if (isCloudPlaceholder(name, stat, () => bytes)) throw cloudPlaceholderError(path)
  return { stat, bytes, sha256: sha256Hex(bytes) }
}

export async function newContent(
  { limits }: OpContext,
  { expected, at: { path } }: ChangeRequest,
  present: CurrentFile | undefined,
  make: BuildContent,
): Promise<Buffer | undefined> {
  if (expected !== undefined && !present?.sha256.startsWith(expected)) throw staleError(path)
  const bytes = await make(present)
  if (bytes !== undefined && bytes.length > limits.maxFileBytes)
    throw tooLargeError(limits.maxFileBytes, path)
  return bytes
}

/** Text in place of a document or a picture would be the end of it. */
export async function checkEditable(
  { bytes }: CurrentFile,
  path: string,
  text?: Buffer,
): Promise<void> {
  const format = await detectFormat(bytes, basename(path))
  // Who writes a PDF by hand writes another.
  if (format === undefined || (text && isPdf(text) && isPdf(bytes))) return
  throw new FileError('not_text', `It is ${format}: cowork cannot edit this format.`, path)
}

export const permissionBits = (stat: BigIntStats): number => Number(stat.mode) & 0o777

export const toVersion = ({ sha256, bytes, stat }: CurrentFile): StoredVersion => ({
  sha256,
  size: bytes.length,
  mode: permissionBits(stat),
})

export const staleError = (path: string): FileError =>
  new FileError('stale', 'The file was changed by somebody else. Nothing was written.', path)

export const notFoundError = (path: string): FileError =>
  new FileError('not_found', 'There is nothing at that path.', path)

export const existsError = (path?: string): FileError =>
  new FileError('exists', 'There is something at that path already.', path)

export const tooLargeError = (most: number, path: string): FileError =>
  new FileError('too_large', `Files of more than ${most} bytes are not written or copied.`, path)
