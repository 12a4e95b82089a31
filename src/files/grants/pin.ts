import type { BigIntStats } from 'node:fs'
import { lstat, opendir, readlink, realpath, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { CoworkError } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { getErrno } from '../confine/file-error.ts'
import { toInode, isSameInode } from '../confine/inode.ts'
import type { Pin } from '../rules/choices.ts'
import type { Guard } from '../rules/guard.ts'
import { fileError } from '../error-text.ts'
import type { Permission } from '../model.ts'
import { parsePath } from '../rules/paths.ts'
import type { PathContext } from '../rules/paths.ts'
import type { GrantRequest } from './request-content.ts'

/** Limits the wait for a network disk that does not respond. */
const statTimeoutMs = 2000

/** A pin with the time when it was taken: a call may have replaced the file since. */
export type TimedPin = Pin & { readonly pinnedAt: number }

/** Pins the file or folder at a path, following symbolic links. Returns undefined for anything else. */
export async function pinPath(path: string): Promise<Pin | undefined> {
  return withTimeout(readPin(path), undefined)
}

async function readPin(path: string): Promise<Pin | undefined> {
  try {
    const real = await realpath(path)
    const stats = await stat(real, { bigint: true })
    const kind = getKind(stats)
    if (!kind) return undefined
    const pin = { path: real, kind, ...toInode(stats) } as const
    return pin.born === null || (await hasReliableBirthTime(real)) ? pin : { ...pin, born: null }
  } catch {
    return undefined
  }
}

/**
 * Linux file systems with stable birth times, by magic number. On overlayfs, a file of the container image gets a new
 * birth time at its first change; the root of an exFAT volume gets one at each mount; network file systems vary.
 */
const filesystemsWithBirthTime: ReadonlySet<number> = new Set([
  0xef53, // ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
])
const hasReliableBirthTime = async (path: string) =>
  filesystemsWithBirthTime.has((await statfs(path)).type)

const getKind = (stat: BigIntStats) =>
  stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : undefined

/**
 * Whether the granted file or folder is still at its path (PV9). Returns true if the disk does not respond: the worker
 * checks again before it opens anything.
 */
export const isStillAtPath = (pin: Pin): Promise<boolean> => withTimeout(matchesDisk(pin), true)

async function matchesDisk(pin: Pin): Promise<boolean> {
  try {
    const stat = await lstat(pin.path, { bigint: true })
    return getKind(stat) === pin.kind && isSameInode(pin, toInode(stat))
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(getErrno(error) ?? '')
  }
}

/** Facts about a path that a person sees before deciding. Agents never see them. */
export type PathInspection = {
  readonly real: string
  readonly pin: Pin | null
  readonly folderPin: Pin | null
  readonly inside: GrantRequest['inside']
  readonly sensitive: readonly string[]
}

export async function inspectPath(path: string, guard: Guard): Promise<PathInspection> {
  const pin = (await pinPath(path)) ?? null
  const real = pin?.path ?? (await resolveRealPath(path))
  const folderPin = pin?.kind === 'folder' ? pin : await pinParentFolder(real)
  if (pin?.kind !== 'folder')
    return { real, pin, folderPin, inside: null, sensitive: guard.isSensitive(real) ? [real] : [] }
  return { real, pin, folderPin, ...(await summarizeFolder(real, guard)) }
}

/** Resolves the symbolic links of the existing part of a path. */
export const resolveRealPath = (path: string): Promise<string> =>
  withTimeout(resolveExisting(path), path)

/** The limit of the Linux kernel. */
const maxLinks = 40

/** Resolves the existing part of a path, including dangling symbolic links. */
async function resolveExisting(path: string, links = maxLinks): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    if (parent === path) return path
    const folder = await resolveExisting(parent, links)
    const here = join(folder, basename(path))
    const target = links > 0 ? await readlink(here).catch(() => undefined) : undefined
    return target === undefined ? here : resolveExisting(resolve(folder, target), links - 1)
  }
}

