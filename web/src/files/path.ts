/** Paths as the tools take them: relative ones lie in the workspace, absolute ones under a grant. */

export const isAbsolute = (path: string): boolean => path.startsWith('/') || /^[a-z]:/i.test(path)

/** Only where a path says that it is one of Windows does a backslash part names: elsewhere it may be in one. */
const isWindows = (path: string) => /^[a-z]:\\/i.test(path)
const separator = (path: string) => (isWindows(path) ? '\\' : '/')
const between = (path: string) => (isWindows(path) ? /[/\\]/ : '/')
const bare = (path: string) => path.replace(isWindows(path) ? /[/\\]+$/ : /\/+$/, '')

export function joinPath(folder: string, name: string): string {
  if (folder === '') return name
  const mark = separator(folder)
  return folder.endsWith(mark) ? folder + name : folder + mark + name
}

/** The last name of it; folders are listed with a slash behind. */
export const baseName = (path: string): string => bare(path).split(between(path)).at(-1) ?? path

/** The folder around it: nothing for the workspace itself, and the top of the disk stays itself. */
export function parentPath(path: string): string {
  const mark = separator(path)
  const at = bare(path).lastIndexOf(mark)
  if (at === -1) return ''
  return at === 0 ? mark : bare(path).slice(0, at)
}

export type Crumb = { readonly name: string; readonly path: string }

/** The way to a folder, from the workspace, or from the grant it lies under. */
export function buildCrumbs(path: string, root: string): Crumb[] {
  const top = { name: root === '' ? 'Workspace' : root, path: root }
  const below = root === '' ? path : path.startsWith(root) ? path.slice(root.length) : ''
  const crumbs = [top]
  for (const name of below.split(between(root)).filter((part) => part !== ''))
    crumbs.push({ name, path: joinPath(crumbs.at(-1)?.path ?? '', name) })
  return crumbs
}

/** As many as fit on one line of a phone: where it begins, and the last two. */
export function shortenCrumbs([first, ...others]: readonly Crumb[]): {
  readonly first: Crumb
  readonly hidden: readonly Crumb[]
  readonly last: readonly Crumb[]
} {
  const top = first ?? { name: 'Workspace', path: '' }
  // A button in the place of one name would save nothing.
  return others.length <= 3
    ? { first: top, hidden: [], last: others }
    : { first: top, hidden: others.slice(0, -2), last: others.slice(-2) }
}

/** Whether it is the folder, or lies in it: `/home/mara-old` does not lie in `/home/mara`. */
export const isInside = (path: string, folder: string): boolean =>
  bare(path) === bare(folder) || path.startsWith(bare(folder) + separator(folder))

/** With `~` for the home, where that is known. */
export function abbreviateHome(path: string, home: string | undefined): string {
  if (home === undefined || !isInside(path, home)) return path
  return `~${path.slice(bare(home).length)}`
}

/** For a line that may be too short: what is cut first, and how the path ends, with the folder around it. */
export function splitForEllipsis(path: string): { readonly head: string; readonly end: string } {
  const around = parentPath(parentPath(path))
  const head = around === separator(path) ? '' : around
  return { head, end: path.slice(head.length) }
}

/** The innermost folder that holds all of them; nothing where there is none but the whole disk. */
export function commonFolder([first = '', ...others]: readonly string[]): string {
  let folder = first
  while (folder !== '' && !others.every((path) => isInside(path, folder)))
    folder = folder === parentPath(folder) ? '' : parentPath(folder)
  return folder === separator(folder) ? '' : folder
}

/** As the workspace's own tools call it, where it lies there. */
export function relativeTo(workspace: string, path: string): string {
  if (!isAbsolute(path) || !isInside(path, workspace)) return path
  return path.slice(bare(workspace).length).replace(isWindows(path) ? /^[/\\]+/ : /^\/+/, '')
}

/** The next name to try where one is taken: `notes (2).md`. */
export function nextFreeName(name: string, attempt: number): string {
  if (attempt < 2) return name
  const dot = name.lastIndexOf('.')
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  return `${stem} (${attempt})${extension}`
}
