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
  readonly resolver: PathResolver
  readonly grants: Pick<Grants, 'recordUse' | 'wasRepinned' | 'trackReplacement'>
}

type ResolveCall = Pick<Call, 'caller' | 'addDetails'>

export type DiskAccess = ReturnType<typeof createDiskAccess>

/** Checks the caller's access, sends operations to the file worker, and adds the touched files to the ledger entry. */
export function createDiskAccess({ worker, resolver, grants }: Deps) {
  const waitForPredecessors = createCommitOrder()

  /** Lists the paths whose rows change, without symbolic links; for a move, source and target. */
  function listChangedPaths(op: Op, targets: readonly ResolvedPath[], answer: object): string[] {
    const [source, target] = [targets[0], targets.at(-1)]
    if (!mutatingOps.has(op) || !source || !target) return []
    const { real, from, to } = answer as Partial<Record<'real' | 'from' | 'to', string>>
    return [
      ...(from === undefined ? [] : [resolver.toRealPath(source, from)]),
      ...[to, real].flatMap((path) =>
        path === undefined ? [] : [resolver.toRealPath(target, path)],
      ),
    ]
  }

  /** Whether a grant was repinned to a file that cowork wrote: a worker without the new pin may have refused it. */
  async function wasRepinned(targets: readonly ResolvedPath[]): Promise<boolean> {
    const repinned = targets.map(
      async ({ grant }) => grant !== undefined && grants.wasRepinned(grant),
    )
    return (await Promise.all(repinned)).includes(true)
  }

  /** Runs one operation. An error names the target that it failed for; each target's grant counts as used. */
  async function request<O extends Op>(
    call: Pick<Call, 'caller' | 'signal' | 'recordStart' | 'commitQueued'> &
      Partial<Pick<Call, 'progress'>>,
    op: O,
    targets: readonly ResolvedPath[],
    input: OpRequest<O>,
    body?: Uint8Array,
  ): Promise<OpResponse<O>> {
    const ids = targets.flatMap(({ grant }) => (grant ? [grant.id] : []))
    try {
      const { caller, signal, recordStart } = call
      const onProgress = createProgressListener(call)
      const options = { grants: ids, signal, enter: recordStart, onProgress, ...(body && { body }) }
      const send = () => {
        const answer = worker.ask(op, input, options)
        for (const folder of listReplacedFolders(op, targets))
          grants.trackReplacement(
            folder,
            answer.then(() => call.commitQueued),
          )
        return answer
      }
      const answer = await send().catch(async (error: unknown) => {
        if (!hasCode(error, 'root_replaced') || !(await wasRepinned(targets))) throw error
        return send()
      })
      const changed = listChangedPaths(op, targets, answer)
      if (changed.length > 0) await waitForPredecessors(changed, call.commitQueued)
      // Use by a person does not show whether an agent still needs the grant (GR7).
      if (caller.kind === 'agent') for (const id of ids) grants.recordUse(id)
      return answer
    } catch (error) {
      throw explainWorkerError(error, op, targets, call.caller.kind === 'human')
    }
  }

  /** False if the caller may not know it (GR9). */
  async function isFolder(call: Call, path: string): Promise<boolean> {
    try {
      const placed = await resolver.resolve(call.caller, { path, need: 'read' })
      const { stat } = await request(call, 'stat', [placed], { at: placed.at })
      return stat.type === 'folder'
    } catch (error) {
      if (error instanceof CoworkError) return false
      throw error
    }
  }

  return {
    request,

    /** Resolves a path for this caller. The entry that ends the call names the grant (FT8). */
    async resolve(
      call: ResolveCall,
      request: PathRequest,
      isSubject = true,
    ): Promise<ResolvedPath> {
      try {
        const placed = await resolver.resolve(call.caller, request)
        const { grant } = placed
        const ids = isSubject && grant ? { ids: { grant: grant.id } } : {}
        call.addDetails({ ...ids, touched: { file: toTouchedFile(placed), isSubject } })
        return placed
      } catch (error) {
        if (error instanceof CoworkError) {
          const file = { ...resolver.describePath(request.path), success: false, code: error.code }
          call.addDetails({ touched: { file, isSubject } })
        }
        throw error
      }
    },

    /** Runs `act`. If a folder already exists at the destination, the hint gives the path with the file name. */
    async withDestinationHint<T>(
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
            ? 'Add the file name to the path.'
            : `Use ${sanitizeText(join(path, name), 500)}.`
        throw fileError('exists', path, error.message, `The destination is a folder. ${next}`)
      }
    },
  }
}

/** Returns undefined if the client did not ask for progress; the worker then reports none. */
const createProgressListener = ({ progress = noProgress }: Partial<Pick<Call, 'progress'>>) =>
  progress === noProgress ? undefined : ({ done, total }: Progress) => progress(done, total)

/** Operations that may replace a file with a new one. Under a grant of a single file, the file keeps its inode. */
const replacingOps: ReadonlySet<Op> = new Set<Op>(['write', 'edit', 'restoreVersion'])

/** Only the granted folder is known here: the worker resolves symbolic links inside. */
const listReplacedFolders = (op: Op, targets: readonly ResolvedPath[]): string[] =>
  replacingOps.has(op)
    ? targets.flatMap(({ grant }) => (grant?.kind === 'folder' ? [grant.path] : []))
    : []

export const toTouchedFile = ({ path, area, grant }: ResolvedPath): TouchedFile => ({
  path,
  area,
  ...(grant && { grant: grant.id }),
})

type QueuedChange = { readonly paths: readonly string[]; readonly queued: Promise<void> }

/**
 * Keeps the rows of changes in the order in which the disk changed. A move renames the rows of its file, so a move
 * recorded before an earlier change would leave the rows of that change behind. A call waits until every earlier call
 * for the same files, or for a folder around them, is queued for its commit. It does not wait for the commit.
 */
function createCommitOrder() {
  const pending = new Set<QueuedChange>()

  /** Must be called in the order of the worker's replies. `queued` is the `commitQueued` of the call itself. */
  return async function waitForPredecessors(
    paths: readonly string[],
    queued: Promise<void> | undefined,
  ): Promise<void> {
    const predecessors = [...pending].filter((other) => overlap(other.paths, paths))
    if (queued) {
      const change = { paths, queued }
      pending.add(change)
      void queued.then(() => pending.delete(change))
    }
    for (const predecessor of predecessors) await predecessor.queued
  }
}

const overlap = (paths: readonly string[], others: readonly string[]): boolean =>
  paths.some((path) => others.some((other) => isWithin(path, other) || isWithin(other, path)))
