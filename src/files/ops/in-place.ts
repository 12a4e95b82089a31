/** A root that is one file: its folder is not ours, so it is written where it lies, the old content kept first. */
import fs from 'node:fs'
import { basename } from 'node:path'
import { sha256Hex } from '#base/hash.ts'
import { statOf } from '../confine/checks.ts'
import type { Confined } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { isUnchanged, sync, writeAll } from './disk.ts'
import { keep } from './kept.ts'
import { exists, keptOf, newContent, presentOf, stale } from './present.ts'
import type { Changed, Make, Wanted } from './present.ts'

export async function changeInPlace(
  context: OpContext,
  confined: Confined,
  wanted: Wanted,
  make: Make,
): Promise<Changed> {
  const { path } = wanted.at
  if (wanted.how === 'create') throw exists(path)
  const file = confined.openFile(path, { write: true, reviewed: wanted.reviewed ?? false })
  try {
    const present = presentOf(context, file, basename(confined.root.path), path)
    const bytes = await newContent(context, wanted, present, make)
    if (bytes !== undefined) {
      await keep(context, present.sha256, present.bytes)
      if (!isUnchanged(fs.fstatSync(file.fd, { bigint: true }), present.stat)) throw stale(path)
      overwrite(file.fd, present.bytes, bytes)
      await sync(file.fd)
    }
    return {
      stat: statOf(fs.fstatSync(file.fd, { bigint: true })),
      sha256: bytes === undefined ? present.sha256 : sha256Hex(bytes),
      ...(bytes !== undefined && { before: keptOf(present) }),
    }
  } finally {
    fs.closeSync(file.fd)
  }
}

/** What needs new room on the disk comes first: where there is none, the old content has not been touched. */
function overwrite(fd: number, old: Buffer, bytes: Buffer): void {
  try {
    writeAll(fd, bytes.subarray(old.length), old.length)
    writeAll(fd, bytes.subarray(0, old.length))
    fs.ftruncateSync(fd, bytes.length)
  } catch (error) {
    fs.ftruncateSync(fd, old.length)
    writeAll(fd, old)
    throw error
  }
}
