import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { isSameInode } from './confine/inode.ts'
import type { Containment, FileErrorCode } from './model.ts'
import { startProcess } from './worker/process.ts'
import type { AnswerHead, WorkerCall, WorkerProcess } from './worker/process.ts'
import { mutatingOps, readOnlyOps } from './worker/protocol.ts'
import type {
  OpResponse,
  OpRequest,
  Op,
  ExpectedResult,
  Progress,
  Root,
  WorkerSetup,
} from './worker/protocol.ts'

export type RequestOptions = {
  readonly body?: Uint8Array
  /** Grants of the call; revoking one of them ends the call. */
  readonly grants?: readonly string[]
  /** Cancels a read. A write that has started is completed, because a partial write is useless. */
  readonly signal?: AbortSignal
  readonly deadlineMs?: number
  /**
   * Records the call. The worker may prepare the operation, but makes no visible change before this resolves, and none if
   * it rejects. Called once, after the worker has received the entire request.
   */
  readonly recordStart?: (() => Promise<void>) | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export type FileWorker = ReturnType<typeof createFileWorker>

type Deps = {
  readonly setup: WorkerSetup
  readonly log: Log
  /** If false, the worker uses only the path walk. */
  readonly landlock?: boolean
  /** Another worker program, for tests. */
  readonly entry?: string
}

/** In milliseconds. */
const timeouts = {
  deadline: 30_000,
  /** Until a cancelled call must end; after that its worker counts as stuck. */
  stop: 1_000,
  /** Until writes must end when a grant is revoked; a cancelled write removes its temporary file. */
  revoke: 250,
  /** After that, to remove temporary files, which no later worker could reach. Together less than 1 s (GR4). */
  leave: 400,
  /** Until a killed process exits; on a hanging disk it never does. */
  exit: 2_000,
  /** To verify the result of an interrupted write, including the maximum restart delay. */
  verify: 10_000,
  start: 30_000,
  close: 3_000,
  /** A worker that ran this long was healthy; the next one starts without delay. */
  healthy: 10_000,
  maxDelay: 5_000,
}

/** Fail a read after two worker crashes. */
const maxCrashes = 2
const maxLandlockStarts = 3

const closingMessage = 'cowork is shutting down.'

/**
 * Queues calls for one worker process, which starts with the first call. At most one process, `current`, takes new
 * calls; others are starting, or finish their calls. Crashed processes and those with outdated roots are replaced.
 */
export function createFileWorker(deps: Deps) {
  const { setup, landlock = true, entry } = deps
  const log = deps.log.scope('worker')
  let { roots } = setup
  let containment: Containment | undefined
  let failures = 0
  let lastId = 0
  let isClosed = false
  let restartTimer: NodeJS.Timeout | undefined
  const alive = new Set<WorkerProcess>()
  /** The process that was started last. Before it is ready, another one may take the calls. */
  let newest: WorkerProcess | undefined
  let current: WorkerProcess | undefined
  const queue: WorkerCall[] = []
  const rootWaiters = new Set<PromiseWithResolvers<void>>()

  function start(): void {
    clearTimeout(restartTimer)
    const worker = startProcess({
      setup: { ...setup, roots },
      entry: entry ?? join(import.meta.dirname, 'worker', 'main.ts'),
      // If no worker ever started behind Landlock, the path walk alone is better than no worker.
      landlock: landlock && (containment !== undefined || failures < maxLandlockStarts),
      warm: containment === undefined && entry === undefined,
      log,
      onReady({ ready, missing }) {
        if (worker !== newest || isClosed) return
        for (const { key, code } of missing) log.warn('root not opened', { key, code })
        containment = ready
        current = worker
        updateRoots().then(resolveRootWaiters, () => undefined)
        pump()
      },
      onAnswer(call, head, body) {
        if (worker.isEnding && isCancelled(head)) {
          call.expected = undefined
          onLost(call, worker, true)
        } else {
          clearTimeout(call.deadline)
          answer(call, head, body)
        }
      },
      onCapacity: pump,
    })
    alive.add(worker)
    newest = worker
    void worker.ended.then(() => reassignCalls(worker, true))
  }

  /** Moves the calls of a process to another one. `isGone`: the process has exited. */
  function reassignCalls(worker: WorkerProcess, isGone: boolean): void {
    if (!alive.delete(worker)) return
    if (current === worker) current = undefined
    for (const call of [...worker.calls.values()].toReversed()) {
      call.worker = undefined
      onLost(call, worker, isGone)
    }
    if (worker === newest && !isClosed) restart(worker)
    pump()
  }

  function restart({ readyAt }: WorkerProcess): void {
    if (readyAt !== undefined && Date.now() - readyAt > timeouts.healthy) failures = 0
    const delay = failures === 0 ? 0 : Math.min(timeouts.maxDelay, 50 * 2 ** failures)
    failures++
    log.warn('file worker restarting', { delay })
    restartTimer = setTimeout(start, delay)
  }

  /** Ends a process soon: its writes get a moment to finish, or to remove their temporary files. */
  async function end(worker: WorkerProcess): Promise<void> {
    worker.isEnding = true
    for (const call of worker.calls.values())
      if (mutatingOps.has(call.op) && !call.isDeferred) worker.cancel(call)
    await worker.waitForWrites(timeouts.revoke)
    worker.shutDown()
    const killTimer = setTimeout(() => {
      const folders = worker.unfinishedFolders()
      if (folders.length > 0)
        log.warn('file worker killed: temporary files may remain', { in: folders })
      worker.kill()
    }, timeouts.leave)
    await Promise.race([
      worker.ended,
      sleep(timeouts.leave + timeouts.exit, undefined, { ref: false }),
    ])
    clearTimeout(killTimer)
    reassignCalls(worker, false)
  }

  function replaceStuck(worker: WorkerProcess, { op }: WorkerCall): void {
    if (worker.isEnding) return
    log.warn('file worker stuck, ending it', { op })
    if (current === worker) current = undefined
    if (worker === newest && !isClosed) start()
    void end(worker)
  }

  /** Brings the newest process to the current roots: a replaced file is pinned again, anything else needs a new one. */
  async function updateRoots(): Promise<void> {
    if (newest?.readyAt === undefined) return waitForRoots()
    const moved = findRepinnedRoots(newest.roots, roots)
    if (moved?.length === 0) return
    if (moved) {
      newest.roots = roots
      const { unreachable } = await enqueue('repin', { roots: moved }, {}, true)
      // Landlock blocks the process from the remaining roots.
      if (unreachable.length === 0) return
    }
    if (newest?.readyAt !== undefined) start()
    await waitForRoots()
  }

  async function waitForRoots(): Promise<void> {
    const waiter = Promise.withResolvers<void>()
    rootWaiters.add(waiter)
    const fail = () => waiter.reject(new CoworkError('timeout', 'The file worker did not start.'))
    const timer = setTimeout(fail, timeouts.start)
    await waiter.promise.finally(() => clearTimeout(timer))
  }

  function resolveRootWaiters(): void {
    for (const { resolve } of rootWaiters) resolve()
    rootWaiters.clear()
  }

  function enqueue<O extends Op>(
    op: O,
    ask: OpRequest<O>,
    options: RequestOptions,
    isFirst = false,
  ): Promise<OpResponse<O>> {
    if (!newest && !isClosed) start()
    const {
      body,
      grants = [],
      signal,
      deadlineMs = timeouts.deadline,
      recordStart,
      onProgress,
    } = options
    const { promise, resolve, reject } = Promise.withResolvers<object>()
    let isEntered = false
    const call: WorkerCall = {
      id: ++lastId,
      op,
      ask,
      body,
      isRead: readOnlyOps.has(op),
      grants,
      onProgress,
      onReceived() {
        if (recordStart && !isEntered) void release(call, recordStart)
        isEntered = true
      },
      isDeferred: recordStart !== undefined,
      isLate: false,
      isSettled: false,
      crashCount: 0,
      expected: undefined,
      worker: undefined,
      deadline: setTimeout(() => onDeadline(call), deadlineMs).unref(),
      resolve,
      reject,
    }
    const abort = () => {
      // A write that has started is completed.
      if (call.isRead || !call.worker) withdraw(call, 'cancelled', 'The call was cancelled.')
    }
    if (isFirst) queue.unshift(call)
    else queue.push(call)
    if (isClosed) withdraw(call, 'interrupted', closingMessage)
    else if (signal?.aborted) abort()
    else pump()
    signal?.addEventListener('abort', abort)
    // The protocol defines the response type of each operation.
    return promise.finally(() => signal?.removeEventListener('abort', abort)) as Promise<
      OpResponse<O>
    >
  }

  function pump(): void {
    while (current?.canTakeCall()) {
      const call = queue.shift()
      if (!call) break
      current.assign(call)
    }
    // An outdated process takes no new calls, and exits after its last answer.
    if (current === newest)
      for (const worker of alive) if (worker !== newest && worker.calls.size === 0) worker.finish()
  }

  async function release(call: WorkerCall, enter: () => Promise<void>): Promise<void> {
    try {
      await enter()
      if (call.isSettled) return
      call.isDeferred = false
      call.worker?.release(call)
    } catch {
      withdraw(call, 'cancelled', 'The call could not be recorded.')
    }
  }

  function withdraw(call: WorkerCall, code: FileErrorCode, message: string): void {
    fail(call, code, message)
    call.worker?.cancel(call)
    unqueue(call)
  }

  function unqueue(call: WorkerCall): void {
    const index = queue.indexOf(call)
    if (index >= 0) queue.splice(index, 1)
    // The deadline of a call that a worker has shows whether the worker is stuck.
    if (!call.worker) clearTimeout(call.deadline)
  }

  function onDeadline(call: WorkerCall): void {
    const { worker } = call
    call.isLate = true
    if (!isActing(call)) failTimeout(call)
    unqueue(call)
    if (!worker) return
    worker.cancel(call)
    setTimeout(() => {
      if (call.worker === worker) replaceStuck(worker, call)
    }, timeouts.stop).unref()
  }

  /** Repeats a call whose worker ended, or answers it. */
  function onLost(call: WorkerCall, worker: WorkerProcess, isGone: boolean): void {
    if (!worker.isEnding) call.crashCount++
    const hasNotAnnounced = mutatingOps.has(call.op) && !call.expected && isGone
    const hasNotActed = call.isRead || call.isDeferred || hasNotAnnounced
    const isWanted = !call.isSettled && !call.isLate && !isClosed
    if (hasNotActed && isWanted && call.crashCount < maxCrashes) {
      queue.unshift(call)
      return
    }
    clearTimeout(call.deadline)
    if (call.isSettled) return
    if (hasNotActed && call.isLate) failTimeout(call)
    else if (hasNotActed && !isClosed)
      fail(call, 'unreadable', 'The file worker crashed twice on this operation.')
    else if (call.expected) void verifyResult(call, call.expected)
    else failInterrupted(call)
  }

  /** Settles a write whose worker is gone by checking for its announced result. */
  async function verifyResult(
    call: WorkerCall,
    { fingerprint, answer: announced }: ExpectedResult,
  ): Promise<void> {
    const verify = enqueue('verifyResult', fingerprint, { deadlineMs: timeouts.verify }, true)
    const { isApplied } = await verify.catch(() => ({ isApplied: false }))
    if (isApplied) answer(call, { id: call.id, answer: announced })
    else failInterrupted(call)
  }

  return {
    /**
     * Runs one operation; throws a CoworkError with a FileErrorCode. If the worker ends, reads and unstarted writes are
     * repeated; a started write is verified on disk, or fails with `interrupted`.
     */
    ask: async <O extends Op>(
      op: O,
      ask: OpRequest<O>,
      options?: RequestOptions,
    ): Promise<OpResponse<O>> => enqueue(op, ask, options ?? {}),

    /**
     * Sets the roots; resolves when calls go to a worker that has them. The old worker finishes its calls, or continues
     * if only pins changed.
     */
    async setRoots(next: readonly Root[]): Promise<void> {
      if (isClosed) throw new CoworkError('interrupted', closingMessage)
      const isSame = findRepinnedRoots(roots, next)?.length === 0
      roots = next
      if (!isSame && newest) await updateRoots()
    },

    /**
     * Ends the calls under these grants and every process that can access their files; resolves when they are gone.
     * Reads and unstarted writes are refused; a started write finishes soon or fails with `interrupted`, because its
     * result can no longer be verified.
     */
    async revoke(grantIds: readonly string[], next: readonly Root[]): Promise<void> {
      if (isClosed) return
      if (!newest) {
        roots = next
        return
      }
      const revoked = new Set(grantIds)
      const old = [...alive]
      current = undefined
      for (const call of [...queue, ...old.flatMap(({ calls }) => [...calls.values()])])
        if (call.grants.some((grant) => revoked.has(grant)) && !call.isSettled && !isActing(call))
          withdraw(call, 'no_grant', 'No access. Call request_grant() first.')
      roots = next
      start()
      await Promise.all(old.map(end))
    },

    containment: (): Containment | 'starting' => containment ?? 'starting',

    async close(): Promise<void> {
      isClosed = true
      clearTimeout(restartTimer)
      current = undefined
      for (const { reject } of rootWaiters) reject(new CoworkError('interrupted', closingMessage))
      for (const call of queue.slice()) withdraw(call, 'interrupted', closingMessage)
      const finish = async (worker: WorkerProcess) => {
        const timer = setTimeout(worker.kill, worker.readyAt === undefined ? 0 : timeouts.close)
        worker.finish()
        await worker.ended
        clearTimeout(timer)
      }
      await Promise.all([...alive].map(finish))
    },
  }
}

/** Whether the call may have changed something, so that a refusal would be wrong. */
const isActing = ({ isRead, isDeferred, worker }: WorkerCall) =>
  !isRead && !isDeferred && worker !== undefined

function fail(call: WorkerCall, code: FileErrorCode, message: string, path?: string): void {
  if (call.isSettled) return
  call.isSettled = true
  call.reject(new CoworkError(code, message, path === undefined ? {} : { details: { path } }))
}

const failTimeout = (call: WorkerCall) => fail(call, 'timeout', 'The operation timed out.')

const failInterrupted = (call: WorkerCall) =>
  fail(call, 'interrupted', 'The file worker ended during the operation.')

const isCancelled = (head: AnswerHead) => 'error' in head && head.error.code === 'cancelled'

function answer(call: WorkerCall, head: AnswerHead, body?: Buffer): void {
  if (call.isLate && isCancelled(head)) failTimeout(call)
  else if ('error' in head) {
    const { code, message, path } = head.error
    fail(call, code, message, path)
  } else if (!call.isSettled) {
    call.isSettled = true
    const fields = head.answer as object
    call.resolve(body && body.length > 0 ? { ...fields, body } : fields)
  }
}

/** Returns the roots whose pin changed, or undefined if anything else changed. */
function findRepinnedRoots(
  before: readonly Root[],
  next: readonly Root[],
): readonly Root[] | undefined {
  const isSame = (one: Root, other: Root | undefined) =>
    one.key === other?.key &&
    one.path === other.path &&
    one.kind === other.kind &&
    one.access === other.access &&
    one.hardLinks === other.hardLinks
  if (before.length !== next.length || !next.every((root, at) => isSame(root, before[at])))
    return undefined
  return next.filter((root, at) => !isSameInode(root, before[at] ?? {}))
}
