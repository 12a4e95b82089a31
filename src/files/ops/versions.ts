import fs from 'node:fs'
import { FileFault } from '../confine/fault.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { Ask } from '../worker/protocol.ts'
import { changeFile } from './change.ts'
import { readAt, rootOf } from './disk.ts'
import { drop, keptContent } from './kept.ts'
import { pieceOf } from './pieces.ts'
import { textOf, textDiff } from './text-diff.ts'
import { utf8 } from './text.ts'

export const restoreVersion: RunOp<'restoreVersion'> = (context, { sha256, mode, ...ask }) =>
  changeFile(context, { ...ask, how: 'put', mode: mode & 0o777 }, () =>
    keptContent(context, sha256),
  )

export const readVersion: RunOp<'readVersion'> = async (context, { sha256, maxBytes }) => {
  const bytes = keptContent(context, sha256)
  const text = await textOf(bytes)
  if (text === undefined)
    return { size: bytes.length, kind: 'binary', body: bytes.subarray(0, maxBytes) }
  const all = Buffer.from(text)
  const read = (position: number, length: number) => all.subarray(position, position + length)
  const piece = pieceOf({ size: all.length, coding: utf8, read }, undefined, maxBytes)
  return { size: bytes.length, kind: 'text', body: piece.bytes }
}

export const dropVersions: RunOp<'dropVersions'> = async (context, { sha256 }) => {
  let bytes = 0
  for (const one of sha256) {
    bytes += drop(context, one)
    await context.turn()
  }
  return { bytes }
}

/** Both together; longer texts are compared by nobody. */
const mostDiffBytes = 16 * 1024 * 1024

export const diff: RunOp<'diff'> = async (context, { from, to }) => {
  const [old, now] = [contentOf(context, from), contentOf(context, to)]
  if (old.bytes.length + now.bytes.length > mostDiffBytes)
    throw new FileFault('too_large', 'The files are too large to compare.')
  const [oldText, newText] = [await textOf(old.bytes), await textOf(now.bytes)]
  if (oldText === undefined || newText === undefined)
    throw new FileFault('not_text', 'Only texts can be compared.')
  return { diff: textDiff(oldText, newText, old.name, now.name) }
}

function contentOf(context: OpContext, side: Ask<'diff'>['from']): { bytes: Buffer; name: string } {
  if ('sha256' in side)
    return { bytes: keptContent(context, side.sha256), name: `version ${side.sha256.slice(0, 12)}` }
  const { fd, stat } = rootOf(context, side).openFile(side.path)
  try {
    if (stat.size > BigInt(mostDiffBytes))
      throw new FileFault('too_large', 'The file is too large to compare.', side.path)
    return { bytes: readAt(fd, 0, Number(stat.size)), name: side.path }
  } finally {
    fs.closeSync(fd)
  }
}
