/**
 * Changes a root that is one file. Its folder is not granted, so the file is overwritten in place after the old
 * content is stored. A reader may see a mix of both; after a crash the old content is restored.
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
  buildNewContent,
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
  request: ChangeRequest,
  buildContent: BuildContent,
): Promise<ChangeResult> {
  const { path } = request.at
  if (request.writeMode === 'create') throw existsError(path)
  const file = confined.openFile(path, { write: true, reviewed: request.reviewed ?? false })
  using _ = closing(file.fd)
  const current = readCurrentFile(context, file, basename(confined.root.path), path)
  const bytes = await buildNewContent(context, request, current, buildContent)
  if (bytes !== undefined) {
    await storeVersion(context, current.sha256, current.bytes)
    const result = {
      stat: { ...toStat(current.stat), size: bytes.length, modifiedAt: Date.now() },
      real: file.real,
      sha256: sha256Hex(bytes),
      before: toVersion(current),
    }
    await overwriteWithJournal(context, confined, file.fd, current, { bytes, result })
    return { ...result, stat: toStat(fs.fstatSync(file.fd, { bigint: true })) }
  }
  return { stat: toStat(current.stat), real: file.real, sha256: current.sha256 }
}

async function overwriteWithJournal(
  { roots, waitForEntry }: OpContext,
  { root }: ConfinedRoot,
  fd: number,
  { stat, bytes: old }: CurrentFile,
  { bytes: fresh, result }: { readonly bytes: Buffer; readonly result: ChangeResult },
): Promise<void> {
  const at = { root: root.key, path: '' }
  await writeJournal(roots, root, stat, { old, fresh })
  await waitForEntry({ fingerprint: { at, sha256: result.sha256 }, answer: result })
  if (!isUnchanged(fs.fstatSync(fd, { bigint: true }), stat)) {
    deleteJournal(roots, stat)
    throw staleError(at.path)
  }
  try {
    overwrite(fd, old, fresh)
  } catch (error) {
    // If this fails too, the journal stays and the next worker restores the content.
    fs.ftruncateSync(fd, old.length)
    writeAll(fd, old)
    deleteJournal(roots, stat)
    throw error
  }
  await fsync(fd)
  deleteJournal(roots, stat)
}

/** Grows the file first: if the disk is full, the old content is still unchanged. */
function overwrite(fd: number, old: Buffer, bytes: Buffer): void {
  writeAll(fd, bytes.subarray(old.length), old.length)
  writeAll(fd, bytes.subarray(0, old.length))
  fs.ftruncateSync(fd, bytes.length)
}

type Contents = { readonly old: Buffer; readonly fresh: Buffer }
type JournalHead = {
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
const journalName = ({ dev, ino }: Inode) => `${dev}-${ino}`

/**
 * Writes a journal with both contents to the version store. A file that is being overwritten has neither content: after
 * a crash the next worker finds the journal and restores the old content. If the grant is gone by then, the old content
 * becomes a version. The journal is on disk when this resolves.
 */
export async function writeJournal(
  roots: Roots,
  { key, path }: Root,
  file: BigIntStats,
  { old, fresh }: Contents,
): Promise<void> {
  const head: JournalHead = {
    pid: process.pid,
    key,
    path,
    mode: permissionBits(file),
    old: sha256Hex(old),
    fresh: sha256Hex(fresh),
    length: old.length,
  }
  await withJournalParent(roots, journalName(file), (parent) =>
    withTempFile(parent, 0o600, async (temporary) => {
      writeAll(temporary.fd, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), old, fresh]))
      await fsync(temporary.fd)
      publishOver(temporary, parent.entryPath(parent.name))
      await Promise.all([fsyncFolder(parent.entryPath('.')), fsyncFolder(parent.entryPath('..'))])
    }),
  )
}

const deleteJournal = (roots: Roots, file: Inode) => deleteJournalByName(roots, journalName(file))

export const deleteJournalByName = (roots: Roots, name: string) =>
  withJournalParent(roots, name, ({ entryPath, name: fileName }) =>
    unlinkIfExists(entryPath(fileName)),
  )

const withJournalParent = <T>(roots: Roots, name: string, use: (parent: Parent) => T): T =>
  roots.get('versions').withParent(`${folder}/${name}`, use, { need: 'create', parents: true })

