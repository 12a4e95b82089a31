/** What is decided by name and by stat, the same for every way of reaching the disk. */
import type { BigIntStats } from 'node:fs'
import { join } from 'node:path'
import type { AccessKind } from '../model.ts'
import type { Guard } from '../rules/guard.ts'
import type { Inode, Root, Stat } from '../worker/protocol.ts'
import { FileError } from './file-error.ts'
import type { ParentOptions } from './types.ts'
import { isTempName } from './temp-name.ts'

/** Longest path and name that Linux takes; longer ones are refused before the disk sees them. */
const maxPathBytes = 4096
export const maxNameBytes = 255

/** The names of a relative path. The daemon has understood it before; here it is not believed. */
export function splitPath(path: string): string[] {
  if (path.includes('\0') || Buffer.byteLength(path) > maxPathBytes)
    throw new FileError('invalid_path', 'The path is too long or not a path.', path.slice(0, 200))
  if (path.startsWith('/')) throw new FileError('path_escape', 'The path is not relative.', path)
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
  readonly own?: boolean
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
  // Trash and versions lie in folders of cowork's own, which are closed to everybody by their path.
  const isInternal = root.key === 'trash' || root.key === 'versions'
  const isManaged = isInternal || root.key === 'workspace'
  const isClosed = (path: string) => closedPaths.some((one) => isAtOrBelow(foldPath(path), one))
  // A folder is not moved or thrown away together with what is closed in it.
  const containsClosed = (path: string) =>
    closedPaths.some((one) => isAtOrBelow(one, foldPath(path)))

  const hides = (path: string): boolean =>
    !isInternal && (isClosed(path) || guard.forbidden(join(root.path, path), 'read') !== undefined)

  return {
    /** May this path, relative to the root, be used so? Asked of what was named and of where it leads. */
    checkPath(path: string, { need, reviewed = false, own = false }: AccessOptions): void {
      if (need !== 'read' && root.access === 'read')
        throw new FileError('read_only_grant', 'That folder may be read, not changed.', path)
      // A folder of such a name counts too: what lies in one that was given up goes.
      if (need !== 'read' && splitPath(path).some(isTempName))
        throw new FileError(
          'invalid_path',
          'That is a name for files that are being written.',
          path,
        )
      if (isInternal || own) return
      if (isClosed(path) || (need !== 'read' && containsClosed(path))) throw noAccessError(path)
      const absolute = join(root.path, path)
      if (guard.forbidden(absolute, need)) throw forbiddenError(path)
      // Deleting puts it into the trash, where nothing runs and nobody reads.
      if (need === 'read' || need === 'delete' || reviewed) return
      checkRisk(guard.riskReason(absolute), path)
    },

    hides,

    /** The same for the names in one folder, which itself is not hidden: mostly the name alone decides. */
    createNameFilter(folder: string): (name: string) => boolean {
      if (isInternal) return () => false
      const prefix = folder === '' ? '' : `${folder}/`
      return containsClosed(folder) || guard.containsForbidden(join(root.path, folder))
        ? (name) => hides(prefix + name)
        : guard.isForbiddenName
    },

    /** A name met on the way, before it is known where it leads. */
    name(name: string, path: string): void {
      if (!isInternal && guard.isForbiddenName(name)) throw forbiddenError(path)
    },

    /** Some files are not made; one that is there may be changed, and one that was there comes back (F5). */
    checkExtension(path: string, { need, origin }: ParentOptions, isThere: () => boolean): void {
      if (isInternal || (need !== 'create' && need !== 'write')) return
      const absolute = join(root.path, path)
      const refusal = absolute === origin ? undefined : guard.extension(absolute)
      if (refusal !== undefined && (need === 'create' || !isThere()))
        throw new FileError('forbidden_extension', refusal, path)
    },

    /**
     * Only regular files are opened, and of those only ones that are nowhere else as well (PV3). `again` looks
     * once more, when what a crash left has been put right.
     */
    checkRegular(stat: BigIntStats, path: string, recheck: () => BigIntStats = () => stat): void {
      if (stat.isDirectory())
        throw new FileError('is_a_folder', 'That is a folder, not a file.', path)
      if (!stat.isFile())
        throw new FileError('not_regular', 'Only regular files are read and written.', path)
      if (deniedFiles.has(`${stat.dev}:${stat.ino}`)) throw noAccessError(path)
      if (stat.nlink > 1n && !isManaged && !root.hardLinks && recheck().nlink > 1n)
        throw new FileError(
          'hard_link',
          'The file has a second name, perhaps outside the folder. A person may allow it in the grant (hard_links).',
          path,
        )
    },
  }
}

const noAccessError = (path: string) =>
  new FileError('no_grant', 'No access. Call request_grant() first.', path)

const forbiddenError = (path: string) =>
  new FileError('forbidden_path', 'That path is closed, with or without a grant.', path)

/** Where trust or a person has looked at the path as it was given, nobody comes here (F5, PV5). */
export function checkRisk(risk: string | undefined, path: string): void {
  if (risk !== undefined)
    throw new FileError(
      'forbidden_path',
      `That needs a person: ${risk}. Name the file itself by its full path, and a person is asked.`,
      path,
    )
}

/**
 * An entry of a folder that comes to stand elsewhere is judged there as a file that is made there would be.
 * What stood as badly where it was is no worse off now: a person's own projects can be moved. But what was for
 * secrets only by the folder it was in would be found and shown like any text.
 */
export function checkDestination(
  guard: Guard,
  entry: { readonly from: string; readonly to: string; readonly isFolder: boolean },
  reviewed: boolean,
  path: string,
): void {
  const { from, to, isFolder } = entry
  if (guard.forbidden(to, 'write')) throw forbiddenError(path)
  const extension = isFolder ? undefined : guard.extension(to)
  if (extension !== undefined && guard.extension(from) === undefined)
    throw new FileError('forbidden_extension', extension, path)
  const [before, now] = [guard.riskReason(from), guard.riskReason(to)]
  const isSame = (before === undefined) === (now === undefined)
  if (!reviewed && !isSame) checkRisk(now ?? before, path)
}

/** Some disks take other spellings for the same name; what is closed stays closed in all of them. */
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

/** A path and a text that changes when its file is changed or replaced. */
export const toIdentifiedStat = (stat: BigIntStats) => ({
  stat: toStat(stat),
  identity: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`,
})
