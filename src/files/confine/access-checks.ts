/** Access checks by path and by stat, shared by the Linux walk and the portable implementation. */
import type { BigIntStats } from 'node:fs'
import { join } from 'node:path'
import type { AccessKind } from '../model.ts'
import type { Guard } from '../rules/guard.ts'
import type { Inode, Root, Stat } from '../worker/protocol.ts'
import { FileError } from './file-error.ts'
import type { ParentOptions } from './types.ts'
import { isTempName } from './temp-name.ts'

/** The limits of Linux. A longer path or name is refused before any system call. */
const maxPathBytes = 4096
export const maxNameBytes = 255

/** Splits a relative path into names. The daemon validated the path; the worker does not rely on that. */
export function splitPath(path: string): string[] {
  if (path.includes('\0') || Buffer.byteLength(path) > maxPathBytes)
    throw new FileError(
      'invalid_path',
      'The path is too long or contains a NUL byte.',
      path.slice(0, 200),
    )
  if (path.startsWith('/')) throw new FileError('path_escape', 'The path must be relative.', path)
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..'))
    throw new FileError('path_traversal', 'The path must not contain `..`.', path)
  if (names.some((name) => Buffer.byteLength(name) > maxNameBytes))
    throw new FileError('invalid_path', 'A name in the path is longer than 255 bytes.', path)
  return names
}

export type AccessOptions = {
  readonly need: AccessKind
  readonly reviewed?: boolean
  readonly internal?: boolean
}

export type AccessChecks = ReturnType<typeof createAccessChecks>

export function createAccessChecks(
  root: Root,
  guard: Guard,
  closed: readonly string[] = [],
  denied: readonly Inode[] = [],
) {
  const closedPaths = closed.map(foldPath)
  const deniedFiles = new Set(denied.map(({ dev, ino }) => `${dev}:${ino}`))
  // Closed paths protect the trash and the version store; the guard does not apply inside them.
  const isInternal = root.key === 'trash' || root.key === 'versions'
  const isManaged = isInternal || root.key === 'workspace'
  const isClosed = (path: string) =>
    closedPaths.some((closedPath) => isAtOrBelow(foldPath(path), closedPath))
  // A folder that contains a closed path is neither moved nor deleted.
  const containsClosed = (path: string) =>
    closedPaths.some((closedPath) => isAtOrBelow(closedPath, foldPath(path)))

  const isHidden = (path: string): boolean =>
    !isInternal &&
    (isClosed(path) || guard.checkForbidden(join(root.path, path), 'read') !== undefined)

  return {
    /** Checks a path relative to the root. Called with the requested path and with the path after links. */
    checkPath(path: string, { need, reviewed = false, internal = false }: AccessOptions): void {
      if (need !== 'read' && root.access === 'read')
        throw new FileError('read_only_grant', 'The grant is read-only.', path)
      // Refused for folders too: the cleanup deletes everything inside a stale temporary folder.
      if (need !== 'read' && splitPath(path).some(isTempName))
        throw new FileError('invalid_path', 'The name is reserved for temporary files.', path)
      if (isInternal || internal) return
      if (isClosed(path) || (need !== 'read' && containsClosed(path))) throw noAccessError(path)
      const absolute = join(root.path, path)
      if (guard.checkForbidden(absolute, need)) throw forbiddenError(path)
      // A deleted file goes to the trash, where nothing is executed and no agent reads.
      if (need === 'read' || need === 'delete' || reviewed) return
      checkRisk(guard.riskReason(absolute), path)
    },

    isHidden,

    /** Builds the same check for the names in one visible folder. Usually the name alone decides. */
    createNameFilter(folder: string): (name: string) => boolean {
      if (isInternal) return () => false
      const prefix = folder === '' ? '' : `${folder}/`
      return containsClosed(folder) || guard.containsForbidden(join(root.path, folder))
        ? (name) => isHidden(prefix + name)
        : guard.isForbiddenName
    },

    /** Checks a name inside a link target, before the path it leads to is known. */
    checkName(name: string, path: string): void {
      if (!isInternal && guard.isForbiddenName(name)) throw forbiddenError(path)
    },

    /** Refuses to create some extensions. Existing files may be changed, and restored files come back (F5). */
    checkExtension(path: string, { need, origin }: ParentOptions, isThere: () => boolean): void {
      if (isInternal || (need !== 'create' && need !== 'write')) return
      const absolute = join(root.path, path)
      const refusal = absolute === origin ? undefined : guard.checkExtension(absolute)
      if (refusal !== undefined && (need === 'create' || !isThere()))
        throw new FileError('forbidden_extension', refusal, path)
    },

    /**
     * Accepts only regular files with a single link (PV3). `recheck` stats again after removing what a crash
     * left.
     */
    checkRegular(stat: BigIntStats, path: string, recheck: () => BigIntStats = () => stat): void {
      if (stat.isDirectory())
        throw new FileError('is_a_folder', 'The path is a folder, not a file.', path)
      if (!stat.isFile()) throw new FileError('not_regular', 'Not a regular file.', path)
      if (deniedFiles.has(`${stat.dev}:${stat.ino}`)) throw noAccessError(path)
      if (stat.nlink > 1n && !isManaged && !root.hardLinks && recheck().nlink > 1n)
        throw new FileError(
          'hard_link',
          'The file has another hard link, which may be outside the folder. A person can allow hard links in the grant (hard_links).',
          path,
        )
    },
  }
}

