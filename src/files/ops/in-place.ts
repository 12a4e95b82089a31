/**
 * A root that is one file: its folder is not ours, so it is written where it lies, the old content kept first.
 * Whoever reads it in that moment may see some of both; after a crash it is put back.
 */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { basename } from 'node:path'
import { sha256Hex } from '#base/hash.ts'
import { toStat } from '../confine/access-checks.ts'
import type { ConfinedRoot, Parent, Roots } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { getErrno, FileError } from '../confine/file-error.ts'
import type { Root } from '../worker/protocol.ts'
import {
  closing,
  readContent,
  isUnchanged,
  readAt,
  fsync,
  fsyncFolder,
  unless,
  writeAll,
} from './io.ts'
import { storeVersion } from './version-store.ts'
import {
  existsError,
  toVersion,
  newContent,
  permissionBits,
  readCurrentFile,
  staleError,
} from './current-file.ts'
import type { ChangeResult, BuildContent, CurrentFile, ChangeRequest } from './current-file.ts'
import { skipTempFile } from './tree.ts'
import { filterNames } from './folders.ts'
import { publishOver, unlinkIfExists, withTempFile } from './atomic-publish.ts'

export async function changeInPlace(
  context: OpContext,
  confined: ConfinedRoot,
  wanted: ChangeRequest,
  make: BuildContent,
): Promise<ChangeResult> {
  const { path } = wanted.at
  if (wanted.writeMode === 'create') throw existsError(path)
  const file = confined.openFile(path, { write: true, reviewed: wanted.reviewed ?? false })
  using _ = closing(file.fd)
  const present = readCurrentFile(context, file, basename(confined.root.path), path)
  const bytes = await newContent(context, wanted, present, make)
  if (bytes !== undefined) {
    await storeVersion(context, present.sha256, present.bytes)
    const becomes = {
      stat: { ...toStat(present.stat), size: bytes.length, modifiedAt: Date.now() },
      real: file.real,
      sha256: sha256Hex(bytes),
      before: toVersion(present),
    }
    await overwriteNoted(context, confined, file.fd, present, { bytes, becomes })
    return { ...becomes, stat: toStat(fs.fstatSync(file.fd, { bigint: true })) }
  }
  return { stat: toStat(present.stat), real: file.real, sha256: present.sha256 }
}

async function overwriteNoted(
  { roots, waitForEntry }: OpContext,
  { root }: ConfinedRoot,
  fd: number,
  { stat, bytes: old }: CurrentFile,
  { bytes: fresh, becomes }: { readonly bytes: Buffer; readonly becomes: ChangeResult },
): Promise<void> {
  const at = { root: root.key, path: '' }
  await writeJournal(roots, root, stat, { old, fresh })
  await waitForEntry({ fingerprint: { at, sha256: becomes.sha256 }, answer: becomes })
  if (!isUnchanged(fs.fstatSync(fd, { bigint: true }), stat)) {
    deleteJournal(roots, stat)
    throw staleError(at.path)
  }
  try {
    overwrite(fd, old, fresh)
  } catch (error) {
    // Where this fails too, the note stays, and the next worker tries it.
    fs.ftruncateSync(fd, old.length)
    writeAll(fd, old)
    deleteJournal(roots, stat)
    throw error
  }
  await fsync(fd)
  deleteJournal(roots, stat)
}

/** What needs new room on the disk comes first: where there is none, the old content has not been touched. */
function overwrite(fd: number, old: Buffer, bytes: Buffer): void {
  writeAll(fd, bytes.subarray(old.length), old.length)
  writeAll(fd, bytes.subarray(0, old.length))
  fs.ftruncateSync(fd, bytes.length)
}

type Both = { readonly old: Buffer; readonly fresh: Buffer }
type Head = {
  readonly pid: number
  readonly key: string
  readonly path: string
  readonly mode: number
  readonly old: string
  readonly fresh: string
  readonly length: number
}

type Inode = Pick<BigIntStats, 'dev' | 'ino'> | Pick<Root, 'dev' | 'ino'>

const folder = 'in-place'
const nameOf = ({ dev, ino }: Inode) => `${dev}-${ino}`

/**
 * Writes a note with both contents to the version store. While a file is written in place it is neither the old nor the
 * new one: after a crash the next worker finds the note and restores the old content. Where the grant is gone by then,
 * the old content becomes a version. The note is on disk when this resolves.
 */
export async function writeJournal(
  roots: Roots,
  { key, path }: Root,
  file: BigIntStats,
  { old, fresh }: Both,
): Promise<void> {
  const head: Head = {
    pid: process.pid,
    key,
    path,
    mode: permissionBits(file),
    old: sha256Hex(old),
    fresh: sha256Hex(fresh),
    length: old.length,
  }
  await inStore(roots, nameOf(file), (parent) =>
    withTempFile(parent, 0o600, async (temporary) => {
      writeAll(temporary.fd, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), old, fresh]))
      await fsync(temporary.fd)
      publishOver(temporary, parent.entryPath(parent.name))
      await Promise.all([fsyncFolder(parent.entryPath('.')), fsyncFolder(parent.entryPath('..'))])
    }),
  )
}

