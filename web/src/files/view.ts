/** What the Files screen shows, as its address says it. */
export type FilesView = {
  /** The folder: relative in the workspace, absolute under a grant. */
  readonly path?: string
  /** The file that is read beside it. */
  readonly open?: string
  readonly q?: string
  readonly in?: 'granted' | 'all'
  readonly by?: 'content'
}

const longest = 4096

/** Reads the address; what it cannot mean is left out, so that no link leads to an error. */
export function filesViewOf(search: Record<string, unknown>): FilesView {
  const text = (name: string, most = longest) => {
    const given = search[name]
    return typeof given === 'string' && given !== '' && given.length <= most ? given : undefined
  }
  const path = text('path')
  const open = text('open')
  const q = text('q', 200)?.trim()
  const where = text('in')
  return {
    ...(path !== undefined && { path }),
    ...(open !== undefined && { open }),
    ...(q !== undefined && q !== '' && { q }),
    ...((where === 'granted' || where === 'all') && { in: where }),
    ...(text('by') === 'content' && { by: 'content' as const }),
  }
}

/** The same without the file that is open: another folder, other words. */
export function withoutFile(view: FilesView): FilesView {
  const { open: _, ...others } = view
  return others
}
