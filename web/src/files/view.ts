export type FilesView = {
  /** The folder: relative in the workspace, absolute under a grant. */
  readonly path?: string
  /** The file that is read beside it. */
  readonly open?: string
  readonly q?: string
  /** Where to look that is not the folder itself. */
  readonly in?: Wider
  readonly by?: 'content'
}

const wider = ['workspace', 'granted', 'all'] as const
type Wider = (typeof wider)[number]

const longest = 4096

/** Reads the address; what it cannot mean is left out, so that no link leads to an error. */
export function parseFilesView(search: Record<string, unknown>): FilesView {
  const text = (name: string, most = longest) => {
    const given = search[name]
    return typeof given === 'string' && given !== '' && given.length <= most ? given : undefined
  }
  const path = text('path')
  const open = text('open')
  const q = text('q', 200)?.trim()
  const given = wider.find((one) => one === text('in'))
  // The top of the workspace is the workspace.
  const where = given === 'workspace' && path === undefined ? undefined : given
  return {
    ...(path !== undefined && { path }),
    ...(open !== undefined && { open }),
    ...(q !== undefined && q !== '' && { q }),
    ...(where && { in: where }),
    ...(text('by') === 'content' && { by: 'content' as const }),
  }
}

/** The same without the file that is open: another folder, other words. */
export function withoutFile(view: FilesView): FilesView {
  const { open: _, ...others } = view
  return others
}

const places = {
  workspace: { name: 'Workspace', said: 'in the workspace' },
  granted: { name: 'Granted', said: 'in what is granted' },
  all: { name: 'All', said: 'in the workspace and in what is granted' },
} as const

export const describeScope = ({ path, in: where }: FilesView): string =>
  where === undefined && path !== undefined ? `in ${path}` : places[where ?? 'workspace'].said

/** Where one can look from a folder, the nearest first; the address does not name that one. */
export function listScopes({ path }: FilesView): readonly { name: string; in?: Wider }[] {
  const all = wider.map((where) => ({ name: places[where].name, in: where }))
  return path === undefined
    ? [{ name: places.workspace.name }, ...all.slice(1)]
    : [{ name: 'This folder' }, ...all]
}
