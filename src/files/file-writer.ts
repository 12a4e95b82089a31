import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { fileError } from './error-text.ts'
import { noAgentId } from './grants/grant-writer.ts'
import type { Grant } from './model.ts'
import type { ResolvedPath } from './path-resolver.ts'
import { relativePath, isWithin, lastSegment } from './rules/paths.ts'
import type { Edit, RootedPath, Replaced, Stat } from './worker/protocol.ts'
import type { FileParts } from './service.ts'

type Deps = Pick<FileParts, 'disk' | 'places' | 'history' | 'grants'> & {
  readonly maxFileBytes: number
}

export type WriteResult = Omit<Replaced, 'real' | 'sha256'> & { readonly path: string }

type Moved = WriteResult & { readonly from: string }

export type Update = {
  readonly path: string
  readonly content?: Buffer | undefined
  readonly edits?: readonly Edit[] | undefined
  readonly backup: boolean
  readonly dryRun: boolean
  readonly expected?: string | undefined
}

/** What changes files. Each verb acts on disk; its rows are written with the entry that ends the call. */
export function createFileWriter(deps: Deps) {
  const { disk, places, history, grants, maxFileBytes } = deps

  /** Trust or a person was asked where the path as given is risky; a link to such a place is refused on the way. */
  const reviewed = (...given: string[]) => given.some(places.isRisky)

  function tell(call: Call, { stat, sha256 }: { stat: Stat; sha256?: string }): void {
    call.addDetails({ data: { size_bytes: stat.size, ...(sha256 && { sha256 }) } })
  }

  /**
   * What is moved away would take along what below it is closed to the caller, or come out of what is denied to
   * another, who could read it then (GR6). Says where the walk may not come to over a link either.
   */
  async function whole({ at, path, grant }: ResolvedPath): Promise<RootedPath> {
    if (!grant) return at
    const others = grants.live().filter(({ id, agent }) => id !== grant.id && agent !== noAgentId)
    const denied = others
      .filter((one) => one.permission === 'deny' && one.path !== grant.path)
      .map((one) => one.path)
      .filter((one) => isWithin(one, grant.path))
    // What is not there any more is nobody's by itself, unless it narrows what the caller may do there.
    const isOpen = async (one: Grant) =>
      at.closed?.includes(relativePath(one.path, grant.path)) || (await grants.isInPlace(one))
    const below = others.filter((one) => one.path !== path && isWithin(one.path, path))
    const isApart = (await Promise.all(below.map(isOpen))).includes(true)
    if (isApart || denied.some((one) => isWithin(path, one)))
      throw fileError(
        'no_grant',
        path,
        'A person has decided about it, or about part of it, by itself.',
        'Move the rest of it, or ask a person.',
      )
    const closed = denied.map((one) => relativePath(one, grant.path))
    return { ...at, closed: [...(at.closed ?? []), ...closed] }
  }

  return {
    async create(
      call: Call,
      given: { path: string; content: Buffer; overwrite: boolean; encoding: string },
    ): Promise<WriteResult> {
      const { content, overwrite, encoding } = given
      checkIsFile(given.path)
      const need = overwrite ? 'write' : 'create'
      const placed = await disk.place(call, { path: given.path, need, createsFile: true })
      if (content.length > maxFileBytes)
        throw fileError(
          'too_large',
          placed.path,
          `A file may have ${maxFileBytes} bytes, and this one has ${content.length}.`,
          'Write less, or in several files.',
        )
      const asked = {
        at: placed.at,
        writeMode: overwrite ? ('put' as const) : ('create' as const),
        encoding,
        reviewed: reviewed(given.path),
      }
      const answer = await disk.arrive(call, placed, undefined, () =>
        history.writing(() => disk.ask(call, 'write', [placed], asked, content)),
      )
      tell(call, answer)
      return writtenOf(placed, answer)
    },

    async update(call: Call, update: Update): Promise<WriteResult> {
      const { content, edits, backup, dryRun, expected } = update
      if ((content === undefined) === (edits === undefined))
        throw new CoworkError('invalid_input', 'update_file takes either content or edits.', {
          hint: 'Give content to replace all of it, edits to change parts.',
        })
      const placed = await disk.place(call, { path: update.path, need: 'write' })
      const common = {
        at: placed.at,
        reviewed: reviewed(update.path),
        backup,
        dryRun,
        ...(expected !== undefined && { expected: expected.toLowerCase() }),
      }
      const replacing = { ...common, writeMode: 'replace', encoding: 'keep' } as const
      const answer = await history.writing(() =>
        edits
          ? disk.ask(call, 'edit', [placed], { ...common, edits })
          : disk.ask(call, 'write', [placed], replacing, content),
      )
      if (!dryRun) tell(call, answer)
      return writtenOf(placed, answer)
    },

    async move(call: Call, source: string, destination: string): Promise<Moved> {
      const from = await disk.place(call, { path: source, need: 'write' })
      const to = await disk.place(
        call,
        { path: destination, need: 'create', createsFile: true },
        false,
      )
      if (from.at.root !== to.at.root)
        throw fileError(
          'path_escape',
          to.path,
          'Files are moved within the workspace, or within one read-write grant.',
          'Copy it with copy_file.',
        )
      const asked = { from: await whole(from), to: to.at, reviewed: reviewed(source, destination) }
      const answer = await disk.arrive(call, to, lastSegment(source), () =>
        history.writing(() => disk.ask(call, 'move', [from, to], asked)),
      )
      tell(call, answer)
      const { stat } = answer
      return { path: places.pathIn(to, answer.to), from: places.pathIn(from, answer.from), stat }
    },

    async copy(call: Call, source: string, destination: string): Promise<WriteResult> {
      checkIsFile(destination)
      const from = await disk.place(call, { path: source, need: 'read' }, false)
      const to = await disk.place(call, { path: destination, need: 'create', createsFile: true })
      const isReviewed = reviewed(destination) || places.isSensitive(source)
      const asked = { from: from.at, to: to.at, reviewed: isReviewed }
      const answer = await disk.arrive(call, to, lastSegment(source), () =>
        disk.ask(call, 'copy', [from, to], asked),
      )
      tell(call, answer)
      return writtenOf(to, answer)
    },
  }

  /** Named as it lies: over a link it would be known by two names. */
  function writtenOf(placed: ResolvedPath, answer: Omit<Replaced, 'sha256'>): WriteResult {
    const { stat, real, before, backup, diff } = answer
    return {
      path: places.pathIn(placed, real),
      stat,
      ...(before && { before }),
      ...(backup !== undefined && { backup: places.pathIn(placed, backup) }),
      ...(diff !== undefined && { diff }),
    }
  }
}

function checkIsFile(given: string): void {
  if (given.endsWith('/'))
    throw fileError(
      'invalid_path',
      given,
      'A path that ends in "/" names a folder.',
      'Give the name of the file as well.',
    )
}
