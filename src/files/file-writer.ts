import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { fileError } from './error-text.ts'
import { noAgentId } from './grants/grant-writer.ts'
import type { Grant } from './model.ts'
import type { ResolvedPath } from './path-resolver.ts'
import { relativePath, isWithin, lastSegment } from './rules/paths.ts'
import type { Edit, RootedPath, Replaced, Stat } from './worker/protocol.ts'
import type { FileParts } from './service.ts'

type Deps = Pick<FileParts, 'disk' | 'resolver' | 'history' | 'grants'> & {
  readonly maxFileBytes: number
}

export type WriteResult = Omit<Replaced, 'real' | 'sha256'> & { readonly path: string }

type MoveResult = WriteResult & { readonly from: string }

export type Update = {
  readonly path: string
  readonly content?: Buffer | undefined
  readonly edits?: readonly Edit[] | undefined
  readonly backup: boolean
  readonly dryRun: boolean
  readonly expected?: string | undefined
}

/** Creates, changes, moves and copies files. The rows are written with the entry that ends the call. */
export function createFileWriter(deps: Deps) {
  const { disk, resolver, history, grants, maxFileBytes } = deps

  /** Whether a risky path was reviewed. The worker refuses a symbolic link to a risky path. */
  const isReviewed = (...input: string[]) => input.some(resolver.isRisky)

  function recordSize(call: Call, { stat, sha256 }: { stat: Stat; sha256?: string }): void {
    call.addDetails({ data: { size_bytes: stat.size, ...(sha256 && { sha256 }) } })
  }

  /**
   * Refuses to move a folder that contains subpaths closed to the caller, or a file out of a folder denied to another
   * agent, which could then read it (GR6). Returns the source with the closed subpaths.
   */
  async function resolveMoveSource({ at, path, grant }: ResolvedPath): Promise<RootedPath> {
    if (!grant) return at
    const others = grants
      .listActive()
      .filter(({ id, agent }) => id !== grant.id && agent !== noAgentId)
    const denied = others
      .filter((one) => one.permission === 'deny' && one.path !== grant.path)
      .map((one) => one.path)
      .filter((one) => isWithin(one, grant.path))
    // A stale grant counts only if it narrows the caller's access.
    const isOpen = async (one: Grant) =>
      at.closed?.includes(relativePath(one.path, grant.path)) || (await grants.isInPlace(one))
    const below = others.filter((one) => one.path !== path && isWithin(one.path, path))
    const isApart = (await Promise.all(below.map(isOpen))).includes(true)
    if (isApart || denied.some((one) => isWithin(path, one)))
      throw fileError(
        'no_grant',
        path,
        'The source contains a path with a separate grant.',
        'Move the other files, or ask a person.',
      )
    const closed = denied.map((one) => relativePath(one, grant.path))
    return { ...at, closed: [...(at.closed ?? []), ...closed] }
  }

  return {
    async create(
      call: Call,
      input: { path: string; content: Buffer; overwrite: boolean; encoding: string },
    ): Promise<WriteResult> {
      const { content, overwrite, encoding } = input
      assertFilePath(input.path)
      const need = overwrite ? 'write' : 'create'
      const placed = await disk.resolve(call, { path: input.path, need, createsFile: true })
      if (content.length > maxFileBytes)
        throw fileError(
          'too_large',
          placed.path,
          `The content has ${content.length} bytes; the limit is ${maxFileBytes}.`,
          'Write less, or several files.',
        )
      const request = {
        at: placed.at,
        writeMode: overwrite ? ('put' as const) : ('create' as const),
        encoding,
        reviewed: isReviewed(input.path),
      }
      const answer = await disk.withDestinationHint(call, placed, undefined, () =>
        history.withWriteLock(() => disk.request(call, 'write', [placed], request, content)),
      )
      recordSize(call, answer)
      return toWriteResult(placed, answer)
    },

    async update(call: Call, update: Update): Promise<WriteResult> {
      const { content, edits, backup, dryRun, expected } = update
      if ((content === undefined) === (edits === undefined))
        throw new CoworkError('invalid_input', 'update_file needs either content or edits.', {
          hint: 'Use content to replace the file, or edits to change parts.',
        })
      const placed = await disk.resolve(call, { path: update.path, need: 'write' })
      const common = {
        at: placed.at,
        reviewed: isReviewed(update.path),
        backup,
        dryRun,
        ...(expected !== undefined && { expected: expected.toLowerCase() }),
      }
      const replacing = { ...common, writeMode: 'replace', encoding: 'keep' } as const
      const answer = await history.withWriteLock(() =>
        edits
          ? disk.request(call, 'edit', [placed], { ...common, edits })
          : disk.request(call, 'write', [placed], replacing, content),
      )
      if (!dryRun) recordSize(call, answer)
      return toWriteResult(placed, answer)
    },

    async move(call: Call, source: string, destination: string): Promise<MoveResult> {
      const from = await disk.resolve(call, { path: source, need: 'write' })
      const to = await disk.resolve(
        call,
        { path: destination, need: 'create', createsFile: true },
        false,
      )
      if (from.at.root !== to.at.root)
        throw fileError(
          'path_escape',
          to.path,
          'Files can be moved only within the workspace or within one read-write grant.',
          'Copy the file with copy_file.',
        )
      const request = {
        from: await resolveMoveSource(from),
        to: to.at,
        reviewed: isReviewed(source, destination),
      }
      const answer = await disk.withDestinationHint(call, to, lastSegment(source), () =>
        history.withWriteLock(() => disk.request(call, 'move', [from, to], request)),
      )
      recordSize(call, answer)
      const { stat } = answer
      return {
        path: resolver.toRealPath(to, answer.to),
        from: resolver.toRealPath(from, answer.from),
        stat,
      }
    },

    async copy(call: Call, source: string, destination: string): Promise<WriteResult> {
      assertFilePath(destination)
      const from = await disk.resolve(call, { path: source, need: 'read' }, false)
      const to = await disk.resolve(call, { path: destination, need: 'create', createsFile: true })
      const isCopyReviewed = isReviewed(destination) || resolver.isSensitive(source)
      const request = { from: from.at, to: to.at, reviewed: isCopyReviewed }
      const answer = await disk.withDestinationHint(call, to, lastSegment(source), () =>
        disk.request(call, 'copy', [from, to], request),
      )
      recordSize(call, answer)
      return toWriteResult(to, answer)
    },
  }

  /** Returns real paths: with symbolic links, a file would have two paths. */
  function toWriteResult(placed: ResolvedPath, answer: Omit<Replaced, 'sha256'>): WriteResult {
    const { stat, real, before, backup, diff } = answer
    return {
      path: resolver.toRealPath(placed, real),
      stat,
      ...(before && { before }),
      ...(backup !== undefined && { backup: resolver.toRealPath(placed, backup) }),
      ...(diff !== undefined && { diff }),
    }
  }
}

function assertFilePath(path: string): void {
  if (path.endsWith('/'))
    throw fileError(
      'invalid_path',
      path,
      'A path that ends in "/" names a folder.',
      'Add the file name to the path.',
    )
}
