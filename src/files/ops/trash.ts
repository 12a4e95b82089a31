/** The trash: one folder for each thing that was thrown away, with a record of it beside it (TR1). */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { checkRisk, toStat } from '../confine/access-checks.ts'
import { FileError } from '../confine/file-error.ts'
import { rootReplacedError } from '../confine/pinned-root.ts'
import type { ConfinedRoot, Parent } from '../confine/types.ts'
import { createTempName } from '../confine/temp-name.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import { isStaleTemp, removeTree } from './tree.ts'
import type { OpenEntry } from './tree.ts'
import {
  closing,
  readContent,
  hashDescriptor,
  yieldOrCancel,
  getRoot,
  fsync,
  fsyncFolder,
  unless,
  writeAll,
} from './io.ts'
import { readEntries } from './folders.ts'
import { walkAndLock, withPathLock, lockPath } from './path-lock.ts'
import { lstatEntry, openRegularFile } from './regular-file.ts'
import { notFoundError } from './current-file.ts'
import { transfer } from './move.ts'
import type { TransferOptions } from './move.ts'

const recordName = 'record.json'
const longestRecord = 1024 * 1024

export const trash: RunOp<'trash'> = async (context, { at, id, record }, _body, cancelled) => {
  const bin = openBin(context)
  const item = itemOf(bin, id)
  const confined = getRoot(context, at)
  const walk = <T>(use: (parent: Parent) => Promise<T>) =>
    confined.withParent(at.path, use, { need: 'delete', keepLeafLink: true })
  const act = async (parent: Parent) => {
    const stat = lstatEntry(parent.entryPath(parent.name))
    if (!stat) throw notFoundError(at.path)
    const sha256 = await contentHash(context, confined, parent, stat)
    const shown = toStat(stat)
    const hash = sha256 === undefined ? {} : { sha256 }
    // When it comes back it is judged by where it really was, too, with all that is in it.
    const origin = join(confined.root.path, parent.real)
    const known = { ...record, type: shown.type, size: shown.size, ...hash, origin }
    const answer = { stat: shown, real: parent.real, ...hash }
    const leave = { cancelled, answer: () => answer }
    await into(context, bin, id, known, { confined, parent }, leave)
    return answer
  }
  return walkAndLock(walk, (parent) => [lockPath({ confined, parent }), item], act)
}

/** The record is on disk before the thing moves, so nothing lies in the trash that nobody knows of. */
async function into(
  context: OpContext,
  bin: ConfinedRoot,
  id: string,
  record: Readonly<Record<string, unknown>>,
  from: OpenEntry,
  leave: TransferOptions,
): Promise<void> {
  await makeRoom(context, bin, id)
  try {
    await inBin(bin, `${id}/content`, async (parent) => {
      await writeRecord(parent, record)
      await transfer(context, from, { confined: bin, parent }, leave)
    })
  } catch (error) {
    // What came into the trash is whole, and of where it was perhaps a part is gone: it stays.
    if (!hasContent(bin, id)) await removeFromBin(context, bin, id)
    throw error
  }
}

/** Also where a worker was ended before anything came in, and the same is begun anew. */
async function makeRoom(context: OpContext, bin: ConfinedRoot, id: string): Promise<void> {
  const make = () => inBin(bin, id, ({ entryPath, name }) => fs.mkdirSync(entryPath(name), 0o700))
  try {
    make()
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== 'exists' || hasContent(bin, id)) throw error
    await removeFromBin(context, bin, id)
    make()
  }
}

function hasContent(bin: ConfinedRoot, id: string): boolean {
  const found = (path: string) =>
    inBin(bin, path, ({ entryPath, name }) => lstatEntry(entryPath(name)))
  return found(id)?.isDirectory() === true && found(`${id}/content`) !== undefined
}

async function writeRecord(parent: Parent, record: Readonly<Record<string, unknown>>) {
  const fd = fs.openSync(parent.entryPath(recordName), 'wx', 0o600)
  try {
    writeAll(fd, Buffer.from(JSON.stringify(record)))
    await fsync(fd)
  } finally {
    fs.closeSync(fd)
  }
  await Promise.all([fsyncFolder(parent.entryPath('.')), fsyncFolder(parent.entryPath('..'))])
}

/** Of a file of the usual size; what is larger or cannot be read goes without. */
async function contentHash(
  { limits, yieldIfDue }: OpContext,
  confined: ConfinedRoot,
  parent: Parent,
  stat: BigIntStats,
): Promise<string | undefined> {
  if (!stat.isFile() || stat.size > BigInt(limits.maxFileBytes)) return undefined
  const path = parent.entryPath(parent.name)
  const leaf = unless(['EACCES'], () => openRegularFile(confined, path, parent.real))
  if (!leaf) return undefined
  using _ = closing(leaf.fd)
  return await hashDescriptor(leaf.fd, yieldIfDue)
}

