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

type Deps = Pick<FileParts, 'disk' | 'places' | 'grants' | 'workspace'>

export type FileRead = Omit<OpResponse<'read'>, 'body' | 'extracted' | 'sensitive'> & {
  readonly path: string
  /** UTF-8 of a text, the bytes of anything else. */
  readonly content: Buffer
  readonly isExtracted: boolean
  readonly isSensitive: boolean
}

export type Listing = { readonly entries: readonly ListEntry[]; readonly next?: string }

const nothing = Buffer.alloc(0)

export function createFileReader(deps: Deps) {
  const { disk } = deps

  return {
    async read(
      call: Call,
      {
        path: given,
        range,
        maxBytes,
        maxWhole,
      }: {
        readonly path: string
        readonly range?: Range | undefined
        readonly maxBytes: number
        /** Of what is no text and comes whole. */
        readonly maxWhole?: number | undefined
      },
    ): Promise<FileRead> {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const { at, path } = placed
      const { body, extracted, sensitive, ...answer } = await disk.ask(call, 'read', [placed], {
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
        content: body ?? nothing,
        isExtracted: extracted === true,
        isSensitive: sensitive,
      }
    },

    async list(
      call: Call,
      asked: {
        readonly path: string
        readonly recursive: boolean
        readonly depth?: number | undefined
        readonly after?: string | undefined
        readonly limit: number
        readonly bare?: boolean
      },
    ): Promise<Listing & { readonly path: string }> {
      const placed = await disk.place(call, { path: asked.path, need: 'read' })
      const { recursive, depth, after, limit, bare = false } = asked
      const answer = await disk.ask(call, 'list', [placed], {
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

    async usage(call: Call, given: string, depth: number, always: readonly string[] = []) {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const answer = await disk.ask(call, 'usage', [placed], {
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
  /** The folder, or file, to look in; else `where` says it. */
  readonly path?: string | undefined
  readonly where: 'workspace' | 'granted' | 'all'
  readonly by: 'filename' | 'content' | 'regex'
  readonly types: readonly string[]
  readonly after?: string | undefined
  readonly limit: number
  fitting(hits: readonly FoundFile[]): number
}

/** Its path is the whole one. */
export type FoundFile = Omit<SearchHit, 'root'>

export type SkippedFiles = {
  /** `no_grant` is of a whole grant that ended while it was searched. */
  readonly why: Skipped['why'] | 'no_grant'
  readonly count: number
  readonly paths: readonly string[]
}

type Found = {
  readonly hits: readonly FoundFile[]
  readonly total: number
  readonly skipped: readonly SkippedFiles[]
  readonly next?: string
}

function createSearch({ disk, places, grants, workspace }: Deps) {
  const own: ResolvedPath = {
    at: { root: 'workspace', path: '' },
    area: 'workspace',
    path: workspace,
  }

  /** The widest folders this caller may read: one inside another would be searched twice. */
  async function readable({ caller }: Pick<Call, 'caller'>): Promise<ResolvedPath[]> {
    const given = await grants.of(caller)
    const deciding = given.map(({ path }) => grants.decideNow(caller, path, 'read'))
    const verdicts = await Promise.all(deciding)
    const theirs = await grants.inPlace(
      given.filter(({ id }, at) => verdicts[at]?.grant?.id === id),
    )
    const roots = await Promise.all(
      theirs.map(async (grant) => ({
        at: await places.rootOf(caller, grant, 'read'),
        area: 'granted' as const,
        path: grant.path,
        grant,
      })),
    )
    return roots.filter(({ path }) => !roots.some((other) => isSearchedWith(path, other)))
  }

  async function rootsOf(
    call: Call,
    { path, where }: SearchRequest,
  ): Promise<readonly ResolvedPath[]> {
    if (path !== undefined) return [await disk.place(call, { path, need: 'read' })]
    return [
      ...(where === 'granted' ? [] : [own]),
      ...(where === 'workspace' ? [] : await readable(call)),
    ]
  }

  /** Which those are is known only now, where none of them was named. */
  function tell(call: Call, roots: readonly ResolvedPath[], lost: readonly ResolvedPath[]): void {
    const refused = lost.map((root) => ({
      ...toTouchedFile(root),
      success: false,
      code: 'no_grant',
    }))
    call.addDetails({ data: toTouchedData([...roots.map(toTouchedFile), ...refused]) })
  }

  async function found(
    call: Call,
    roots: readonly ResolvedPath[],
    asked: SearchRequest,
  ): Promise<Found> {
    const { query, by, types, after, limit } = asked
    const op = by === 'filename' ? 'searchNames' : 'searchContent'
    const { hits, total, next, ...more } = await disk.ask(call, op, roots, {
      in: roots.map(({ at }) => at),
      query,
      types: types.map(extensionOf),
      limit,
      ...(after !== undefined && { after }),
      ...(by === 'regex' && { regex: true }),
    })
    const skipped = 'skipped' in more ? more.skipped : []
    return {
      hits: hits.map(({ root, ...hit }) => ({
        ...hit,
        path: places.pathOf({ root, path: hit.path }),
      })),
      total,
      skipped: skipped.map(({ why, count, first }) => ({
        why,
        count,
        paths: first.map(places.pathOf),
      })),
      ...(next !== undefined && { next }),
    }
  }

  /** Only the search itself can say where to go on: very long lines are looked for once more. */
  async function fitted(
    call: Call,
    roots: readonly ResolvedPath[],
    asked: SearchRequest,
  ): Promise<Found> {
    if (roots.length === 0) return { hits: [], total: 0, skipped: [] }
    const answer = await found(call, roots, asked)
    const limit = asked.fitting(answer.hits)
    return limit < answer.hits.length ? found(call, roots, { ...asked, limit }) : answer
  }

  return async function search(call: Call, asked: SearchRequest): Promise<Found> {
    if (asked.by === 'filename') checkName(asked.query)
    const isNamed = asked.path !== undefined || asked.where === 'workspace'
    const ended: ResolvedPath[] = []
    for (let roots = await rootsOf(call, asked); ;) {
      // One that was replaced by another is searched all the same.
      const lost = ended.filter(({ path }) => !roots.some((root) => isWithin(path, root.path)))
      if (!isNamed) tell(call, roots, lost)
      try {
        const answer = await fitted(call, roots, asked)
        return { ...answer, skipped: [...answer.skipped, ...skippedOf(lost)] }
      } catch (error) {
        // A grant that was revoked meanwhile takes nothing from the others.
        const open = isNamed || !hasCode(error, 'no_grant') ? roots : await rootsOf(call, asked)
        const gone = roots.filter(({ at }) => !open.some((other) => other.at.root === at.root))
        if (gone.length === 0) throw error
        ended.push(...gone)
        roots = open
      }
    }
  }
}

const skippedOf = (lost: readonly ResolvedPath[]): readonly SkippedFiles[] =>
  lost.length === 0
    ? []
    : [{ why: 'no_grant', count: lost.length, paths: lost.map(({ path }) => path) }]

/** Whether a search through another root comes to it: it lies inside, and not behind what is closed there. */
const isSearchedWith = (path: string, { path: root, at: { closed = [] } }: ResolvedPath): boolean =>
  path !== root && isWithin(path, root) && !closed.some((one) => isWithin(path, join(root, one)))

/** A query is matched below the folder that is searched, where a full path would find nothing, ever. */
function checkName(query: string): void {
  if (!/^(?:\/|~(?:\/|$)|[a-z]:[\\/])/i.test(query)) return
  const names = query.split('/')
  const glob = names.findIndex(isPathGlob)
  const last = glob === -1 ? names.findLastIndex((name) => name !== '') : glob
  const folder = names.slice(0, last).join('/')
  const rest = names.slice(last).join('/')
  throw new CoworkError('invalid_query', 'The query is a full path.', {
    hint:
      folder === ''
        ? 'Give a name or a part of a path, without the slash in front.'
        : `Give the folder as path, ${JSON.stringify(folder)}, and ${JSON.stringify(rest)} as query.`,
  })
}

/** `md`, `.md` and `*.md` alike. */
function extensionOf(given: string): string {
  const type = given.toLowerCase().replace(/^\*?\.?/, '.')
  if (type === '.' || /[*?{}/\\]/.test(type))
    throw new CoworkError('invalid_query', `${JSON.stringify(given)} is no extension.`, {
      hint: 'Name each in file_types, such as .md; a glob goes into the query.',
    })
  return type
}
