import { join } from 'node:path'
import type { Call } from '#base/tool.ts'
import { CoworkError } from '#base/errors.ts'
import { toTouchedData } from '#ledger'
import { hasCode } from './error-text.ts'
import { toTouchedFile } from './disk-access.ts'
import type { ResolvedPath } from './path-resolver.ts'
import { readColumns } from './worker/columns.ts'
import type { OpResponse, ListEntry, Range, SearchHit, Skipped } from './worker/protocol.ts'
import { isPathGlob } from './rules/path-glob.ts'
import { isWithin } from './rules/paths.ts'
import type { FileParts } from './service.ts'

type Deps = Pick<FileParts, 'disk' | 'resolver' | 'grants' | 'workspace'>

export type FileRead = Omit<OpResponse<'read'>, 'body' | 'extracted' | 'sensitive'> & {
  readonly path: string
  /** Text as UTF-8, otherwise the raw bytes. */
  readonly content: Buffer
  readonly isExtracted: boolean
  readonly isSensitive: boolean
}

export type Listing = { readonly entries: readonly ListEntry[]; readonly next?: string }

const emptyBuffer = Buffer.alloc(0)

export function createFileReader(deps: Deps) {
  const { disk } = deps

  return {
    async read(
      call: Call,
      {
        path: requestedPath,
        range,
        maxBytes,
        maxWhole,
      }: {
        readonly path: string
        readonly range?: Range | undefined
        readonly maxBytes: number
        /** Limit for content that is not text and is returned in full. */
        readonly maxWhole?: number | undefined
      },
    ): Promise<FileRead> {
      const placed = await disk.resolve(call, { path: requestedPath, need: 'read' })
      const { at, path } = placed
      const { body, extracted, sensitive, ...answer } = await disk.request(call, 'read', [placed], {
        at,
        maxBytes,
        ...(range && { range }),
        ...(maxWhole !== undefined && { maxBinaryBytes: maxWhole }),
      })
      const { stat, sha256 } = answer
      call.addDetails({ data: { size_bytes: stat.size, ...(sha256 && { sha256 }) } })
      return {
        ...answer,
        path,
        content: body ?? emptyBuffer,
        isExtracted: extracted === true,
        isSensitive: sensitive,
      }
    },

    async list(
      call: Call,
      query: {
        readonly path: string
        readonly recursive: boolean
        readonly depth?: number | undefined
        readonly after?: string | undefined
        readonly limit: number
        readonly bare?: boolean
      },
    ): Promise<Listing & { readonly path: string }> {
      const placed = await disk.resolve(call, { path: query.path, need: 'read' })
      const { recursive, depth, after, limit, bare = false } = query
      const answer = await disk.request(call, 'list', [placed], {
        at: placed.at,
        recursive,
        limit,
        ignore: recursive,
        bare,
        ...(depth !== undefined && { depth }),
        ...(after !== undefined && { after }),
      })
      const { next } = answer
      return {
        path: placed.path,
        entries: readColumns(answer),
        ...(next !== undefined && { next }),
      }
    },

    search: createSearch(deps),

    async usage(call: Call, requestedPath: string, depth: number, always: readonly string[] = []) {
      const placed = await disk.resolve(call, { path: requestedPath, need: 'read' })
      const answer = await disk.request(call, 'usage', [placed], {
        at: placed.at,
        depth,
        alwaysInclude: always,
      })
      return { path: placed.path, ...answer }
    },
  }
}

type SearchRequest = {
  readonly query: string
  /** The folder or file to search, instead of `scope`. */
  readonly path?: string | undefined
  readonly scope: 'workspace' | 'granted' | 'all'
  readonly by: 'filename' | 'content' | 'regex'
  readonly types: readonly string[]
  readonly after?: string | undefined
  readonly limit: number
  countFitting(hits: readonly FoundFile[]): number
}

/** A search hit with its absolute path. */
export type FoundFile = Omit<SearchHit, 'root'>

export type SkippedFiles = {
  /** `no_grant`: the grant ended during the search. */
  readonly why: Skipped['why'] | 'no_grant'
  readonly count: number
  readonly paths: readonly string[]
}

type SearchResult = {
  readonly hits: readonly FoundFile[]
  readonly total: number
  readonly skipped: readonly SkippedFiles[]
  readonly next?: string
}

