import type { Call } from '#base/tool.ts'
import type { Disk } from './disk.ts'
import type { Grants } from './grants/service.ts'
import type { Places } from './places.ts'
import { createSearch } from './search.ts'
import { listedOf } from './worker/columns.ts'
import type { Listed, Range, Stat } from './worker/protocol.ts'

type Deps = {
  readonly disk: Disk
  readonly places: Places
  readonly grants: Pick<Grants, 'of' | 'decideNow' | 'inPlace'>
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

export type Listing = { readonly entries: readonly Listed[]; readonly next?: string }

const nothing = Buffer.alloc(0)

/** What is read: contents, folders, names. */
export function createReading(deps: Deps) {
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
        ...(maxWhole !== undefined && { maxWhole }),
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

    search: createSearch(deps),

    /** Files and bytes in a folder, and by the folders so far below it. */
    async usage(call: Call, given: string, depth: number, always: readonly string[] = []) {
      const placed = await disk.place(call, { path: given, need: 'read' })
      const answer = await disk.ask(call, 'usage', [placed], { at: placed.at, depth, always })
      return { path: placed.path, ...answer }
    },
  }
}