async function pinParentFolder(path: string): Promise<Pin | null> {
  const pin = await pinPath(dirname(path))
  return pin?.kind === 'folder' ? pin : null
}

const maxEntries = 5000
const maxTimeMs = 300
const maxSamples = 8
const maxSensitive = 20

/** Counts files from the top down until a limit. Skips symbolic links and protected paths. */
async function summarizeFolder(root: string, guard: Guard) {
  const stat = { files: 0, folders: 0, bytes: 0, capped: false }
  const paths: string[] = []
  const sensitive: string[] = []
  const until = performance.now() + maxTimeMs
  const queue = ['']
  const isDone = () => stat.files + stat.folders >= maxEntries || performance.now() > until

  async function count(folder: string): Promise<void> {
    for await (const entry of await opendir(join(root, folder))) {
      if (isDone()) return
      const path = join(folder, entry.name)
      if (guard.checkForbidden(join(root, path), 'read')) continue
      paths.push(entry.isDirectory() ? `${path}/` : path)
      if (sensitive.length < maxSensitive && guard.isSensitive(join(root, path)))
        sensitive.push(path)
      if (entry.isDirectory()) {
        stat.folders++
        queue.push(path)
      } else {
        stat.files++
        if (entry.isFile()) stat.bytes += (await lstat(join(root, path))).size
      }
    }
  }

  const walk = async () => {
    for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
      if (isDone()) break
      // Skip folders that cannot be read or were deleted.
      await count(folder).catch(() => undefined)
    }
    return queue.length > 0 || isDone()
  }
  const capped = await withTimeout(walk(), true)
  const sample = paths.toSorted(byDepthAndName).slice(0, maxSamples)
  return { inside: { ...stat, sample, capped }, sensitive: [...sensitive] }
}

const order = new Intl.Collator(undefined, { numeric: true })
const pathDepth = (path: string) => path.split('/').filter(Boolean).length
const byDepthAndName = (a: string, b: string) => pathDepth(a) - pathDepth(b) || order.compare(a, b)

async function withTimeout<T>(work: Promise<T>, fallback: T): Promise<T> {
  const abort = new AbortController()
  const timeout = setTimeout(statTimeoutMs, fallback, { ref: false, signal: abort.signal })
  try {
    return await Promise.race([work, timeout.catch(() => fallback)])
  } finally {
    abort.abort()
  }
}

type Deps = { readonly guard: Guard; readonly pathContext: PathContext }

export async function resolveGrantTarget(
  requestedPath: string,
  permission: Permission,
  { guard, pathContext }: Deps,
): Promise<Pin> {
  const parsed = parsePath(requestedPath, pathContext)
  if (parsed.area === 'workspace') throw inWorkspaceError(requestedPath)
  const need = permission === 'read' ? 'read' : 'write'
  const pin = await pinPath(parsed.path)
  if (guard.checkForbidden(parsed.path, need) || (pin && guard.checkForbidden(pin.path, need)))
    throw fileError(
      'forbidden_path',
      parsed.path,
      `Protected path: ${sanitizeText(requestedPath, 300)}.`,
      'Copy the files that agents need into the workspace.',
    )
  if (!pin)
    throw fileError(
      'not_found',
      parsed.path,
      `Not found: ${sanitizeText(requestedPath, 300)}.`,
      'Check the path.',
    )
  // A symbolic link may lead into the workspace.
  if (parsePath(pin.path, pathContext).area === 'workspace') throw inWorkspaceError(requestedPath)
  if (permission === 'write' && pin.kind === 'file')
    throw new CoworkError('invalid_input', 'The permission write applies to folders only.', {
      hint: 'Grant the folder, or use read-write.',
    })
  return pin
}

const inWorkspaceError = (requestedPath: string) =>
  new CoworkError('invalid_path', `${sanitizeText(requestedPath, 300)} is in the workspace.`, {
    hint: 'Use the path without a grant, or give another path from / or ~/.',
  })
