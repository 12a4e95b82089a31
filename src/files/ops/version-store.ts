/** The version store: contents under their hash, each written once (TR3). */
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

const store = ({ roots }: OpContext): ConfinedRoot => roots.get('versions')

function pathOf(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new FileError('not_found', 'There is no such version.')
  return `${sha256.slice(0, 2)}/${sha256.slice(2)}`
}

/**
 * On disk, under its name, when it resolves. It is written under its name from the start, so that the disk takes
 * both at once; what a crash left there half done is found out by its bytes, and replaced.
 */
export async function storeVersion(
  context: OpContext,
  sha256: string,
  bytes: Buffer,
): Promise<void> {
  const versions = store(context)
  if (!hasShards.has(context.roots)) await makeShards(context)
  await versions.withParent(
    pathOf(sha256),
    async (parent) => {
      const fd = written(parent, bytes) ?? same(versions, parent, bytes)
      if (fd === undefined) await replace(parent, bytes)
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

/** A new version, open; undefined where something has its name. */
function written(parent: Parent, bytes: Buffer): number | undefined {
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

/** The version that is there already, open, if it is whole. Whoever wrote it may not have waited for the disk. */
function same(versions: ConfinedRoot, parent: Parent, bytes: Buffer): number | undefined {
  const leaf = openRegularFile(versions, parent.entryPath(parent.name), parent.real)
  if (!leaf) return undefined
  const { fd, stat } = leaf
  let isSame = false
  try {
    isSame = stat.size === BigInt(bytes.length) && readAt(fd, 0, bytes.length).equals(bytes)
    const now = new Date()
    // By its time it is told how long nobody has wanted it.
    if (isSame) fs.futimesSync(fd, now, now)
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
  if (isSame) return fd
  fs.closeSync(fd)
  return undefined
}

const replace = (parent: Parent, bytes: Buffer): Promise<void> =>
  withTempFile(parent, 0o600, async (temporary) => {
    writeAll(temporary.fd, bytes)
    await fsync(temporary.fd)
    publishOver(temporary, parent.entryPath(parent.name))
  })

/** Stores whose folders are all on disk under their names. */
const hasShards = new WeakSet<Roots>()
const shards = Array.from({ length: 256 }, (_, at) => at.toString(16).padStart(2, '0'))

/** All at once, with one sync: made one by one, the first few hundred changes would each wait for a folder. */
async function makeShards(context: OpContext): Promise<void> {
  const versions = store(context)
  const there = new Set(listShards(context))
  for (const shard of shards.filter((one) => !there.has(one))) {
    versions.withParent(`${shard}/-`, () => undefined, { need: 'create', parents: true })
    await context.yieldIfDue()
  }
  const { fd } = versions.openFolder('')
  using _ = closing(fd)
  await fsyncFolder(versions.entryPath(fd))
  hasShards.add(context.roots)
}

export function readStoredVersion(context: OpContext, sha256: string): Buffer {
  const path = pathOf(sha256)
  const found = unless(['not_found'], () => readContent(store(context), path))
  if (!found) throw new FileError('unreadable', 'The kept version is not there any more.')
  if (sha256Hex(found.bytes) === sha256) return found.bytes
  throw new FileError('unreadable', 'The kept version is damaged.')
}

export function deleteVersion(context: OpContext, sha256: string): number {
  const remove = ({ entryPath, name }: Parent) => {
    const { size } = fs.lstatSync(entryPath(name))
    fs.unlinkSync(entryPath(name))
    return size
  }
  const options = { need: 'delete', keepLeafLink: true } as const
  const act = () => store(context).withParent(pathOf(sha256), remove, options)
  return unless(['not_found'], act) ?? 0
}

export const listShards = (context: OpContext): string[] =>
  filterNames(store(context), '', (name) => /^[0-9a-f]{2}$/.test(name)).sort()

export function listVersionsInShard(context: OpContext, shard: string, before: number): string[] {
  const versions = store(context)
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
