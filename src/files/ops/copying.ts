/** Copies that are checked before anybody relies on them. */
import fs from 'node:fs'
import { FileFault } from '../confine/fault.ts'
import type { Confined } from '../confine/types.ts'
import { hashOf, isUnchanged, pieceBytes, readAt, sync, writeAll } from './disk.ts'
import { isPlaceholder, placeholderFault } from './leaf.ts'
import type { Leaf } from './leaf.ts'
import { stale } from './present.ts'

type Rest = () => Promise<void>

/** The content of one descriptor into another, on disk and read back when it resolves; answers its hash. */
export async function copyContent(
  source: Leaf & { readonly name: string },
  to: number,
  rest: Rest,
  onCopied: (bytes: number) => void = () => undefined,
): Promise<string> {
  const { fd, stat, name } = source
  if (isPlaceholder(name, stat, () => readAt(fd, 0, pieceBytes))) throw placeholderFault(name)
  const sha256 = await hashOf(fd, rest, (piece, position) => {
    writeAll(to, piece, position)
    onCopied(position + piece.length)
  })
  await sync(to)
  if ((await hashOf(to, rest)) !== sha256)
    throw new FileFault('unreadable', 'The copy differs from the file. The disk may be failing.')
  if (!isUnchanged(fs.fstatSync(fd, { bigint: true }), stat)) throw stale(name)
  return sha256
}

/** Only in the workspace's Code/ may a file that was made here be run (F5). */
export const mayRun = ({ root }: Confined, real: string): boolean =>
  root.key === 'workspace' && real.startsWith('Code/')

export const withoutRunning = (mode: number): number => mode & 0o666
