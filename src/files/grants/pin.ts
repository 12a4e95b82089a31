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

/** A network disk that does not answer must hold up nobody. */
const patience = 2000

/** With when it was looked at: a call may have replaced it since. */
export type TimedPin = Pin & { readonly pinnedAt: number }

/** What lies at a path now, links followed; nothing for what is not there, or neither file nor folder. */
export async function pinPath(path: string): Promise<Pin | undefined> {
  return soon(pinned(path), undefined)
}

async function pinned(path: string): Promise<Pin | undefined> {
  try {
    const real = await realpath(path)
    const found = await stat(real, { bigint: true })
    const kind = kindOf(found)
    if (!kind) return undefined
    const pin = { path: real, kind, ...toInode(found) } as const
    return pin.born === null || (await keepsBirths(real)) ? pin : { ...pin, born: null }
  } catch {
    return undefined
  }
}

/**
 * Disks of Linux on which a birth stays what it is, by the number of their kind. On an overlay what comes with a
 * container's image is born anew when it is first changed, the top of an exFAT stick with every mount, and of a
 * network nobody knows.
 */
const steady: ReadonlySet<number> = new Set([
  0xef53, // ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
])
const keepsBirths = async (path: string) => steady.has((await statfs(path)).type)

const kindOf = (found: BigIntStats) =>
  found.isFile() ? 'file' : found.isDirectory() ? 'folder' : undefined

/**
 * Whether what was granted still lies at its path (PV9), as the worker will find it. Where the disk does not say,
 * it is believed: nothing is opened by that.
 */
export const isStillAtPath = (pin: Pin): Promise<boolean> => soon(lies(pin), true)

async function lies(pin: Pin): Promise<boolean> {
  try {
    const found = await lstat(pin.path, { bigint: true })
    return kindOf(found) === pin.kind && isSameInode(pin, toInode(found))
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(getErrno(error) ?? '')
  }
}

/** What a person should know of a path before they open it. Nothing of this is told to agents. */
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
  const folderPin = pin?.kind === 'folder' ? pin : await folderAround(real)
  if (pin?.kind !== 'folder')
    return { real, pin, folderPin, inside: null, sensitive: guard.isSensitive(real) ? [real] : [] }
  return { real, pin, folderPin, ...(await insideOf(real, guard)) }
}

/** Without links, as far as it is there. */
export const resolveRealPath = (path: string): Promise<string> => soon(realOf(path), path)

/** As many links as the kernel follows. */
const mostLinks = 40

/** As far as it is there: a link counts as what it leads to, also where nothing is at its end. */
async function realOf(path: string, links = mostLinks): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    if (parent === path) return path
    const folder = await realOf(parent, links)
    const here = join(folder, basename(path))
    const target = links > 0 ? await readlink(here).catch(() => undefined) : undefined
    return target === undefined ? here : realOf(resolve(folder, target), links - 1)
  }
}

async function folderAround(path: string): Promise<Pin | null> {
  const pin = await pinPath(dirname(path))
  return pin?.kind === 'folder' ? pin : null
}

const mostEntries = 5000
const mostTime = 300
const mostShown = 8
const mostSensitive = 20

/** Counts from the top down until the time is up. Links are not followed, and what no grant opens is left out. */
async function insideOf(root: string, guard: Guard) {
  const found = { files: 0, folders: 0, bytes: 0, capped: false }
  const met: string[] = []
  const sensitive: string[] = []
  const until = performance.now() + mostTime
  const queue = ['']
  const isEnough = () => found.files + found.folders >= mostEntries || performance.now() > until

  async function count(folder: string): Promise<void> {
    for await (const entry of await opendir(join(root, folder))) {
      if (isEnough()) return
      const path = join(folder, entry.name)
      if (guard.checkForbidden(join(root, path), 'read')) continue
      met.push(entry.isDirectory() ? `${path}/` : path)
      if (sensitive.length < mostSensitive && guard.isSensitive(join(root, path)))
        sensitive.push(path)
      if (entry.isDirectory()) {
        found.folders++
        queue.push(path)
      } else {
        found.files++
        if (entry.isFile()) found.bytes += (await lstat(join(root, path))).size
      }
    }
  }

  const walk = async () => {
    for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
      if (isEnough()) break
      // What cannot be read or went away in between is not counted.
      await count(folder).catch(() => undefined)
    }
    return queue.length > 0 || isEnough()
  }
  const capped = await soon(walk(), true)
  const sample = met.toSorted(byDepthAndName).slice(0, mostShown)
  return { inside: { ...found, sample, capped }, sensitive: [...sensitive] }
}

const order = new Intl.Collator(undefined, { numeric: true })
const depthOf = (path: string) => path.split('/').filter(Boolean).length
const byDepthAndName = (one: string, other: string) =>
  depthOf(one) - depthOf(other) || order.compare(one, other)

async function soon<T>(work: Promise<T>, otherwise: T): Promise<T> {
  const stop = new AbortController()
  const late = setTimeout(patience, otherwise, { ref: false, signal: stop.signal })
  try {
    return await Promise.race([work, late.catch(() => otherwise)])
  } finally {
    stop.abort()
  }
}

type Deps = { readonly guard: Guard; readonly where: PathContext }

export async function resolveGrantTarget(
  given: string,
  permission: Permission,
  { guard, where }: Deps,
): Promise<Pin> {
  const understood = parsePath(given, where)
  if (understood.area === 'workspace') throw inWorkspace(given)
  const need = permission === 'read' ? 'read' : 'write'
  const pin = await pinPath(understood.path)
  if (guard.checkForbidden(understood.path, need) || (pin && guard.checkForbidden(pin.path, need)))
    throw fileError(
      'forbidden_path',
      understood.path,
      `${sanitizeText(given, 300)} is closed to agents.`,
      'No grant opens it. Copy what they need into the workspace.',
    )
  if (!pin)
    throw fileError(
      'not_found',
      understood.path,
      `No file or folder is at ${sanitizeText(given, 300)}.`,
      'Check the path.',
    )
  // Named over a link it is the workspace all the same.
  if (parsePath(pin.path, where).area === 'workspace') throw inWorkspace(given)
  if (permission === 'write' && pin.kind === 'file')
    throw new CoworkError('invalid_input', 'New files are made in a folder, not in a file.', {
      hint: 'Grant the folder, or give read-write.',
    })
  return pin
}

const inWorkspace = (given: string) =>
  new CoworkError('invalid_path', `${sanitizeText(given, 300)} is in the workspace.`, {
    hint: 'Agents may use it already. For another folder give its path from / or ~/.',
  })
