/** Paths as the tools take them: relative paths are in the workspace, absolute paths under a grant. */

export const isAbsolute = (path: string): boolean => path.startsWith('/') || /^[a-z]:/i.test(path)

/** A backslash separates names only in Windows paths; elsewhere it can be part of a name. */
const isWindows = (path: string) => /^[a-z]:\\/i.test(path)
const separator = (path: string) => (isWindows(path) ? '\\' : '/')
const separatorPattern = (path: string) => (isWindows(path) ? /[/\\]/ : '/')
const trimSeparator = (path: string) => path.replace(isWindows(path) ? /[/\\]+$/ : /\/+$/, '')

export function joinPath(folder: string, name: string): string {
  if (folder === '') return name
  const mark = separator(folder)
  return folder.endsWith(mark) ? folder + name : folder + mark + name
}

/** Returns the last segment, also of a path with a trailing slash. */
export const baseName = (path: string): string =>
  trimSeparator(path).split(separatorPattern(path)).at(-1) ?? path

/** Returns the parent folder; empty for the workspace. The root of the disk is its own parent. */
export function parentPath(path: string): string {
  const mark = separator(path)
  const at = trimSeparator(path).lastIndexOf(mark)
  if (at === -1) return ''
  return at === 0 ? mark : trimSeparator(path).slice(0, at)
}

export type Crumb = { readonly name: string; readonly path: string }

/** Builds the breadcrumbs of a folder, from the workspace or from its grant. */
export function buildCrumbs(path: string, root: string): Crumb[] {
  const top = { name: root === '' ? 'Workspace' : root, path: root }
  const below = root === '' ? path : path.startsWith(root) ? path.slice(root.length) : ''
  const crumbs = [top]
  for (const name of below.split(separatorPattern(root)).filter((part) => part !== ''))
    crumbs.push({ name, path: joinPath(crumbs.at(-1)?.path ?? '', name) })
  return crumbs
}

/** Shortens the breadcrumbs to the first and the last two, to fit one line on a phone. */
export function shortenCrumbs([first, ...others]: readonly Crumb[]): {
  readonly first: Crumb
  readonly hidden: readonly Crumb[]
  readonly last: readonly Crumb[]
} {
  const top = first ?? { name: 'Workspace', path: '' }
  // A button instead of a single name would save no space.
  return others.length <= 3
    ? { first: top, hidden: [], last: others }
    : { first: top, hidden: others.slice(0, -2), last: others.slice(-2) }
}

/** Whether the path equals the folder or is inside: `/home/mara-old` is not inside `/home/mara`. */
export const isInside = (path: string, folder: string): boolean =>
  trimSeparator(path) === trimSeparator(folder) ||
  path.startsWith(trimSeparator(folder) + separator(folder))

/** Replaces the home folder with `~`, if known. */
export function abbreviateHome(path: string, home: string | undefined): string {
  if (home === undefined || !isInside(path, home)) return path
  return `~${path.slice(trimSeparator(home).length)}`
}

/** Splits a path for truncation: `head` is cut first, `end` keeps the name and its folder. */
export function splitForEllipsis(path: string): { readonly head: string; readonly end: string } {
  const around = parentPath(parentPath(path))
  const head = around === separator(path) ? '' : around
  return { head, end: path.slice(head.length) }
}

/** Returns the innermost common folder; empty if only the root of the disk is common. */
export function commonFolder([first = '', ...others]: readonly string[]): string {
  let folder = first
  while (folder !== '' && !others.every((path) => isInside(path, folder)))
    folder = folder === parentPath(folder) ? '' : parentPath(folder)
  return folder === separator(folder) ? '' : folder
}

/** Returns the path relative to the workspace, if inside. */
export function relativeTo(workspace: string, path: string): string {
  if (!isAbsolute(path) || !isInside(path, workspace)) return path
  return path
    .slice(trimSeparator(workspace).length)
    .replace(isWindows(path) ? /^[/\\]+/ : /^\/+/, '')
}

/** Returns the name for an attempt, for example `notes (2).md`. */
export function nextFreeName(name: string, attempt: number): string {
  if (attempt < 2) return name
  const dot = name.lastIndexOf('.')
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  return `${stem} (${attempt})${extension}`
}
