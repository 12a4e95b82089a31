/**
 * A root that is one file: its folder is not ours, so it is written where it lies, the old content kept first.
 * Whoever reads it in that moment may see some of both; after a crash it is put back.
 */
import fs from 'node:fs'
import { basename } from 'node:path'
import { sha256Hex } from '#base/hash.ts'
import { statOf } from '../confine/checks.ts'
import type { Confined } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { isUnchanged, sync, writeAll } from './disk.ts'
import { dropNote, note } from './in-place-notes.ts'
import { keep } from './kept.ts'
import { exists, keptOf, newContent, presentOf, stale } from './present.ts'
import type { Changed, Make, Present, Wanted } from './present.ts'

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
      const becomes = {
        stat: { ...statOf(present.stat), size: bytes.length, modifiedAt: Date.now() },
        real: file.real,
        sha256: sha256Hex(bytes),
        before: keptOf(present),
      }
      await overwriteNoted(context, confined, file.fd, present, { bytes, becomes })
      return { ...becomes, stat: statOf(fs.fstatSync(file.fd, { bigint: true })) }
    }
    return { stat: statOf(present.stat), real: file.real, sha256: present.sha256 }
  } finally {
    fs.closeSync(file.fd)
  }
}

async function overwriteNoted(
  { roots, entered }: OpContext,
  { root }: Confined,
  fd: number,
  { stat, bytes: old }: Present,
  { bytes: fresh, becomes }: { readonly bytes: Buffer; readonly becomes: Changed },
): Promise<void> {
  const at = { root: root.key, path: '' }
  await note(roots, root, stat, { old, fresh })
  await entered({ sign: { at, sha256: becomes.sha256 }, answer: becomes })
  if (!isUnchanged(fs.fstatSync(fd, { bigint: true }), stat)) {
    dropNote(roots, stat)
    throw stale(at.path)
  }
  try {
    overwrite(fd, old, fresh)
  } catch (error) {
    // Where this fails too, the note stays, and the next worker tries it.
    fs.ftruncateSync(fd, old.length)
    writeAll(fd, old)
    dropNote(roots, stat)
    throw error
  }
  await sync(fd)
  dropNote(roots, stat)
}

/** What needs new room on the disk comes first: where there is none, the old content has not been touched. */
function overwrite(fd: number, old: Buffer, bytes: Buffer): void {
  writeAll(fd, bytes.subarray(old.length), old.length)
  writeAll(fd, bytes.subarray(0, old.length))
  fs.ftruncateSync(fd, bytes.length)
}