/** Calls time out earlier. An older journal is from a dead worker, whose process id may be reused. */
const maxChangeMs = 60_000

const retryIntervalMs = 1000

/** Restores files that an earlier worker did not finish writing. Runs when a worker starts. */
export function rollBackUnfinished(roots: Roots, setupRoots: readonly Root[]): void {
  const files = setupRoots.filter(({ kind, access }) => kind === 'file' && access === 'read-write')
  const busy = files.filter((root) => {
    try {
      return !tryRollBack(roots, root)
    } catch {
      // The file cannot be opened now; the journal stays.
      return false
    }
  })
  if (busy.length > 0) setTimeout(() => rollBackUnfinished(roots, busy), retryIntervalMs).unref()
}

/** Returns false while the worker that wrote the journal is alive. */
function tryRollBack(roots: Roots, root: Root): boolean {
  const journal = readJournal(roots, journalName(root))
  if (!journal) return true
  if (isBusy(journal)) return false
  if (journal.contents) rollBack(roots.get(root.key), journal.contents, journal.writtenAt)
  deleteJournal(roots, root)
  return true
}

/** Lists journals of files without a grant, which no worker will restore. */
export function listOrphanedJournals(roots: Roots): (Journal & { readonly name: string })[] {
  return listJournalNames(roots.get('versions')).flatMap((name) => {
    const journal = readJournal(roots, name)
    if (!journal || isBusy(journal) || isGranted(roots, journal.head.key)) return []
    return [{ ...journal, name }]
  })
}

function listJournalNames(versions: ConfinedRoot): string[] {
  const isJournal = (name: string, opened: ReturnType<ConfinedRoot['openFolder']>) =>
    !skipTempFile(versions, opened, name)
  return unless(['not_found'], () => filterNames(versions, folder, isJournal)) ?? []
}

/** Also true if the granted file cannot be opened now. */
function isGranted(roots: Roots, key: string): boolean {
  try {
    return roots.get(key) !== undefined
  } catch (error) {
    return !(error instanceof FileError && error.code === 'no_grant')
  }
}

type Journal = {
  readonly head: JournalHead
  readonly writtenAt: number
  readonly contents?: Contents
}

/** Returns true if the worker of the journal may still be writing. */
const isBusy = ({ head: { pid }, writtenAt }: Journal) =>
  pid !== process.pid && Date.now() - writtenAt < maxChangeMs && isAlive(pid)

/** Returns no contents for an incomplete journal: in that case the file was not changed. */
function readJournal(roots: Roots, name: string): Journal | undefined {
  const file = readJournalFile(roots, name)
  if (!file) return undefined
  const { bytes, stat } = file
  const writtenAt = Number(stat.mtimeMs)
  const end = bytes.indexOf('\n')
  const head = JSON.parse(bytes.toString('utf8', 0, end)) as JournalHead
  const { old, fresh, length } = head
  const contents = {
    old: bytes.subarray(end + 1, end + 1 + length),
    fresh: bytes.subarray(end + 1 + length),
  }
  return sha256Hex(contents.old) === old && sha256Hex(contents.fresh) === fresh
    ? { head, writtenAt, contents }
    : { head, writtenAt }
}

function readJournalFile(roots: Roots, name: string) {
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

/** Restores only a mix written while the journal was fresh; anything later is a change by another program. */
function rollBack(confined: ConfinedRoot, { old, fresh }: Contents, journaledAt: number): void {
  const { fd, stat } = confined.openFile('', { write: true, reviewed: true })
  using _ = closing(fd)
  if (Number(stat.mtimeMs) - journaledAt > maxChangeMs) return
  const bytes = readAt(fd, 0, Number(stat.size))
  if (bytes.equals(old) || bytes.equals(fresh) || !isMixture(bytes, old, fresh)) return
  writeAll(fd, old)
  fs.ftruncateSync(fd, old.length)
  fs.fsyncSync(fd)
}

/** Returns true if every byte is from the old or the new content, so that no other program wrote it. */
function isMixture(bytes: Buffer, old: Buffer, fresh: Buffer): boolean {
  const [minLength, maxLength] = [old.length, fresh.length].toSorted((a, b) => a - b)
  if (bytes.length < (minLength ?? 0) || bytes.length > (maxLength ?? 0)) return false
  return bytes.every((byte, index) => byte === old[index] || byte === fresh[index])
}
