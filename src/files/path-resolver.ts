import { join } from 'node:path'
import type { Caller } from '#base/caller.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { PathRequest, CallTarget } from '#base/tool.ts'
import { toTouchedData } from '#ledger'
import { fileError, grantHint, requestHint } from './error-text.ts'
import type { Grants } from './grants/service.ts'
import type { Area, Grant, AccessKind } from './model.ts'
import type { GrantVerdict } from './rules/grants.ts'
import type { Guard } from './rules/guard.ts'
import { relativePath, pathPrefixes, parsePath } from './rules/paths.ts'
import type { RootedPath } from './worker/protocol.ts'
import type { Workspace } from './workspace.ts'

/** A path that the caller may use, with its root in the worker and its grant. */
export type ResolvedPath = {
  readonly at: RootedPath
  readonly area: Area
  /** The absolute path for replies and the ledger. */
  readonly path: string
  readonly grant?: Grant
}

type Deps = {
  readonly workspace: Workspace
  readonly home: string
  readonly guard: Guard
  readonly grants: Pick<Grants, 'decideNow' | 'listClosedBelow' | 'listDeniedFiles' | 'listActive'>
}

export type PathResolver = ReturnType<typeof createPathResolver>

/** Resolves path arguments to roots of the worker. Works on names only and does not access the disk. */
export function createPathResolver({ workspace, home, guard, grants }: Deps) {
  const pathContext = { home, workspace: workspace.path, configuredPath: workspace.configuredPath }

  function locate(requestedPath: string): { area: Area; path: string; below: string } {
    const { area, path } = parsePath(requestedPath, pathContext)
    return area === 'absolute'
      ? { area: 'granted', path, below: '' }
      : { area, path: path ? join(workspace.path, path) : workspace.path, below: path }
  }

  async function resolve(
    caller: Caller,
    { path: requestedPath, need, createsFile }: PathRequest,
  ): Promise<ResolvedPath> {
    const { area, path, below } = locate(requestedPath)
    if (guard.checkForbidden(path, need))
      throw fileError('forbidden_path', path, `Protected path: ${sanitizeText(path, 300)}.`)
    const placed: ResolvedPath =
      area === 'workspace'
        ? { at: { root: 'workspace', path: below }, area, path }
        : await resolveGranted(caller, path, need)
    const checkExtension = createsFile ? guard.checkExtension(path) : undefined
    if (checkExtension) throw fileError('forbidden_extension', path, checkExtension)
    return placed
  }

  async function resolveGranted(
    caller: Caller,
    path: string,
    need: AccessKind,
  ): Promise<ResolvedPath> {
    if (need === 'delete')
      throw fileError(
        'no_grant',
        path,
        'Files can be deleted only in the workspace.',
        'Ask a person to delete the file.',
      )
    const verdict = await grants.decideNow(caller, path, need)
    if (!verdict.grant) throw accessError(verdict, path, caller, need)
    const { grant } = verdict
    return {
      at: await toRootedPath(caller, grant, need, relativePath(path, grant.path)),
      area: 'granted',
      path,
      grant,
    }
  }

  async function toRootedPath(
    caller: Caller,
    grant: Grant,
    need: AccessKind,
    path = '',
  ): Promise<RootedPath> {
    const closed = grants.listClosedBelow(caller, grant, need)
    // Without `hardLinks` the worker refuses files with other hard links anyway.
    const denied = grant.hardLinks ? await grants.listDeniedFiles(caller) : []
    return {
      root: grant.id,
      path,
      ...(closed.length > 0 && { closed }),
      ...(denied.length > 0 && { denied }),
    }
  }

  /** Never throws: an invalid path is returned as given. */
  function describePath(requestedPath: string): { readonly path: string; readonly area: Area } {
    try {
      const { area, path } = locate(requestedPath)
      return { path, area }
    } catch {
      return { path: sanitizeText(requestedPath, 500), area: 'granted' }
    }
  }

  /** Builds the call target for the ledger and halts, with the other files of the call. */
  function toTarget(requestedPath: string, ...others: readonly string[]): CallTarget {
    const { area, path } = describePath(requestedPath)
    const files =
      others.length > 0 ? toTouchedData([requestedPath, ...others].map(describePath)) : {}
    return { domain: 'files', target: path, data: { area, ...files } }
  }

  return {
    locate,
    resolve,
    toRootedPath,
    toAbsolutePath({ root, path }: RootedPath): string {
      const base =
        root === 'workspace'
          ? workspace.path
          : (grants.listActive().find(({ id }) => id === root)?.path ?? root)
      return path === '' ? base : join(base, path)
    },
    /** Returns the absolute path of a file that the worker found after following symbolic links. */
    toRealPath: ({ grant }: Pick<ResolvedPath, 'grant'>, real: string): string =>
      join(grant?.path ?? workspace.path, real),
    describePath,
    listPrefixes: (requestedPath: string) => pathPrefixes(requestedPath, pathContext),
    toTarget,
    /** Builds the call target of a move or a copy; `target` selects its main path. */
    toTransferTarget(from: string, to: string, target: 'from' | 'to'): CallTarget {
      const about = target === 'from' ? toTarget(from, to) : toTarget(to, from)
      return { ...about, shown: `${describePath(from).path} → ${describePath(to).path}` }
    },
    /** Returns why these paths need a review, as a phrase after "because"; empty for ordinary paths. */
    describeRisk(...requestedPath: readonly string[]): string {
      const paths = requestedPath.map((one) => describePath(one).path)
      const [path] = paths.filter((one) => guard.riskReason(one) !== undefined)
      return path === undefined ? '' : `of ${sanitizeText(path, 300)}: ${guard.riskReason(path)}`
    },
    /** Whether the path is sensitive or executed by a program: trust decides about writes (F5, PV5). */
    isRisky: (requestedPath: string): boolean =>
      guard.riskReason(describePath(requestedPath).path) !== undefined,
    isSensitive: (requestedPath: string): boolean =>
      guard.isSensitive(describePath(requestedPath).path),
  }
}

function accessError(
  { code, denied }: Extract<GrantVerdict, { code: string }>,
  path: string,
  { kind }: Caller,
  need: AccessKind,
) {
  const name = sanitizeText(path, 300)
  if (denied)
    return fileError(
      code,
      path,
      `No access: ${name} is blocked.`,
      kind === 'human'
        ? 'Revoke the block first: `cowork grants list`.'
        : 'Continue without this path.',
    )
  const isReadOnly = code === 'read_only_grant'
  if (kind === 'human') {
    const message = isReadOnly ? `The grant for ${name} is read-only.` : undefined
    return fileError(code, path, message ?? `No grant covers ${name}.`, grantHint(path, isReadOnly))
  }
  const message = isReadOnly ? `The grant for ${name} is read-only.` : undefined
  return fileError(code, path, message, requestHint(path, need === 'read' ? 'read' : 'read-write'))
}
