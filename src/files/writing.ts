import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { unifiedDiff } from '#base/unified-diff.ts'
import type { Disk } from './disk.ts'
import { fileFault } from './faults.ts'
import type { History } from './history.ts'
import type { Grants } from './grants/service.ts'
import type { Placed, Places } from './places.ts'
import { isWithin } from './rules/paths.ts'
import type { Edit, Kept, Stat } from './worker/protocol.ts'

type Deps = {
  readonly disk: Disk
  readonly places: Pick<Places, 'isRisky'>
  readonly history: History
  readonly grants: Pick<Grants, 'live'>
  readonly maxFileBytes: number
}

/** A file as it is after a change, and what it was before. */
export type Written = {
  readonly path: string
  readonly stat: Stat
  readonly before?: Kept
  /** Of a copy left beside it. */
  readonly backup?: string
  readonly diff?: string
}

export type Update = {
  readonly path: string
  readonly content?: Buffer | undefined
  readonly edits?: readonly Edit[] | undefined
  readonly backup: boolean
  readonly dryRun: boolean
  readonly expected?: string | undefined
}

/** What changes files. Each verb acts on disk; its rows are written with the entry that ends the call. */
export function createWriting({ disk, places, history, grants, maxFileBytes }: Deps) {
  /** Trust or a person was asked where the path as given is risky; a link to such a place is refused on the way. */
  const reviewed = (...given: string[]) => given.some(places.isRisky)

  function tell(call: Call, { stat, sha256 }: { stat: Stat; sha256?: string }): void {
    call.tell({ data: { size_bytes: stat.size, ...(sha256 && { sha256 }) } })
  }

  /** What is moved away would take along what below it is closed to the caller (GR6). */
  function checkWhole({ path, grant }: Placed): void {
    const isApart = grants
      .live()
      .some(
        (other) =>
          grant && other.id !== grant.id && other.path !== path && isWithin(other.path, path),
      )
    if (isApart)
      throw fileFault(
        'no_grant',
        path,
        undefined,
        'Part of it has a grant of its own: move the rest.',
      )
  }

  return {
    async create(
      call: Call,
      given: { path: string; content: Buffer; overwrite: boolean; encoding: string },
    ): Promise<Written> {
      const { content, overwrite, encoding } = given
      const need = overwrite ? 'write' : 'create'
      const placed = await disk.place(call, { path: given.path, need, makes: true })
      if (content.length > maxFileBytes)
        throw fileFault(
          'too_large',
          placed.path,
          `A file may have ${maxFileBytes} bytes, and this one has ${content.length}.`,
          'Write less, or in several files.',
        )
      const answer = await history.writing(() =>
        disk.ask(
          call,
          'write',
          [placed],
          {
            at: placed.at,
            how: overwrite ? 'put' : 'create',
            encoding,
            reviewed: reviewed(given.path),
          },
          content,
        ),
      )
      tell(call, answer)
      const { stat, before } = answer
      return { path: placed.path, stat, ...(before && { before }) }
    },

    async update(call: Call, update: Update): Promise<Written> {
      const { content, edits, backup, dryRun, expected } = update
      if ((content === undefined) === (edits === undefined))
        throw new CoworkError('invalid_input', 'update_file takes either content or edits.', {
          hint: 'Give content to replace all of it, edits to change parts.',
        })
      const placed = await disk.place(call, { path: update.path, need: 'write' })
      const { at, path } = placed
      const common = {
        at,
        reviewed: reviewed(update.path),
        ...(expected !== undefined && { expected }),
      }
      if (edits) {
        const answer = await history.writing(() =>
          disk.ask(call, 'edit', [placed], { ...common, edits, backup, dryRun }),
        )
        if (!dryRun) tell(call, answer)
        return writtenOf(placed, answer)
      }
      if (!content) throw new Error('there is neither content nor edits')
      if (dryRun) return compare(call, placed, content.toString('utf8'))
      const answer = await history.writing(() =>
        disk.ask(
          call,
          'write',
          [placed],
          { ...common, how: 'replace', encoding: 'keep', backup },
          content,
        ),
      )
      tell(call, answer)
      return { ...writtenOf(placed, answer), path }
    },

    async move(call: Call, source: string, destination: string): Promise<Written> {
      const from = await disk.place(call, { path: source, need: 'write' })
      const to = await disk.place(call, { path: destination, need: 'create', makes: true })
      if (from.at.root !== to.at.root)
        throw fileFault(
          'path_escape',
          to.path,
          'Files are moved within the workspace, or within one read-write grant.',
          'Copy it with copy_file.',
        )
      checkWhole(from)
      const { stat } = await history.writing(() =>
        disk.ask(call, 'move', [from, to], {
          from: from.at,
          to: to.at,
          reviewed: reviewed(source, destination),
        }),
      )
      tell(call, { stat })
      return { path: to.path, stat }
    },

    async copy(call: Call, source: string, destination: string): Promise<Written> {
      const from = await disk.place(call, { path: source, need: 'read' })
      const to = await disk.place(call, { path: destination, need: 'create', makes: true })
      const answer = await disk.ask(call, 'copy', [from, to], {
        from: from.at,
        to: to.at,
        reviewed: reviewed(destination),
      })
      tell(call, answer)
      return { path: to.path, stat: answer.stat }
    },
  }

  /** What replacing it would change. */
  async function compare(call: Call, placed: Placed, content: string): Promise<Written> {
    const { at, path } = placed
    const { stat, kind, body } = await disk.ask(call, 'read', [placed], {
      at,
      maxBytes: maxFileBytes,
    })
    if (kind !== 'text') throw fileFault('not_text', path, 'It is not text.')
    const from = { name: path, text: body?.toString('utf8') ?? '' }
    return { path, stat, diff: unifiedDiff(from, { name: path, text: content }) }
  }
}

function writtenOf(
  { path, at }: Placed,
  answer: { stat: Stat; before?: Kept; backup?: string; diff?: string },
): Written {
  const { stat, before, backup, diff } = answer
  // The worker names it relative to the root, as it was asked.
  const root = at.path === '' ? path : path.slice(0, path.length - at.path.length)
  return {
    path,
    stat,
    ...(before && { before }),
    ...(backup !== undefined && { backup: `${root}${backup}` }),
    ...(diff !== undefined && { diff }),
  }
}
