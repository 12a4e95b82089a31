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
  /** The grants it works under: revoking one ends it. */
  readonly grants?: readonly string[]
  /** Ends a read at once. A write that has begun is finished: half of it would be nobody's wish. */
  readonly signal?: AbortSignal
  readonly deadlineMs?: number
  /**
   * It may begin at once, and does nothing that can be seen before this has resolved; nothing at all when it rejects.
   * Called once the worker has the question whole: a body that is still on its way waits for nobody.
   */
  readonly enter?: (() => Promise<void>) | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export type FileWorker = ReturnType<typeof createFileWorker>

type Deps = {
  readonly setup: WorkerSetup
  readonly log: Log
  /** Without it the worker has the walk alone. */
  readonly landlock?: boolean
  /** The worker's program, where it is not our own. */
  readonly entry?: string
}

/** In milliseconds. */
const times = {
  deadline: 30_000,
  /** For a late call to end after it was cancelled; then its worker is stuck. */
  stop: 1_000,
  /** For writes to end when a grant is revoked; a cancelled one removes its temporary file. */
  revoke: 250,
  /** After that, to remove temporary files: no later worker could. All of it within the second (GR4). */
  leave: 400,
  /** For a killed process to exit. On a disk that hangs it never does, and nobody waits for it. */
  exit: 2_000,
  /** To see what a write came to whose worker is gone, with the longest pause before the next worker. */
  look: 10_000,
  start: 30_000,
  close: 3_000,
  /** A worker that lived this long was well: the next one starts without a pause. */
  well: 10_000,
  maxPause: 5_000,
}

/** Fail a read after two worker crashes. */
const maxCrashes = 2
const maxLandlockStarts = 3

const ending = 'The daemon is ending.'

/**
 * Queues calls for one worker process, which starts with the first call. At most one process, `current`, takes new calls; others are starting, or
 * finish what they have. A process that crashes is replaced, and so is one whose roots are outdated.
 */
