/** The version store: contents by their hash, each stored once (TR3). */
import fs from 'node:fs'
import { sha256Hex } from '#base/hash.ts'
import { FileError } from '../confine/file-error.ts'
import { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } from '../confine/flags.ts'
import type { ConfinedRoot, Parent, Roots } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { skipTempFile } from './tree.ts'
import { closing, readContent, readAt, fsync, fsyncFolder, unless, writeAll } from './io.ts'
import { filterNames } from './folders.ts'
import { openRegularFile } from './regular-file.ts'
import { publishOver, unlinkIfExists, withTempFile } from './atomic-publish.ts'

const getStore = ({ roots }: OpContext): ConfinedRoot => roots.get('versions')

function toVersionPath(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new FileError('not_found', 'Version not found.')
  return `${sha256.slice(0, 2)}/${sha256.slice(2)}`
}

/**
 * Stores a content durably. It is written under its final name, so that the content and the name sync in parallel; an
 * incomplete file that a crash left is detected by its bytes and replaced.
 */
export async function storeVersion(
  context: OpContext,
  sha256: string,
  bytes: Buffer,
): Promise<void> {
  const versions = getStore(context)
  if (!storesWithShards.has(context.roots)) await createShards(context)
  await versions.withParent(
    toVersionPath(sha256),
    async (parent) => {
      const fd = createVersion(parent, bytes) ?? openIfIdentical(versions, parent, bytes)
      if (fd === undefined) await replaceVersion(parent, bytes)
      try {
        const content = fd === undefined ? undefined : fsync(fd)
        await Promise.all([content, fsyncFolder(parent.entryPath('.'))])
      } finally {
        if (fd !== undefined) fs.closeSync(fd)
      }
    },
    { need: 'create', parents: true },
  )
}

/** Creates the file and returns it open; undefined if the name is taken. */
function createVersion(parent: Parent, bytes: Buffer): number | undefined {
  const path = parent.entryPath(parent.name)
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
  const fd = unless(['EEXIST'], () => fs.openSync(path, flags, 0o600))
  if (fd === undefined) return undefined
  try {
    writeAll(fd, bytes)
    return fd
  } catch (error) {
    fs.closeSync(fd)
    unlinkIfExists(path)
    throw error
  }
}

/** Opens the stored content if it is complete. Its writer may not have synced it. */
function openIfIdentical(
  versions: ConfinedRoot,
  parent: Parent,
  bytes: Buffer,
): number | undefined {
  const leaf = openRegularFile(versions, parent.entryPath(parent.name), parent.real)
  if (!leaf) return undefined
  const { fd, stat } = leaf
  let isIdentical = false
  try {
    isIdentical = stat.size === BigInt(bytes.length) && readAt(fd, 0, bytes.length).equals(bytes)
    const now = new Date()
    // The modification time is the last use, for the cleanup.
    if (isIdentical) fs.futimesSync(fd, now, now)
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
  if (isIdentical) return fd
  fs.closeSync(fd)
  return undefined
}

const replaceVersion = (parent: Parent, bytes: Buffer): Promise<void> =>
  withTempFile(parent, 0o600, async (temporary) => {
    writeAll(temporary.fd, bytes)
    await fsync(temporary.fd)
    publishOver(temporary, parent.entryPath(parent.name))
  })

/** Stores whose shard folders exist and are synced. */
const storesWithShards = new WeakSet<Roots>()
const shards = Array.from({ length: 256 }, (_, at) => at.toString(16).padStart(2, '0'))

/** Creates all shards with one sync; otherwise each of the first few hundred changes would sync a folder. */
async function createShards(context: OpContext): Promise<void> {
  const versions = getStore(context)
  const existing = new Set(listShards(context))
  for (const shard of shards.filter((name) => !existing.has(name))) {
    versions.withParent(`${shard}/-`, () => undefined, { need: 'create', parents: true })
    await context.yieldIfDue()
  }
  const { fd } = versions.openFolder('')
  using _ = closing(fd)
  await fsyncFolder(versions.entryPath(fd))
  storesWithShards.add(context.roots)
}

export function readStoredVersion(context: OpContext, sha256: string): Buffer {
  const path = toVersionPath(sha256)
  const file = unless(['not_found'], () => readContent(getStore(context), path))
  if (!file) throw new FileError('unreadable', 'The stored version is missing.')
  if (sha256Hex(file.bytes) === sha256) return file.bytes
  throw new FileError('unreadable', 'The stored version is damaged.')
}

export function deleteVersion(context: OpContext, sha256: string): number {
  const remove = ({ entryPath, name }: Parent) => {
    const { size } = fs.lstatSync(entryPath(name))
    fs.unlinkSync(entryPath(name))
    return size
  }
  const options = { need: 'delete', keepLeafLink: true } as const
  const removeFromStore = () => getStore(context).withParent(toVersionPath(sha256), remove, options)
  return unless(['not_found'], removeFromStore) ?? 0
}

export const listShards = (context: OpContext): string[] =>
  filterNames(getStore(context), '', (name) => /^[0-9a-f]{2}$/.test(name)).sort()

export function listVersionsInShard(context: OpContext, shard: string, before: number): string[] {
  const versions = getStore(context)
  const isOld = (path: string) =>
    (fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < before
  return filterNames(
    versions,
    shard,
    (name, folder) =>
      !skipTempFile(versions, folder, name) &&
      /^[0-9a-f]{62}$/.test(name) &&
      isOld(versions.entryPath(folder.fd, name)),
  ).map((name) => shard + name)
}