export const restore: RunOp<'restore'> = async (
  context,
  { id, to, reviewed = false },
  _body,
  cancelled,
) => {
  const bin = openBin(context)
  const item = itemOf(bin, id)
  const target = getRoot(context, to)
  const origin = originOf(bin, id)
  // The name that it had counts, as in a move; that of its place in the trash says nothing.
  if (origin !== undefined && !reviewed) checkRisk(context.guard.riskReason(origin), to.path)
  const walk = async <T>(use: (ends: readonly [OpenEntry, OpenEntry]) => Promise<T>) => {
    // Nothing comes back, then no folder is made for it either.
    if (!hasContent(bin, id)) throw notInTrash()
    return inBin(bin, `${id}/content`, (from) =>
      target.withParent(
        to.path,
        (parent) =>
          use([
            { confined: bin, parent: from },
            { confined: target, parent },
          ]),
        { need: 'create', parents: true, reviewed, keepLeafLink: true, origin },
      ),
    )
  }
  const restored = await walkAndLock(
    walk,
    ([, end]) => [item, lockPath(end)],
    async (ends) => {
      const answer = (stat: BigIntStats) => ({ stat: toStat(stat), real: ends[1].parent.real })
      const leave = { reviewed, origin, cancelled, answer }
      return answer(await transfer(context, ...ends, leave))
    },
  )
  // It is back, whatever becomes of its record: that goes with what others left.
  await withPathLock([item], () => removeFromBin(context, bin, id)).catch(() => undefined)
  return restored
}

export const purge: RunOp<'purge'> = async (context, { ids }, _body, cancelled) => {
  const bin = openBin(context)
  const purged: string[] = []
  const left: string[] = []
  for (const [id, item] of ids.map((one) => [one, itemOf(bin, one)] as const)) {
    if (cancelled()) break
    await withPathLock([item], async () => {
      try {
        // Whoever has restored or purged it before says so.
        if (takeContent(bin, id)) purged.push(id)
        await removeFromBin(context, bin, id, cancelled)
      } catch {
        // What cannot be removed now is tried again another day; the others go.
        if (purged.at(-1) === id) left.push(item)
      }
    })
  }
  return { purged, left }
}

export const listTrash: RunOp<'listTrash'> = async (context, _ask, _body, cancelled) => {
  const bin = openBin(context)
  const { fd } = bin.openFolder('')
  using _ = closing(fd)
  const ids = [...readEntries(bin, fd)].filter((entry) => entry.isDirectory() && isId(entry.name))
  const records = []
  for (const { name: id } of ids) {
    const record = recordOf(bin, id)
    if (record) records.push({ id, record })
    else await removeLeft(context, bin, id, cancelled)
    await yieldOrCancel(context, cancelled)
  }
  return { records }
}

/** What was cut off before anything came into the trash, or while or after it was taken out again. */
async function removeLeft(
  context: OpContext,
  bin: ConfinedRoot,
  id: string,
  cancelled: () => boolean,
): Promise<void> {
  try {
    const stat = inBin(bin, id, ({ entryPath, name }) => lstatEntry(entryPath(name)))
    // By its time: another worker may be at it.
    if (!stat || hasContent(bin, id) || !isStaleTemp(Number(stat.mtimeMs))) return
    await withPathLock([itemOf(bin, id)], () => removeFromBin(context, bin, id, cancelled))
  } catch {
    // What cannot be removed now is looked at again another day.
  }
}

/** Undefined where there is no content with it: then the thing never came in, or is out again. */
function recordOf(bin: ConfinedRoot, id: string): Readonly<Record<string, unknown>> | undefined {
  try {
    if (!hasContent(bin, id)) return undefined
    const { bytes } = readContent(bin, `${id}/${recordName}`, longestRecord)
    const record: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof record === 'object' && record !== null ? { ...record } : undefined
  } catch {
    return undefined
  }
}

function originOf(bin: ConfinedRoot, id: string): string | undefined {
  const { origin, path } = recordOf(bin, id) ?? {}
  return [origin, path].find((one) => typeof one === 'string')
}

const isId = (id: string) => /^[\w-]{1,100}$/.test(id)

function itemOf({ root }: ConfinedRoot, id: string): string {
  if (!isId(id)) throw notInTrash()
  return join(root.path, id)
}

const notInTrash = () => new FileError('not_found', 'There is nothing of that id in the trash.')

const inBin = <T>(bin: ConfinedRoot, path: string, use: (parent: Parent) => T): T =>
  bin.withParent(path, use, { need: 'delete', keepLeafLink: true })

/** The content goes from under its name at once: half of it is nothing to list or to bring back. */
function takeContent(bin: ConfinedRoot, id: string): boolean {
  if (!hasContent(bin, id)) return false
  inBin(bin, `${id}/content`, ({ entryPath, name }) =>
    fs.renameSync(entryPath(name), entryPath(createTempName())),
  )
  return true
}

async function removeFromBin(
  context: OpContext,
  bin: ConfinedRoot,
  id: string,
  cancelled = () => false,
): Promise<void> {
  takeContent(bin, id)
  await inBin(bin, id, (parent) => removeTree(bin, parent, () => yieldOrCancel(context, cancelled)))
}

/** A trash that others can reach is none (TR2). */
function openBin({ roots }: OpContext): ConfinedRoot {
  const bin = roots.get('trash')
  const stat = fs.lstatSync(bin.root.path, { throwIfNoEntry: false })
  if (!stat) throw rootReplacedError(bin.root.key)
  const isOurs = process.getuid === undefined || stat.uid === process.getuid()
  if (stat.isDirectory() && isOurs && (stat.mode & 0o002) === 0) {
    // Another in its place is found out here, and for no thing in it alone.
    bin.stat('')
    return bin
  }
  throw new FileError(
    'no_permission',
    'The trash is a link, belongs to somebody else or is open to all. Nothing was deleted.',
  )
}
