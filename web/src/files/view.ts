export type FilesView = {
  /** The folder: relative in the workspace, absolute under a grant. */
  readonly path?: string
  /** The open file. */
  readonly open?: string
  readonly q?: string
  /** Search scope, if other than the folder. */
  readonly in?: WideScope
  readonly by?: 'content'
}

const wideScopes = ['workspace', 'granted', 'all'] as const
type WideScope = (typeof wideScopes)[number]

const maxPathLength = 4096

/** Parses the search parameters. Drops invalid values, so that no link leads to an error. */
export function parseFilesView(search: Record<string, unknown>): FilesView {
  const text = (name: string, maxLength = maxPathLength) => {
    const value = search[name]
    return typeof value === 'string' && value !== '' && value.length <= maxLength
      ? value
      : undefined
  }
  const path = text('path')
  const open = text('open')
  const q = text('q', 200)?.trim()
  const scope = wideScopes.find((name) => name === text('in'))
  // At the workspace root, the folder scope and the workspace scope are equal.
  const where = scope === 'workspace' && path === undefined ? undefined : scope
  return {
    ...(path !== undefined && { path }),
    ...(open !== undefined && { open }),
    ...(q !== undefined && q !== '' && { q }),
    ...(where && { in: where }),
    ...(text('by') === 'content' && { by: 'content' as const }),
  }
}

/** Returns the view without the open file. */
export function withoutFile(view: FilesView): FilesView {
  const { open: _, ...others } = view
  return others
}

const scopeLabels = {
  workspace: { name: 'Workspace', text: 'in the workspace' },
  granted: { name: 'Grants', text: 'in granted paths' },
  all: { name: 'All', text: 'in the workspace and granted paths' },
} as const

export const describeScope = ({ path, in: where }: FilesView): string =>
  where === undefined && path !== undefined ? `in ${path}` : scopeLabels[where ?? 'workspace'].text

/** Lists the search scopes of a folder, the nearest first. The nearest one has no search parameter. */
export function listScopes({ path }: FilesView): readonly { name: string; in?: WideScope }[] {
  const all = wideScopes.map((where) => ({ name: scopeLabels[where].name, in: where }))
  return path === undefined
    ? [{ name: scopeLabels.workspace.name }, ...all.slice(1)]
    : [{ name: 'This folder' }, ...all]
}
