import { join } from 'node:path'
import { FileError } from '../confine/file-error.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpRequest } from '../worker/protocol.ts'
import { changeFile } from './change.ts'
import { closing, displayName, readAt, getRoot } from './io.ts'
import { deleteJournalByName, listOrphanedJournals as listJournals } from './in-place.ts'
import {
  deleteVersion,
  storeVersion,
  readStoredVersion,
  listVersionsInShard,
  listShards,
} from './version-store.ts'
import { textDiff, decodeText } from './encoding.ts'

export const restoreVersion: RunOp<'restoreVersion'> = (context, { sha256, mode, ...ask }) =>
  changeFile(context, { ...ask, writeMode: 'put', mode: mode & 0o777 }, () =>
    readStoredVersion(context, sha256),
  )

const maxHashes = 10_000

export const listVersions: RunOp<'listVersions'> = async (context, { before, after = '' }) => {
  const sha256: string[] = []
  for (const shard of listShards(context).filter((name) => name > after)) {
    sha256.push(...listVersionsInShard(context, shard, before))
    if (sha256.length >= maxHashes) return { sha256, next: shard }
    await context.yieldIfDue()
  }
  return { sha256 }
}

export const deleteVersions: RunOp<'deleteVersions'> = async (context, { sha256 }) => {
  let bytes = 0
  for (const hash of sha256) {
    bytes += deleteVersion(context, hash)
    await context.yieldIfDue()
  }
  return { bytes }
}

export const orphanedJournals: RunOp<'orphanedJournals'> = async (context, { settled }) => {
  for (const name of settled) deleteJournalByName(context.roots, name)
  const journals = []
  for (const { name, head, writtenAt, contents } of listJournals(context.roots)) {
    // An incomplete journal means that the file was not changed.
    if (!contents) deleteJournalByName(context.roots, name)
    else {
      const { path, mode, old: sha256 } = head
      await storeVersion(context, sha256, contents.old)
      journals.push({
        name,
        path,
        before: { sha256, size: contents.old.length, mode },
        at: writtenAt,
      })
    }
    await context.yieldIfDue()
  }
  return { journals }
}

/** The limit for both texts together; larger diffs are not useful. */
const maxDiffBytes = 16 * 1024 * 1024

export const diff: RunOp<'diff'> = async (context, { from, to }) => {
  const [old, now] = [readSide(context, from), readSide(context, to)]
  if (old.bytes.length + now.bytes.length > maxDiffBytes)
    throw new FileError('too_large', 'The files are too large to compare.')
  if (old.sensitive || now.sensitive)
    return { sensitive: true, ...(old.bytes.equals(now.bytes) && { diff: '' }) }
  const [oldText, newText] = [await decodeText(old.bytes), await decodeText(now.bytes)]
  if (oldText === undefined || newText === undefined)
    throw new FileError('not_text', 'Only text files can be compared.')
  const textDifference = textDiff(oldText, newText, old.name, now.name)
  return { sensitive: false, ...(textDifference !== undefined && { diff: textDifference }) }
}

type Content = { readonly bytes: Buffer; readonly name: string; readonly sensitive: boolean }

/** A stored version is as sensitive as the file it is compared with. */
function readSide(context: OpContext, side: OpRequest<'diff'>['from']): Content {
  if ('sha256' in side) {
    const bytes = readStoredVersion(context, side.sha256)
    return { bytes, name: `version ${side.name}`, sensitive: false }
  }
  const confined = getRoot(context, side)
  const { fd, stat, real } = confined.openFile(side.path)
  using _ = closing(fd)
  if (stat.size > BigInt(maxDiffBytes))
    throw new FileError('too_large', 'The file is too large to compare.', side.path)
  return {
    bytes: readAt(fd, 0, Number(stat.size)),
    name: displayName(context, side),
    sensitive: context.guard.isSensitive(join(confined.root.path, real)),
  }
}
