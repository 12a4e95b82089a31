import { join } from 'node:path'
import { CoworkError } from '#base/errors.ts'
import type { FileErrorCode } from '../model.ts'

/** Where a path given by a caller leads, before anything on disk was looked at. */
export type ParsedPath =
  /** Relative to the workspace, with `/` between names; empty for the workspace itself. */
  | { readonly area: 'workspace'; readonly path: string }
  /** From the root of the disk, without `.`, doubled or trailing slashes. */
  | { readonly area: 'absolute'; readonly path: string }

export type PathContext = {
  readonly home: string
  /** The real path of the workspace. */
  readonly workspace: string
  /** As config names it, which may lead there over links. */
  readonly given?: string
  readonly windows?: boolean
}

const maxPathBytes = 4096
const maxNameBytes = 255

/**
 * Reads a path as it is written (PV2). Nothing is trimmed, decoded or guessed: what is not plainly a path is
 * refused, and what only looks like a trick (`%2e%2e`, full-width dots) is a name like any other.
 */
export function parsePath(given: string, context: PathContext): ParsedPath {
  const { home, workspace, given: named, windows = process.platform === 'win32' } = context
  assertValidText(given)
  const path = windows ? given.replaceAll('\\', '/') : given
  if (/^file:\//i.test(path)) throw invalidPathError(given, 'is an address', 'Give the plain path.')
  if (!windows && /^[a-z]:[\\/]/i.test(path))
    throw invalidPathError(
      given,
      'is of Windows, and this system is not',
      `Use / in paths; ./${given.slice(0, 2)}… is a file of that name.`,
    )
  if (windows && (path.startsWith('//') || /^[a-z]:(?!\/)/i.test(path)))
    throw invalidPathError(
      given,
      'is of a kind that is not understood',
      'Give a path such as C:\\Folder.',
    )
  if (path.startsWith('~') && path !== '~' && !path.startsWith('~/'))
    throw invalidPathError(
      given,
      'names another user’s home',
      'Give the path from /, or ./~… for a file of that name.',
    )
  const names = splitPath(path.startsWith('~') ? home + path.slice(1) : path, windows)
  if (names.includes('..'))
    throw pathError('path_traversal', `The path ${quotePath(given)} climbs with "..".`, {
      hint: 'Give the path without "..".',
    })
  // A drive is no name of a file.
  for (const [place, name] of names.entries())
    if (!(windows && place === 0 && /^[a-z]:$/i.test(name))) checkName(name)

  const isAbsolute =
    path.startsWith('/') || path.startsWith('~') || (windows && /^[a-z]:/i.test(path))
  if (!isAbsolute) return { area: 'workspace', path: names.join('/') }
  const inside =
    stripPrefix(names, splitPath(workspace, windows)) ??
    (named === undefined ? undefined : stripPrefix(names, splitPath(named, windows)))
  if (inside) return { area: 'workspace', path: inside.join('/') }
  return { area: 'absolute', path: windows ? `${names.join('\\')}` : `/${names.join('/')}` }
}

export function toAbsolutePath(given: string, context: PathContext): string {
  const { area, path } = parsePath(given, context)
  return area === 'workspace' ? join(context.workspace, path) : path
}

/**
 * How paths may begin that a filter is about: as it is given, and as the file tools would take it. It may end
 * amid a name.
 */
export function pathPrefixes(given: string, context: PathContext): readonly string[] {
  try {
    const path = given === '' ? '' : toAbsolutePath(given, context)
    const isFolder = /[\\/]$/.test(given) && !/[\\/]$/.test(path)
    return [...new Set([given, isFolder ? join(path, '/') : path])]
  } catch (error) {
    if (error instanceof CoworkError) return [given]
    throw error
  }
}

/** A destination that ends in a slash is the folder that something comes into under its own name, as `mv` has it. */
export function resolveDestination(
  destination: string,
  source: string,
  windows = process.platform === 'win32',
): string {
  const name = lastSegment(source, windows)
  const isFolder = windows ? /[\\/]$/.test(destination) : destination.endsWith('/')
  return isFolder && name !== undefined ? destination + name : destination
}

/** The last name of a path; the workspace as such has none. */
export const lastSegment = (
  path: string,
  windows = process.platform === 'win32',
): string | undefined => splitPath(path, windows).at(-1)

/** Refuses a name that some system would take for something else than a file of that name. */
export function checkName(name: string): void {
  assertValidText(name)
  if (name === '..') throw pathError('path_traversal', 'A file cannot be called "..".')
  if (Buffer.byteLength(name) > maxNameBytes)
    throw invalidPathError(
      name,
      `has a name longer than ${maxNameBytes} bytes`,
      'Use a shorter name.',
    )
  if (isDeviceName(name))
    throw invalidPathError(name, 'has a name that Windows keeps for a device', 'Use another name.')
}

/** Whether `path` is `folder` or lies below it; both normalised. A sibling that starts alike is not below. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder ||
  (path.startsWith(folder) &&
    (folder.endsWith('/') || folder.endsWith('\\') || /^[\\/]/.test(path.slice(folder.length))))

/** What is left of a path below a folder around it, with `/` between names, as the worker takes it. */
export function relativePath(path: string, folder: string): string {
  const rest = path.slice(folder.length).replace(/^[\\/]+/, '')
  // Elsewhere a backslash is a letter of a name.
  return folder.startsWith('/') ? rest : rest.replaceAll('\\', '/')
}

const splitPath = (path: string, windows: boolean): string[] =>
  path.split(windows ? /[\\/]/ : '/').filter((name) => name !== '' && name !== '.')

function stripPrefix(names: readonly string[], folder: readonly string[]): string[] | undefined {
  return folder.every((name, place) => names[place] === name)
    ? names.slice(folder.length)
    : undefined
}

function assertValidText(text: string): void {
  if (text.includes('\0')) throw invalidPathError(text, 'has a NUL in it', 'Leave it out.')
  // It has no form on disk: another name would be opened in its place.
  if (!text.isWellFormed())
    throw invalidPathError(text, 'is not valid Unicode', 'Give the name as it is.')
  if (Buffer.byteLength(text) > maxPathBytes)
    throw invalidPathError(text, `is longer than ${maxPathBytes} bytes`, 'Give a shorter one.')
}

/** CON, NUL.txt, COM1: on Windows a device wherever it stands, so no such name is made anywhere. */
const isDeviceName = (name: string): boolean =>
  /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ ]*(\.|:|$)/i.test(name)

const invalidPathError = (path: string, why: string, hint: string) =>
  pathError('invalid_path', `The path ${quotePath(path)} ${why}.`, { hint })

const pathError = (code: FileErrorCode, message: string, more: { hint?: string } = {}) =>
  new CoworkError(code, message, more)

const quotePath = (path: string) =>
  JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path)
