import type { Call } from '#base/tool.ts'
import { touchedData } from '#ledger'
import { touchedOf } from './disk.ts'
import type { Disk } from './disk.ts'
import type { Grants } from './grants/service.ts'
import type { Placed, Places } from './places.ts'
import { isWithin } from './rules/paths.ts'
import { listedOf } from './worker/columns.ts'
import type { Listed, Range, Stat } from './worker/protocol.ts'

type Deps = {
  readonly disk: Disk
  readonly places: Places
  readonly grants: Pick<Grants, 'live' | 'decide'>
  readonly workspace: string
}

export type FileRead = {
  readonly path: string
  readonly stat: Stat
  readonly kind: 'text' | 'image' | 'audio' | 'document' | 'binary'
  readonly encoding: string
  readonly mime: string
  /** UTF-8 of a text, the bytes of anything else. */
  readonly content: Buffer
  /** The first byte or line that was not given. */
  readonly next?: number
  readonly lines?: number
  /** The byte where the last lines begin, when not all that were asked for fit. */
  readonly before?: number
  readonly sha256?: string
  readonly isExtracted: boolean
  readonly isSensitive: boolean
}

export type Searching = {
  readonly query: string
  readonly where: 'workspace' | 'granted' | 'all'
  readonly by: 'filename' | 'content' | 'regex'
  readonly types: readonly string[]
  readonly after?: string | undefined
  readonly limit: number
}

export type Listing = { readonly entries: readonly Listed[]; readonly next?: string }

const nothing = Buffer.alloc(0)

/** What is read: contents, folders, names. */
export function createReading({ disk, places, grants, workspace }: Deps) {
  const own: Placed = { at: { root: 'workspace', path: '' }, area: 'workspace', path: workspace }

  /** The widest folders this caller may read: one inside another would be searched twice. */
  function readable({ caller }: Pick<Call, 'caller'>): Placed[] {
    const theirs = grants
      .live()
      .filter((grant) => grants.decide(caller, grant.path, 'read').grant?.id === grant.id)
    return theirs
      .filter(
        ({ id, path }) =>
          !theirs.some(
            (other) =>
              other.id !== id &&
              other.kind === 'folder' &&
              isWithin(path, other.path) &&
              path !== other.path,
          ),
      )
      .map((grant) => ({
        at: places.rootOf(caller, grant, 'read'),
        area: 'granted',
        path: grant.path,
        grant,
      }))
  }

  return {
    async read(
      call: Call,
      {
        path: given,
        range,
        maxBytes,
      }: { path: string; range?: Range | undefined; maxBytes: number },
    ): Promise<FileRead> {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const { at, path } = placed
      const { body, extracted, sensitive, ...answer } = await disk.ask(call, 'read', [placed], {
        at,
        maxBytes,
        ...(range && { range }),
      })
      const { stat, sha256 } = answer
      call.tell({ data: { size_bytes: stat.size, ...(sha256 && { sha256 }) } })
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
        /** Names and types alone. */
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
      return { path: placed.path, entries: listedOf(answer), ...(next !== undefined && { next }) }
    },

    async search(call: Call, asked: Searching) {
      const { query, where, by, types, after, limit } = asked
      const roots = [
        ...(where === 'granted' ? [] : [own]),
        ...(where === 'workspace' ? [] : readable(call)),
      ]
      if (where !== 'workspace') call.tell({ data: touchedData(roots.map(touchedOf)) })
      if (roots.length === 0) return { hits: [], total: 0, skipped: 0 }
      const op = by === 'filename' ? 'searchNames' : 'searchContent'
      const { hits, total, next, ...more } = await disk.ask(call, op, roots, {
        in: roots.map(({ at }) => at),
        query,
        types,
        limit,
        ...(after !== undefined && { after }),
        ...(by === 'regex' && { regex: true }),
      })
      return {
        hits: hits.map(({ root, path, ...hit }) => ({
          ...hit,
          path: places.pathOf({ root, path }),
        })),
        total,
        skipped: 'skipped' in more ? more.skipped : 0,
        ...(next !== undefined && { next }),
      }
    },

    /** Files and bytes in a folder, and by the folders so far below it. */
    async usage(call: Call, given: string, depth: number, always: readonly string[] = []) {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const answer = await disk.ask(call, 'usage', [placed], { at: placed.at, depth, always })
      return { path: placed.path, ...answer }
    },
  }
}