function createSearch({ disk, resolver, grants, workspace }: Deps) {
  const workspaceRoot: ResolvedPath = {
    at: { root: 'workspace', path: '' },
    area: 'workspace',
    path: workspace,
  }

  /** Lists the widest roots that this caller may read; a nested root would be searched twice. */
  async function listReadableRoots({ caller }: Pick<Call, 'caller'>): Promise<ResolvedPath[]> {
    const allGrants = await grants.listFor(caller)
    const deciding = allGrants.map(({ path }) => grants.decideNow(caller, path, 'read'))
    const verdicts = await Promise.all(deciding)
    const theirs = await grants.filterInPlace(
      allGrants.filter(({ id }, at) => verdicts[at]?.grant?.id === id),
    )
    const roots = await Promise.all(
      theirs.map(async (grant) => ({
        at: await resolver.toRootedPath(caller, grant, 'read'),
        area: 'granted' as const,
        path: grant.path,
        grant,
      })),
    )
    return roots.filter(({ path }) => !roots.some((other) => isCoveredBySearch(path, other)))
  }

  async function listRoots(
    call: Call,
    { path, scope }: SearchRequest,
  ): Promise<readonly ResolvedPath[]> {
    if (path !== undefined) return [await disk.resolve(call, { path, need: 'read' })]
    return [
      ...(scope === 'granted' ? [] : [workspaceRoot]),
      ...(scope === 'workspace' ? [] : await listReadableRoots(call)),
    ]
  }

  /** Adds the searched roots to the entry; they are known only now if the call names no path. */
  function recordTouched(
    call: Call,
    roots: readonly ResolvedPath[],
    lost: readonly ResolvedPath[],
  ): void {
    const refused = lost.map((root) => ({
      ...toTouchedFile(root),
      success: false,
      code: 'no_grant',
    }))
    call.addDetails({ data: toTouchedData([...roots.map(toTouchedFile), ...refused]) })
  }

  async function searchRoots(
    call: Call,
    roots: readonly ResolvedPath[],
    request: SearchRequest,
  ): Promise<SearchResult> {
    const { query, by, types, after, limit } = request
    const op = by === 'filename' ? 'searchNames' : 'searchContent'
    const { hits, total, next, ...more } = await disk.request(call, op, roots, {
      in: roots.map(({ at }) => at),
      query,
      types: types.map(normalizeExtension),
      limit,
      ...(after !== undefined && { after }),
      ...(by === 'regex' && { regex: true }),
    })
    const skipped = 'skipped' in more ? more.skipped : []
    return {
      hits: hits.map(({ root, ...hit }) => ({
        ...hit,
        path: resolver.toAbsolutePath({ root, path: hit.path }),
      })),
      total,
      skipped: skipped.map(({ why, count, first }) => ({
        why,
        count,
        paths: first.map(resolver.toAbsolutePath),
      })),
      ...(next !== undefined && { next }),
    }
  }

  /** Searches again with a lower limit if the hits do not fit: only the search can compute the cursor. */
  async function searchFitting(
    call: Call,
    roots: readonly ResolvedPath[],
    request: SearchRequest,
  ): Promise<SearchResult> {
    if (roots.length === 0) return { hits: [], total: 0, skipped: [] }
    const answer = await searchRoots(call, roots, request)
    const limit = request.countFitting(answer.hits)
    return limit < answer.hits.length ? searchRoots(call, roots, { ...request, limit }) : answer
  }

  return async function search(call: Call, request: SearchRequest): Promise<SearchResult> {
    if (request.by === 'filename') assertNotFullPath(request.query)
    const isNamed = request.path !== undefined || request.scope === 'workspace'
    const ended: ResolvedPath[] = []
    for (let roots = await listRoots(call, request); ;) {
      // A grant that another grant covers is still searched.
      const lost = ended.filter(({ path }) => !roots.some((root) => isWithin(path, root.path)))
      if (!isNamed) recordTouched(call, roots, lost)
      try {
        const answer = await searchFitting(call, roots, request)
        return { ...answer, skipped: [...answer.skipped, ...toSkippedFiles(lost)] }
      } catch (error) {
        // If a grant was revoked during the search, search the others.
        const open = isNamed || !hasCode(error, 'no_grant') ? roots : await listRoots(call, request)
        const gone = roots.filter(({ at }) => !open.some((other) => other.at.root === at.root))
        if (gone.length === 0) throw error
        ended.push(...gone)
        roots = open
      }
    }
  }
}

const toSkippedFiles = (lost: readonly ResolvedPath[]): readonly SkippedFiles[] =>
  lost.length === 0
    ? []
    : [{ why: 'no_grant', count: lost.length, paths: lost.map(({ path }) => path) }]

/** Whether the search of another root includes this path: the path is inside, and not below a closed subpath. */
const isCoveredBySearch = (
  path: string,
  { path: root, at: { closed = [] } }: ResolvedPath,
): boolean =>
  path !== root && isWithin(path, root) && !closed.some((one) => isWithin(path, join(root, one)))

/** A query matches paths relative to the searched folder, so an absolute path can never match. */
function assertNotFullPath(query: string): void {
  if (!/^(?:\/|~(?:\/|$)|[a-z]:[\\/])/i.test(query)) return
  const names = query.split('/')
  const glob = names.findIndex(isPathGlob)
  const last = glob === -1 ? names.findLastIndex((name) => name !== '') : glob
  const folder = names.slice(0, last).join('/')
  const rest = names.slice(last).join('/')
  throw new CoworkError('invalid_query', 'The query is an absolute path.', {
    hint:
      folder === ''
        ? 'Use a name or a relative path.'
        : `Use path ${JSON.stringify(folder)} and query ${JSON.stringify(rest)}.`,
  })
}

/** Accepts `md`, `.md` and `*.md`. */
function normalizeExtension(value: string): string {
  const type = value.toLowerCase().replace(/^\*?\.?/, '.')
  if (type === '.' || /[*?{}/\\]/.test(type))
    throw new CoworkError('invalid_query', `Invalid extension: ${JSON.stringify(value)}.`, {
      hint: 'Use extensions such as .md in file_types, and globs in query.',
    })
  return type
}
