import { join } from 'node:path'
import { CoworkError } from '#base/errors.ts'
import { noProgress } from '#base/tool.ts'
import type { Call, PathRequest, TouchedFile } from '#base/tool.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { FileWorker } from './worker-client.ts'
import { explainWorkerError, fileError, hasCode } from './error-text.ts'
import type { Grants } from './grants/service.ts'
import type { ResolvedPath, PathResolver } from './path-resolver.ts'
import { mutatingOps } from './worker/protocol.ts'
import type { OpResponse, OpRequest, Op, Progress } from './worker/protocol.ts'
import { isWithin } from './rules/paths.ts'

type Deps = {
  readonly worker: FileWorker
  readonly places: PathResolver
  readonly grants: Pick<Grants, 'used' | 'hasMoved' | 'replacing'>
}

type Told = Pick<Call, 'caller' | 'addDetails'>

export type DiskAccess = ReturnType<typeof createDiskAccess>

/** What a call does on disk: by the caller's own right, through the worker, and known to the ledger. */
export function createDiskAccess({ worker, places, grants }: Deps) {
  const inOrder = createCommitOrder()

  /** Under which paths an answer has rows: as they lie after links, those of a move at both ends. */
  function changedBy(op: Op, about: readonly ResolvedPath[], answer: object): string[] {
    const [source, target] = [about[0], about.at(-1)]
    if (!mutatingOps.has(op) || !source || !target) return []
    const { real, from, to } = answer as Partial<Record<'real' | 'from' | 'to', string>>
    return [
      ...(from === undefined ? [] : [places.pathIn(source, from)]),
      ...[to, real].flatMap((path) => (path === undefined ? [] : [places.pathIn(target, path)])),
    ]
  }

  /** Whether one of them goes on for what we put in its place: a worker that was not told of it may have refused. */
  async function hasMoved(about: readonly ResolvedPath[]): Promise<boolean> {
    const moved = about.map(async ({ grant }) => grant !== undefined && grants.hasMoved(grant))
    return (await Promise.all(moved)).includes(true)
  }

  /** `about` is what it is about: the one it failed for is named, and an agent has used all their grants. */
  async function ask<O extends Op>(
    call: Pick<Call, 'caller' | 'signal' | 'recordStart' | 'commitQueued'> &
      Partial<Pick<Call, 'progress'>>,
    op: O,
    about: readonly ResolvedPath[],
    asked: OpRequest<O>,
    body?: Uint8Array,
  ): Promise<OpResponse<O>> {
    const ids = about.flatMap(({ grant }) => (grant ? [grant.id] : []))
    try {
      const { caller, signal, recordStart } = call
      const onProgress = progressOf(call)
      const more = { grants: ids, signal, enter: recordStart, onProgress, ...(body && { body }) }
      const asking = () => {
        const answer = worker.ask(op, asked, more)
        for (const folder of foldersChanged(op, about))
          grants.replacing(
            folder,
            answer.then(() => call.commitQueued),
          )
        return answer
      }
      const answer = await asking().catch(async (error: unknown) => {
        if (!hasCode(error, 'root_replaced') || !(await hasMoved(about))) throw error
        return asking()
      })
      const changed = changedBy(op, about, answer)
      if (changed.length > 0) await inOrder(changed, call.commitQueued)
      // A person who looks at what is granted says nothing of whether an agent needs it (GR7).
      if (caller.kind === 'agent') for (const id of ids) grants.used(id)
      return answer
    } catch (error) {
      throw explainWorkerError(error, op, about, call.caller.kind === 'human')
    }
  }

  /** As far as the caller may know (GR9). */
  async function isFolder(call: Call, path: string): Promise<boolean> {
    try {
      const placed = await places.place(call.caller, { path, need: 'read' })
      const { stat } = await ask(call, 'stat', [placed], { at: placed.at })
      return stat.type === 'folder'
    } catch (error) {
      if (error instanceof CoworkError) return false
      throw error
    }
  }

  return {
    ask,

    /** Where it lies for this caller. The entry that ends the call says under which grant (FT8). */
    async place(call: Told, wanted: PathRequest, isSubject = true): Promise<ResolvedPath> {
      try {
        const placed = await places.place(call.caller, wanted)
        const { grant } = placed
        const ids = isSubject && grant ? { ids: { grant: grant.id } } : {}
        call.addDetails({ ...ids, touched: { file: toTouchedFile(placed), isSubject } })
        return placed
      } catch (error) {
        if (error instanceof CoworkError) {
          const file = { ...places.named(wanted.path), success: false, code: error.code }
          call.addDetails({ touched: { file, isSubject } })
        }
        throw error
      }
    },

    /**
     * Something comes to a free place: where a folder is already, the path to give is named. `name` is that of what
     * comes, where it has one.
     */
    async arrive<T>(
      call: Call,
      { path }: ResolvedPath,
      name: string | undefined,
      act: () => Promise<T>,
    ): Promise<T> {
      try {
        return await act()
      } catch (error) {
        if (!hasCode(error, 'exists') || !(await isFolder(call, path))) throw error
        const next =
          name === undefined
            ? 'Give the name of the file as well.'
            : `Give ${sanitizeText(join(path, name), 500)}.`
        throw fileError('exists', path, error.message, `A folder is there. ${next}`)
      }
    },
  }
}

/** Undefined where the client did not ask for it: then the worker says nothing. */
const progressOf = ({ progress = noProgress }: Partial<Pick<Call, 'progress'>>) =>
  progress === noProgress ? undefined : ({ done, total }: Progress) => progress(done, total)

/** Operations that may put a file in the place of another. Under the grant of one file it stays that file. */
const replacing: ReadonlySet<Op> = new Set<Op>(['write', 'edit', 'restoreVersion'])

/** Where in such a folder is known only after links. */
const foldersChanged = (op: Op, about: readonly ResolvedPath[]): string[] =>
  replacing.has(op)
    ? about.flatMap(({ grant }) => (grant?.kind === 'folder' ? [grant.path] : []))
    : []

export const toTouchedFile = ({ path, area, grant }: ResolvedPath): TouchedFile => ({
  path,
  area,
  ...(grant && { grant: grant.id }),
})

type Ahead = { readonly paths: readonly string[]; readonly inLine: Promise<void> }

/**
 * The rows of changes come in the order in which the disk was changed: those of a file go where it goes, so that a
 * move that is told before the change ahead of it would leave its rows behind. Who was answered waits here until all
 * that were answered before it, about the same files or a folder around them, stand in line for their commit; not for
 * the commit itself.
 */
function createCommitOrder() {
  const ahead = new Set<Ahead>()

  /** To be called in the order of the answers. `inLine` is that of the call itself. */
  return async function inOrder(
    paths: readonly string[],
    inLine: Promise<void> | undefined,
  ): Promise<void> {
    const before = [...ahead].filter((other) => meet(other.paths, paths))
    if (inLine) {
      const mine = { paths, inLine }
      ahead.add(mine)
      void inLine.then(() => ahead.delete(mine))
    }
    for (const other of before) await other.inLine
  }
}

const meet = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.some((other) => isWithin(one, other) || isWithin(other, one)))
