import type { BigIntStats } from 'node:fs'
import { basename } from 'node:path/posix'
import { sha256Hex } from '#base/hash.ts'
import { FileFault } from '../confine/fault.ts'
import type { OpContext } from '../worker/context.ts'
import type { Ask, Kept, Replaced } from '../worker/protocol.ts'
import { readAt } from './disk.ts'
import { formatOf, isPdf } from './kinds.ts'
import { isPlaceholder, placeholderFault } from './leaf.ts'

export type Present = {
  readonly stat: BigIntStats
  readonly bytes: Buffer
  readonly sha256: string
}

export type Wanted = Pick<Ask<'write'>, 'at' | 'how' | 'reviewed' | 'expected' | 'backup'> & {
  /** Of a file that is put back. Otherwise the one it has, or that of new files. */
  readonly mode?: number
}

export type Changed = Omit<Replaced, 'diff'>

/** The new content, made of the present one; undefined leaves all as it is. */
export type Make = (
  present: Present | undefined,
) => Promise<Buffer | undefined> | Buffer | undefined

export function presentOf(
  { limits }: OpContext,
  { fd, stat }: { fd: number; stat: BigIntStats },
  name: string,
  path: string,
): Present {
  if (stat.size > BigInt(limits.maxFileBytes)) throw tooLarge(limits.maxFileBytes, path)
  const bytes = readAt(fd, 0, Number(stat.size))
  if (isPlaceholder(name, stat, () => bytes)) throw placeholderFault(path)
  return { stat, bytes, sha256: sha256Hex(bytes) }
}

export async function newContent(
  { limits }: OpContext,
  { expected, at: { path } }: Wanted,
  present: Present | undefined,
  make: Make,
): Promise<Buffer | undefined> {
  if (expected !== undefined && !present?.sha256.startsWith(expected)) throw stale(path)
  const bytes = await make(present)
  if (bytes !== undefined && bytes.length > limits.maxFileBytes)
    throw tooLarge(limits.maxFileBytes, path)
  return bytes
}

/** Text in place of a document or a picture would be the end of it. */
export async function checkEditable(
  { bytes }: Present,
  path: string,
  text?: Buffer,
): Promise<void> {
  const format = await formatOf(bytes, basename(path))
  // Who writes a PDF by hand writes another.
  if (format === undefined || (text && isPdf(text) && isPdf(bytes))) return
  throw new FileFault('not_text', `It is ${format}: cowork cannot edit this format.`, path)
}

export const permissionsOf = (stat: BigIntStats): number => Number(stat.mode) & 0o777

export const keptOf = ({ sha256, bytes, stat }: Present): Kept => ({
  sha256,
  size: bytes.length,
  mode: permissionsOf(stat),
})

export const stale = (path: string): FileFault =>
  new FileFault('stale', 'The file was changed by somebody else. Nothing was written.', path)

export const notFound = (path: string): FileFault =>
  new FileFault('not_found', 'There is nothing at that path.', path)

export const exists = (path?: string): FileFault =>
  new FileFault('exists', 'There is something at that path already.', path)

export const tooLarge = (most: number, path: string): FileFault =>
  new FileFault('too_large', `Files of more than ${most} bytes are not written or copied.`, path)