const noAccessError = (path: string) =>
  new FileError('no_grant', 'No access. Call request_grant() first.', path)

const forbiddenError = (path: string) =>
  new FileError('forbidden_path', 'Protected path: access is never allowed.', path)

/** Refuses a risky path, unless a person or trust has already approved the path as given (F5, PV5). */
export function checkRisk(risk: string | undefined, path: string): void {
  if (risk !== undefined)
    throw new FileError(
      'forbidden_path',
      `Approval required: ${risk}. Name the file by its full path to request approval.`,
      path,
    )
}

/**
 * Checks an entry of a moved folder at its destination like a file created there. An entry that was as risky at
 * its source passes, so that people's own projects can be moved. An entry that only its old folder marked as
 * sensitive is refused, since at the destination it would be read and listed like any text.
 */
export function checkDestination(
  guard: Guard,
  entry: { readonly from: string; readonly to: string; readonly isFolder: boolean },
  reviewed: boolean,
  path: string,
): void {
  const { from, to, isFolder } = entry
  if (guard.checkForbidden(to, 'write')) throw forbiddenError(path)
  const extension = isFolder ? undefined : guard.checkExtension(to)
  if (extension !== undefined && guard.checkExtension(from) === undefined)
    throw new FileError('forbidden_extension', extension, path)
  const [before, after] = [guard.riskReason(from), guard.riskReason(to)]
  const isSame = (before === undefined) === (after === undefined)
  if (!reviewed && !isSame) checkRisk(after ?? before, path)
}

/** Some file systems treat several Unicode forms or cases as one name. A closed path is closed in all of them. */
const foldPath = (path: string) => path.normalize('NFKC').toLowerCase()

const isAtOrBelow = (path: string, folder: string) =>
  folder === '' || path === folder || path.startsWith(`${folder}/`)

export const toStat = (stat: BigIntStats): Stat => ({
  type: stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'folder'
      : stat.isSymbolicLink()
        ? 'link'
        : 'other',
  size: Number(stat.size),
  mode: Number(stat.mode) & 0o7777,
  modifiedAt: Math.floor(Number(stat.mtimeMs)),
  links: Number(stat.nlink),
})

/** The stat, and an identity that changes when the file is changed or replaced. */
export const toIdentifiedStat = (stat: BigIntStats) => ({
  stat: toStat(stat),
  identity: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`,
})