export function createFileWorker(deps: Deps) {
  const { setup, landlock = true, entry } = deps
  const log = deps.log.scope('worker')
  let { roots } = setup
  let containment: Containment | undefined
  let failures = 0
  let lastId = 0
  let isClosed = false
  let pause: NodeJS.Timeout | undefined
  const alive = new Set<WorkerProcess>()
  /** The process that was started last. Before it is ready, another one may take the calls. */
  let newest: WorkerProcess | undefined
  let current: WorkerProcess | undefined
  const queue: WorkerCall[] = []
  const rootWaiters = new Set<PromiseWithResolvers<void>>()

  function start(): void {
    clearTimeout(pause)
    const worker = startProcess({
      setup: { ...setup, roots },
      entry: entry ?? join(import.meta.dirname, 'worker', 'main.ts'),
      // If no worker ever started behind Landlock, the path walk alone is better than no worker.
      landlock: landlock && (containment !== undefined || failures < maxLandlockStarts),
      warm: containment === undefined && entry === undefined,
      log,
      onReady({ ready, missing }) {
        if (worker !== newest || isClosed) return
        for (const { key, code } of missing) log.warn('a root cannot be opened', { key, code })
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
    void worker.ended.then(() => bury(worker, true))
  }

  /** Gives the calls of a process to another one. `isGone`: it can do nothing any more. */
  function bury(worker: WorkerProcess, isGone: boolean): void {
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
    if (readyAt !== undefined && Date.now() - readyAt > times.well) failures = 0
    const delay = failures === 0 ? 0 : Math.min(times.maxPause, 50 * 2 ** failures)
    failures++
    log.warn('the file worker ended and is started again', { delay })
    pause = setTimeout(start, delay)
  }

  /** Ends a process soon: its writes get a moment to finish, or to remove their temporary files. */
  async function end(worker: WorkerProcess): Promise<void> {
    worker.isEnding = true
    for (const call of worker.calls.values())
      if (mutatingOps.has(call.op) && !call.isDeferred) worker.cancel(call)
    await worker.waitForWrites(times.revoke)
    worker.shutDown()
    const killTimer = setTimeout(() => {
      const folders = worker.unfinishedFolders()
      if (folders.length > 0)
        log.warn('the file worker was killed: something hidden may be left', { in: folders })
      worker.kill()
    }, times.leave)
    await Promise.race([worker.ended, sleep(times.leave + times.exit, undefined, { ref: false })])
    clearTimeout(killTimer)
    bury(worker, false)
  }

  function replaceStuck(worker: WorkerProcess, { op }: WorkerCall): void {
    if (worker.isEnding) return
    log.warn('the file worker is stuck and was ended', { op })
    if (current === worker) current = undefined
    if (worker === newest && !isClosed) start()
    void end(worker)
  }

  /** Brings the newest process to the current roots: a replaced file is pinned again, anything else needs a new one. */
  async function updateRoots(): Promise<void> {
    if (newest?.readyAt === undefined) return waitForRoots()
    const moved = movedSince(newest.roots, roots)
    if (moved?.length === 0) return
    if (moved) {
      newest.roots = roots
      const { unreachable } = await begin('repin', { roots: moved }, {}, true)
      // Landlock keeps the process from the others.
      if (unreachable.length === 0) return
    }
    if (newest?.readyAt !== undefined) start()
    await waitForRoots()
  }

  async function waitForRoots(): Promise<void> {
    const waiter = Promise.withResolvers<void>()
    rootWaiters.add(waiter)
    const fail = () => waiter.reject(new CoworkError('timeout', 'The file worker did not start.'))
    const timer = setTimeout(fail, times.start)
    await waiter.promise.finally(() => clearTimeout(timer))
  }

  function resolveRootWaiters(): void {
    for (const { resolve } of rootWaiters) resolve()
    rootWaiters.clear()
  }

  function begin<O extends Op>(
    op: O,
    ask: OpRequest<O>,
    options: RequestOptions,
    isFirst = false,
  ): Promise<OpResponse<O>> {
    if (!newest && !isClosed) start()
    const { body, grants = [], signal, deadlineMs = times.deadline, enter, onProgress } = options
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
        if (enter && !isEntered) void release(call, enter)
        isEntered = true
      },
      isDeferred: enter !== undefined,
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
      // A write that has begun is finished: half of it would help nobody.
      if (call.isRead || !call.worker) withdraw(call, 'cancelled', 'The call was cancelled.')
    }
    if (isFirst) queue.unshift(call)
    else queue.push(call)
    if (isClosed) withdraw(call, 'interrupted', ending)
    else if (signal?.aborted) abort()
    else pump()
    signal?.addEventListener('abort', abort)
    // The protocol says which answer belongs to which operation.
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
    if (!isActing(call)) timeOut(call)
    unqueue(call)
    if (!worker) return
    worker.cancel(call)
    setTimeout(() => {
      if (call.worker === worker) replaceStuck(worker, call)
    }, times.stop).unref()
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
    if (hasNotActed && call.isLate) timeOut(call)
    else if (hasNotActed && !isClosed)
      fail(call, 'unreadable', 'The file worker ended over it, twice.')
    else if (call.expected) void lookFor(call, call.expected)
    else interrupt(call)
  }

  /** Answers a write whose worker is gone by whether its announced result can be seen. */
  async function lookFor(
    call: WorkerCall,
    { fingerprint, answer: announced }: ExpectedResult,
  ): Promise<void> {
    const look = begin('verifyResult', fingerprint, { deadlineMs: times.look }, true)
    const { isApplied } = await look.catch(() => ({ isApplied: false }))
    if (isApplied) answer(call, { id: call.id, answer: announced })
    else interrupt(call)
  }

  return {
    /**
     * One operation; throws a CoworkError with a FileFaultCode. When its worker ended, a read is repeated, and so is
     * what has not begun to act; a write is answered by what is seen of it, or `interrupted`.
     */
    ask: async <O extends Op>(
      op: O,
      ask: OpRequest<O>,
      options?: RequestOptions,
    ): Promise<OpResponse<O>> => begin(op, ask, options ?? {}),

    /**
     * Other roots from now on: resolves when calls go to a worker that has them. The old one finishes what it has, or
     * goes on where only files were put in the place of others.
     */
    async setRoots(next: readonly Root[]): Promise<void> {
      if (isClosed) throw new CoworkError('interrupted', ending)
      const isSame = movedSince(roots, next)?.length === 0
      roots = next
      if (!isSame && newest) await updateRoots()
    },

    /**
     * Ends what works under these grants, and every process that can reach their files; resolves when they are gone.
     * Reads and what has not begun to act are refused; a write that has is done shortly, or `interrupted`: nobody
     * can look any more.
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
      clearTimeout(pause)
      current = undefined
      for (const { reject } of rootWaiters) reject(new CoworkError('interrupted', ending))
      for (const call of queue.slice()) withdraw(call, 'interrupted', ending)
      const finish = async (worker: WorkerProcess) => {
        const timer = setTimeout(worker.kill, worker.readyAt === undefined ? 0 : times.close)
        worker.finish()
        await worker.ended
        clearTimeout(timer)
      }
      await Promise.all([...alive].map(finish))
    },
  }
}

/** The call may have changed something: to refuse it would be untrue. */
const isActing = ({ isRead, isDeferred, worker }: WorkerCall) =>
  !isRead && !isDeferred && worker !== undefined

function fail(call: WorkerCall, code: FileErrorCode, message: string, path?: string): void {
  if (call.isSettled) return
  call.isSettled = true
  call.reject(new CoworkError(code, message, path === undefined ? {} : { details: { path } }))
}

const timeOut = (call: WorkerCall) => fail(call, 'timeout', 'It took too long and was ended.')

const interrupt = (call: WorkerCall) =>
  fail(call, 'interrupted', 'The file worker was ended while it did this.')

const isCancelled = (head: AnswerHead) => 'error' in head && head.error.code === 'cancelled'

function answer(call: WorkerCall, head: AnswerHead, body?: Buffer): void {
  if (call.isLate && isCancelled(head)) timeOut(call)
  else if ('error' in head) {
    const { code, message, path } = head.error
    fail(call, code, message, path)
  } else if (!call.isSettled) {
    call.isSettled = true
    const fields = head.answer as object
    call.resolve(body && body.length > 0 ? { ...fields, body } : fields)
  }
}

/** The roots that are for another file now; undefined where more than that has changed. */
function movedSince(before: readonly Root[], next: readonly Root[]): readonly Root[] | undefined {
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
