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

/** A path that the caller may use: where the worker finds it, and by which right. */
export type ResolvedPath = {
  readonly at: RootedPath
  readonly area: Area
  /** The absolute path, as replies and the ledger name it. */
  readonly path: string
  readonly grant?: Grant
}

type Deps = {
  readonly workspace: Workspace
  readonly home: string
  readonly guard: Guard
  readonly grants: Pick<Grants, 'decideNow' | 'closedBelow' | 'deniedFiles' | 'live'>
}

export type PathResolver = ReturnType<typeof createPathResolver>

/** From a path as it was given to the root it lies under. Names only: nothing on disk is looked at here. */
export function createPathResolver({ workspace, home, guard, grants }: Deps) {
  const where = { home, workspace: workspace.path, configuredPath: workspace.given }

  function locate(given: string): { area: Area; path: string; below: string } {
    const { area, path } = parsePath(given, where)
    return area === 'absolute'
      ? { area: 'granted', path, below: '' }
      : { area, path: path ? join(workspace.path, path) : workspace.path, below: path }
  }

  async function place(
    caller: Caller,
    { path: given, need, createsFile }: PathRequest,
  ): Promise<ResolvedPath> {
    const { area, path, below } = locate(given)
    if (guard.checkForbidden(path, need))
      throw fileError('forbidden_path', path, `${sanitizeText(path, 300)} is closed to agents.`)
    const placed: ResolvedPath =
      area === 'workspace'
        ? { at: { root: 'workspace', path: below }, area, path }
        : await granted(caller, path, need)
    const extension = createsFile ? guard.checkExtension(path) : undefined
    if (extension) throw fileError('forbidden_extension', path, extension)
    return placed
  }

  async function granted(caller: Caller, path: string, need: AccessKind): Promise<ResolvedPath> {
    if (need === 'delete')
      throw fileError(
        'no_grant',
        path,
        'Files are deleted in the workspace only.',
        'Ask a person to delete this one.',
      )
    const verdict = await grants.decideNow(caller, path, need)
    if (!verdict.grant) throw refused(verdict, path, caller, need)
    const { grant } = verdict
    return {
      at: await rootOf(caller, grant, need, relativePath(path, grant.path)),
      area: 'granted',
      path,
      grant,
    }
  }

  async function rootOf(
    caller: Caller,
    grant: Grant,
    need: AccessKind,
    path = '',
  ): Promise<RootedPath> {
    const closed = grants.closedBelow(caller, grant, need)
    // Elsewhere a file with a second name is not opened at all.
    const denied = grant.hardLinks ? await grants.deniedFiles(caller) : []
    return {
      root: grant.id,
      path,
      ...(closed.length > 0 && { closed }),
      ...(denied.length > 0 && { denied }),
    }
  }

  /** Never throws: what is no path is named as it was given. */
  function named(given: string): { readonly path: string; readonly area: Area } {
    try {
      const { area, path } = locate(given)
      return { path, area }
    } catch {
      return { path: sanitizeText(given, 500), area: 'granted' }
    }
  }

  /** For the ledger and halts: what a call is about, and what else it touches. */
  function touch(given: string, ...others: readonly string[]): CallTarget {
    const { area, path } = named(given)
    const files = others.length > 0 ? toTouchedData([given, ...others].map(named)) : {}
    return { domain: 'files', target: path, data: { area, ...files } }
  }

  return {
    locate,
    place,
    rootOf,
    pathOf({ root, path }: RootedPath): string {
      const base =
        root === 'workspace'
          ? workspace.path
          : (grants.live().find(({ id }) => id === root)?.path ?? root)
      return path === '' ? base : join(base, path)
    },
    /** The same of one that was placed, for what the worker found it to be after links. */
    pathIn: ({ grant }: Pick<ResolvedPath, 'grant'>, real: string): string =>
      join(grant?.path ?? workspace.path, real),
    named,
    prefixesOf: (given: string) => pathPrefixes(given, where),
    touch,
    /** The same of what goes from one place to another; `target` is the one of them that it is about. */
    touchBoth(from: string, to: string, target: 'from' | 'to'): CallTarget {
      const about = target === 'from' ? touch(from, to) : touch(to, from)
      return { ...about, shown: `${named(from).path} → ${named(to).path}` }
    },
    /** Why a person or trust looks at any of these first, in words that follow "because"; empty for plain ones. */
    riskOf(...given: readonly string[]): string {
      const paths = given.map((one) => named(one).path)
      const [path] = paths.filter((one) => guard.riskReason(one) !== undefined)
      return path === undefined ? '' : `of ${sanitizeText(path, 300)}: ${guard.riskReason(path)}`
    },
    /** Sensitive, or run by something later on: trust decides about writing it (F5, PV5). */
    isRisky: (given: string): boolean => guard.riskReason(named(given).path) !== undefined,
    isSensitive: (given: string): boolean => guard.isSensitive(named(given).path),
  }
}

function refused(
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
      `No access: ${name} is denied for good.`,
      kind === 'human' ? 'Revoke the denial first: `cowork grants list`.' : 'Work without it.',
    )
  const isReadOnly = code === 'read_only_grant'
  if (kind === 'human') {
    const message = isReadOnly ? `What is granted of ${name} is for reading.` : undefined
    return fileError(code, path, message ?? `No grant opens ${name}.`, grantHint(path, isReadOnly))
  }
  const message = isReadOnly ? `The grant for ${name} is for reading.` : undefined
  return fileError(code, path, message, requestHint(path, need === 'read' ? 'read' : 'read-write'))
}
