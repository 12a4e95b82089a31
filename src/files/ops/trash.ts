/** The trash: one folder per item, with a record beside the content (TR1). */
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
const maxRecordBytes = 1024 * 1024

export const trash: RunOp<'trash'> = async (context, { at, id, record }, _body, cancelled) => {
  const bin = openBin(context)
  const item = toItemPath(bin, id)
  const confined = getRoot(context, at)
  const walk = <T>(use: (parent: Parent) => Promise<T>) =>
    confined.withParent(at.path, use, { need: 'delete', keepLeafLink: true })
  const moveItem = async (parent: Parent) => {
    const stat = lstatEntry(parent.entryPath(parent.name))
    if (!stat) throw notFoundError(at.path)
    const sha256 = await contentHash(context, confined, parent, stat)
    const publicStat = toStat(stat)
    const hash = sha256 === undefined ? {} : { sha256 }
    // The restore checks risk by the original path, including everything inside.
    const origin = join(confined.root.path, parent.real)
    const fullRecord = { ...record, type: publicStat.type, size: publicStat.size, ...hash, origin }
    const answer = { stat: publicStat, real: parent.real, ...hash }
    const options = { cancelled, answer: () => answer }
    await moveIntoBin(context, bin, id, fullRecord, { confined, parent }, options)
    return answer
  }
  return walkAndLock(walk, (parent) => [lockPath({ confined, parent }), item], moveItem)
}

/** Writes the record to disk before the content moves, so that no item lacks a record. */
async function moveIntoBin(
  context: OpContext,
  bin: ConfinedRoot,
  id: string,
  record: Readonly<Record<string, unknown>>,
  from: OpenEntry,
  options: TransferOptions,
): Promise<void> {
  await createItemFolder(context, bin, id)
  try {
    await withBinParent(bin, `${id}/content`, async (parent) => {
      await writeRecord(parent, record)
      await transfer(context, from, { confined: bin, parent }, options)
    })
  } catch (error) {
    // Content in the trash is complete, and its source may be partly gone, so it stays.
    if (!hasContent(bin, id)) await removeFromBin(context, bin, id)
    throw error
  }
}

/** Replaces an empty item folder of an operation that was interrupted before the content moved. */
async function createItemFolder(context: OpContext, bin: ConfinedRoot, id: string): Promise<void> {
  const create = () =>
    withBinParent(bin, id, ({ entryPath, name }) => fs.mkdirSync(entryPath(name), 0o700))
  try {
    create()
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== 'exists' || hasContent(bin, id)) throw error
    await removeFromBin(context, bin, id)
    create()
  }
}

function hasContent(bin: ConfinedRoot, id: string): boolean {
  const find = (path: string) =>
    withBinParent(bin, path, ({ entryPath, name }) => lstatEntry(entryPath(name)))
  return find(id)?.isDirectory() === true && find(`${id}/content`) !== undefined
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

/** Hashes a file up to the size limit; larger or unreadable files have no hash. */
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
  const item = toItemPath(bin, id)
  const target = getRoot(context, to)
  const origin = readOrigin(bin, id)
  // The original name decides, as in a move; the name in the trash has no meaning.
  if (origin !== undefined && !reviewed) checkRisk(context.guard.riskReason(origin), to.path)
  const walk = async <T>(use: (ends: readonly [OpenEntry, OpenEntry]) => Promise<T>) => {
    // Checked first, so that a missing item creates no folder.
    if (!hasContent(bin, id)) throw notInTrashError()
    return withBinParent(bin, `${id}/content`, (from) =>
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
      const options = { reviewed, origin, cancelled, answer }
      return answer(await transfer(context, ...ends, options))
    },
  )
  // The item is restored even if this cleanup fails; a later cleanup removes the record.
  await withPathLock([item], () => removeFromBin(context, bin, id)).catch(() => undefined)
  return restored
}

export const purge: RunOp<'purge'> = async (context, { ids }, _body, cancelled) => {
  const bin = openBin(context)
  const purged: string[] = []
  const left: string[] = []
  for (const [id, item] of ids.map((id) => [id, toItemPath(bin, id)] as const)) {
    if (cancelled()) break
    await withPathLock([item], async () => {
      try {
        // False if the item was already restored or purged.
        if (hideContent(bin, id)) purged.push(id)
        await removeFromBin(context, bin, id, cancelled)
      } catch {
        // Retried later; the other items continue.
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
    const record = readRecord(bin, id)
    if (record) records.push({ id, record })
    else await removeLeftover(context, bin, id, cancelled)
    await yieldOrCancel(context, cancelled)
  }
  return { records }
}

/** Removes an item without content, which an interrupted operation left. */
async function removeLeftover(
  context: OpContext,
  bin: ConfinedRoot,
  id: string,
  cancelled: () => boolean,
): Promise<void> {
  try {
    const stat = withBinParent(bin, id, ({ entryPath, name }) => lstatEntry(entryPath(name)))
    // Recent leftovers may belong to another worker.
    if (!stat || hasContent(bin, id) || !isStaleTemp(Number(stat.mtimeMs))) return
    await withPathLock([toItemPath(bin, id)], () => removeFromBin(context, bin, id, cancelled))
  } catch {
    // Retried at the next listing.
  }
}

/** Returns undefined without content: the item never arrived or was already removed. */
function readRecord(bin: ConfinedRoot, id: string): Readonly<Record<string, unknown>> | undefined {
  try {
    if (!hasContent(bin, id)) return undefined
    const { bytes } = readContent(bin, `${id}/${recordName}`, maxRecordBytes)
    const record: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof record === 'object' && record !== null ? { ...record } : undefined
  } catch {
    return undefined
  }
}

function readOrigin(bin: ConfinedRoot, id: string): string | undefined {
  const { origin, path } = readRecord(bin, id) ?? {}
  return [origin, path].find((text) => typeof text === 'string')
}

const isId = (id: string) => /^[\w-]{1,100}$/.test(id)

function toItemPath({ root }: ConfinedRoot, id: string): string {
  if (!isId(id)) throw notInTrashError()
  return join(root.path, id)
}

const notInTrashError = () => new FileError('not_found', 'Not in the trash.')

const withBinParent = <T>(bin: ConfinedRoot, path: string, use: (parent: Parent) => T): T =>
  bin.withParent(path, use, { need: 'delete', keepLeafLink: true })

/** Renames the content first, so that a partly removed item is neither listed nor restored. */
function hideContent(bin: ConfinedRoot, id: string): boolean {
  if (!hasContent(bin, id)) return false
  withBinParent(bin, `${id}/content`, ({ entryPath, name }) =>
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
  hideContent(bin, id)
  await withBinParent(bin, id, (parent) =>
    removeTree(bin, parent, () => yieldOrCancel(context, cancelled)),
  )
}

/** Opens the trash. Refuses a trash that other users can write to (TR2). */
function openBin({ roots }: OpContext): ConfinedRoot {
  const bin = roots.get('trash')
  const stat = fs.lstatSync(bin.root.path, { throwIfNoEntry: false })
  if (!stat) throw rootReplacedError(bin.root.key)
  const isOurs = process.getuid === undefined || stat.uid === process.getuid()
  if (stat.isDirectory() && isOurs && (stat.mode & 0o002) === 0) {
    // Detects a replaced trash root here, instead of failing for each item.
    bin.stat('')
    return bin
  }
  throw new FileError(
    'no_permission',
    'The trash folder is a link, has another owner or is writable by all users. Nothing was deleted.',
  )
}
