import { join } from 'node:path'
import { CoworkError } from '#base/errors.ts'
import type { FileErrorCode } from '../model.ts'

/** A parsed path, before any access to the disk. */
export type ParsedPath =
  /** Relative to the workspace, with `/` between names; empty for the workspace itself. */
  | { readonly area: 'workspace'; readonly path: string }
  /** An absolute path without `.`, repeated or trailing slashes. */
  | { readonly area: 'absolute'; readonly path: string }

export type PathContext = {
  readonly home: string
  /** The real path of the workspace. */
  readonly workspace: string
  /** The workspace path in the config, which may contain links. */
  readonly configuredPath?: string
  readonly windows?: boolean
}

const maxPathBytes = 4096
const maxNameBytes = 255

/**
 * Parses a path literally (PV2): nothing is trimmed, decoded or guessed. Text that is not clearly a path is refused,
 * and names that only resemble a trick (`%2e%2e`, full-width dots) are ordinary names.
 */
export function parsePath(input: string, context: PathContext): ParsedPath {
  const { home, workspace, configuredPath, windows = process.platform === 'win32' } = context
  assertValidText(input)
  const path = windows ? input.replaceAll('\\', '/') : input
  if (/^file:\//i.test(path)) throw invalidPathError(input, 'is a URL', 'Use a plain path.')
  if (!windows && /^[a-z]:[\\/]/i.test(path))
    throw invalidPathError(
      input,
      'is a Windows path, but this system is not Windows',
      `Use / in paths, or ./${input.slice(0, 2)}… for a file with this name.`,
    )
  if (windows && (path.startsWith('//') || /^[a-z]:(?!\/)/i.test(path)))
    throw invalidPathError(input, 'has an unsupported form', 'Use a path like C:\\Folder.')
  if (path.startsWith('~') && path !== '~' && !path.startsWith('~/'))
    throw invalidPathError(
      input,
      'refers to another user’s home folder',
      'Use an absolute path, or ./~… for a file with this name.',
    )
  const names = splitPath(path.startsWith('~') ? home + path.slice(1) : path, windows)
  if (names.includes('..'))
    throw pathError('path_traversal', `The path ${quotePath(input)} contains "..".`, {
      hint: 'Use a path without "..".',
    })
  // A drive letter is not a file name.
  for (const [index, name] of names.entries())
    if (!(windows && index === 0 && /^[a-z]:$/i.test(name))) checkName(name)

  const isAbsolute =
    path.startsWith('/') || path.startsWith('~') || (windows && /^[a-z]:/i.test(path))
  if (!isAbsolute) return { area: 'workspace', path: names.join('/') }
  const relativeNames =
    stripPrefix(names, splitPath(workspace, windows)) ??
    (configuredPath === undefined
      ? undefined
      : stripPrefix(names, splitPath(configuredPath, windows)))
  if (relativeNames) return { area: 'workspace', path: relativeNames.join('/') }
  return { area: 'absolute', path: windows ? `${names.join('\\')}` : `/${names.join('/')}` }
}

export function toAbsolutePath(input: string, context: PathContext): string {
  const { area, path } = parsePath(input, context)
  return area === 'workspace' ? join(context.workspace, path) : path
}

/** Returns the possible beginnings of matching paths for a filter: as given, and as an absolute path. */
export function pathPrefixes(input: string, context: PathContext): readonly string[] {
  try {
    const path = input === '' ? '' : toAbsolutePath(input, context)
    const isFolder = /[\\/]$/.test(input) && !/[\\/]$/.test(path)
    return [...new Set([input, isFolder ? join(path, '/') : path])]
  } catch (error) {
    if (error instanceof CoworkError) return [input]
    throw error
  }
}

/** A destination that ends in a slash is a folder, and the source keeps its name there, as with `mv`. */
export function resolveDestination(
  destination: string,
  source: string,
  windows = process.platform === 'win32',
): string {
  const name = lastSegment(source, windows)
  const isFolder = windows ? /[\\/]$/.test(destination) : destination.endsWith('/')
  return isFolder && name !== undefined ? destination + name : destination
}

/** The last name of a path; undefined for the workspace itself. */
export const lastSegment = (
  path: string,
  windows = process.platform === 'win32',
): string | undefined => splitPath(path, windows).at(-1)

/** Refuses a name that any supported system would treat as something other than a file. */
export function checkName(name: string): void {
  assertValidText(name)
  if (name === '..') throw pathError('path_traversal', 'Invalid name: "..".')
  if (Buffer.byteLength(name) > maxNameBytes)
    throw invalidPathError(
      name,
      `has a name longer than ${maxNameBytes} bytes`,
      'Use a shorter name.',
    )
  if (isDeviceName(name))
    throw invalidPathError(
      name,
      'has a name that Windows reserves for a device',
      'Use another name.',
    )
}

/** Returns true if `path` equals `folder` or is below it; both normalized. `/ab` is not below `/a`. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder ||
  (path.startsWith(folder) &&
    (folder.endsWith('/') || folder.endsWith('\\') || /^[\\/]/.test(path.slice(folder.length))))

/** Returns the path relative to a parent folder, with `/` between names, as the worker expects it. */
export function relativePath(path: string, folder: string): string {
  const rest = path.slice(folder.length).replace(/^[\\/]+/, '')
  // On other systems a backslash is part of a name.
  return folder.startsWith('/') ? rest : rest.replaceAll('\\', '/')
}

const splitPath = (path: string, windows: boolean): string[] =>
  path.split(windows ? /[\\/]/ : '/').filter((name) => name !== '' && name !== '.')

function stripPrefix(names: readonly string[], folder: readonly string[]): string[] | undefined {
  return folder.every((name, index) => names[index] === name)
    ? names.slice(folder.length)
    : undefined
}

function assertValidText(text: string): void {
  if (text.includes('\0'))
    throw invalidPathError(text, 'contains a NUL character', 'Remove the NUL character.')
  // A lone surrogate has no byte form on disk: another name would be opened.
  if (!text.isWellFormed())
    throw invalidPathError(text, 'is not valid Unicode', 'Use the exact name.')
  if (Buffer.byteLength(text) > maxPathBytes)
    throw invalidPathError(text, `is longer than ${maxPathBytes} bytes`, 'Use a shorter path.')
}

/** CON, NUL.txt, COM1: Windows treats these names as devices in every folder, so they are refused on all systems. */
const isDeviceName = (name: string): boolean =>
  /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ ]*(\.|:|$)/i.test(name)

const invalidPathError = (path: string, reason: string, hint: string) =>
  pathError('invalid_path', `The path ${quotePath(path)} ${reason}.`, { hint })

const pathError = (code: FileErrorCode, message: string, options: { hint?: string } = {}) =>
  new CoworkError(code, message, options)

const quotePath = (path: string) =>
  JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path)