const deleteJournal = (roots: Roots, file: Inode) => deleteJournalByName(roots, nameOf(file))

export const deleteJournalByName = (roots: Roots, name: string) =>
  inStore(roots, name, ({ entryPath, name: known }) => unlinkIfExists(entryPath(known)))

const inStore = <T>(roots: Roots, name: string, use: (parent: Parent) => T): T =>
  roots.get('versions').withParent(`${folder}/${name}`, use, { need: 'create', parents: true })

/** No change takes longer: its call is over by then. Somebody else has the number of its worker after that. */
const longestMs = 60_000

const lookEvery = 1000

/** When a worker starts: what one before it did not finish is as it was before. */
export function rollBackUnfinished(roots: Roots, all: readonly Root[]): void {
  const files = all.filter(({ kind, access }) => kind === 'file' && access === 'read-write')
  const busy = files.filter((root) => {
    try {
      return !isUndone(roots, root)
    } catch {
      // It cannot be opened now; the note stays.
      return false
    }
  })
  if (busy.length > 0) setTimeout(() => rollBackUnfinished(roots, busy), lookEvery).unref()
}

/** False where the worker that wrote the note is alive. */
function isUndone(roots: Roots, root: Root): boolean {
  const noted = notedOf(roots, nameOf(root))
  if (!noted) return true
  if (isBusy(noted)) return false
  if (noted.both) undo(roots.get(root.key), noted.both, noted.at)
  deleteJournal(roots, root)
  return true
}

/** Those of files that are under no grant any more: nobody will put them right. */
export function listOrphanedJournals(roots: Roots): (Noted & { readonly name: string })[] {
  return noteNames(roots.get('versions')).flatMap((name) => {
    const noted = notedOf(roots, name)
    if (!noted || isBusy(noted) || isGranted(roots, noted.head.key)) return []
    return [{ ...noted, name }]
  })
}

function noteNames(versions: ConfinedRoot): string[] {
  const isNote = (name: string, opened: ReturnType<ConfinedRoot['openFolder']>) =>
    !skipTempFile(versions, opened, name)
  return unless(['not_found'], () => filterNames(versions, folder, isNote)) ?? []
}

/** Also where its file cannot be opened now. */
function isGranted(roots: Roots, key: string): boolean {
  try {
    return roots.get(key) !== undefined
  } catch (error) {
    return !(error instanceof FileError && error.code === 'no_grant')
  }
}

type Noted = { readonly head: Head; readonly at: number; readonly both?: Both }

/** Its worker may be at it still. */
const isBusy = ({ head: { pid }, at }: Noted) =>
  pid !== process.pid && Date.now() - at < longestMs && isAlive(pid)

/** Without contents where the note itself is half: then the file was not touched. */
function notedOf(roots: Roots, name: string): Noted | undefined {
  const found = noteContent(roots, name)
  if (!found) return undefined
  const { bytes, stat } = found
  const at = Number(stat.mtimeMs)
  const end = bytes.indexOf('\n')
  const head = JSON.parse(bytes.toString('utf8', 0, end)) as Head
  const { old, fresh, length } = head
  const both = {
    old: bytes.subarray(end + 1, end + 1 + length),
    fresh: bytes.subarray(end + 1 + length),
  }
  return sha256Hex(both.old) === old && sha256Hex(both.fresh) === fresh
    ? { head, at, both }
    : { head, at }
}

function noteContent(roots: Roots, name: string) {
  try {
    return readContent(roots.get('versions'), `${folder}/${name}`)
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return getErrno(error) !== 'ESRCH'
  }
}

/** Only what was last written while the note was fresh: anything later is somebody's own. */
function undo(confined: ConfinedRoot, { old, fresh }: Both, notedAt: number): void {
  const { fd, stat } = confined.openFile('', { write: true, reviewed: true })
  using _ = closing(fd)
  if (Number(stat.mtimeMs) - notedAt > longestMs) return
  const now = readAt(fd, 0, Number(stat.size))
  if (now.equals(old) || now.equals(fresh) || !isBetween(now, old, fresh)) return
  writeAll(fd, old)
  fs.ftruncateSync(fd, old.length)
  fs.fsyncSync(fd)
}

/** Some of the old and some of the new, and nothing that anybody else wrote since. */
function isBetween(now: Buffer, old: Buffer, fresh: Buffer): boolean {
  const [least, most] = [old.length, fresh.length].toSorted((a, b) => a - b)
  if (now.length < (least ?? 0) || now.length > (most ?? 0)) return false
  return now.every((byte, at) => byte === old[at] || byte === fresh[at])
}
