import { join } from 'node:path'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Containment, FileFaultCode } from './model.ts'
import { createCall } from './worker/call.ts'
import type { Call } from './worker/call.ts'
import { createDeadlines } from './worker/deadlines.ts'
import type { Answered, Ask, Op, Root, WorkerSetup } from './worker/protocol.ts'
import { startRunning } from './worker/running.ts'
import type { Running } from './worker/running.ts'

export type AskOptions = {
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
}

/** The daemon's side of the process that alone touches the disk. */
export type FileWorker = {
  /**
   * One operation; throws a CoworkError with a FileFaultCode. A read is repeated when its worker ended, a
   * write is answered `interrupted`.
   */
  ask<O extends Op>(op: O, ask: Ask<O>, more?: AskOptions): Promise<Answered<O>>
  /** Other roots from now on: resolves when calls go to a worker that has them. The old one finishes what it has. */
  setRoots(roots: readonly Root[]): Promise<void>
  /**
   * Ends what works under these grants, and every process that can reach their files; resolves when they are gone.
   * Reads and what has not begun to act are refused; a write that has is done shortly, or `interrupted`.
   */
  revoke(grantIds: readonly string[], roots: readonly Root[]): Promise<void>
  containment(): Containment | 'starting'
  close(): Promise<void>
}

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
  /** One call, from question to answer. */
  deadline: 30_000,
  /** What is being written when a grant is revoked, and what is dropped then, with its temporary file. */
  revoke: 250,
  start: 30_000,
  close: 3_000,
  /** A worker that lived so long was well: the next is started without a pause. */
  well: 10_000,
  longestPause: 5_000,
}

/** A read that ended two workers is not given to a third. */
const mostLost = 2
/** Tries to start behind Landlock. */
const mostStarts = 3

const ending = 'The daemon is ending.'

export function createFileWorker(deps: Deps): FileWorker {
  const { setup, landlock = true, entry } = deps
  const log = deps.log.scope('worker')
  let { roots } = setup
  let known: Containment | undefined
  let failures = 0
  let lastId = 0
  let isClosed = false
  let pause: NodeJS.Timeout | undefined
  const alive = new Set<Running>()
  /** The one with the roots of now; before it is ready another may still take the calls. */
  let newest: Running | undefined
  let current: Running | undefined
  const waiting: Call[] = []
  const deadlines = createDeadlines(onDeadline)
  /** Who waits for a worker with the roots of now. */
  const rooting = new Set<PromiseWithResolvers<void>>()

  function start(): void {
    clearTimeout(pause)
    const worker = startRunning({
      setup: { ...setup, roots },
      entry: entry ?? join(import.meta.dirname, 'worker', 'main.ts'),
      // Where no worker ever came up behind it, the walk alone is better than none, and is told.
      landlock: landlock && (known !== undefined || failures < mostStarts),
      warm: known === undefined && entry === undefined,
      log,
      onFree: () => pump(),
    })
    newest = worker
    alive.add(worker)
    const late = setTimeout(worker.kill, times.start)
    worker.ready.then(
      ({ ready, missing }) => {
        clearTimeout(late)
        if (worker !== newest) return
        for (const { key, code } of missing) log.warn('a root cannot be opened', { key, code })
        worker.readyAt = Date.now()
        known = ready
        current = worker
        for (const { resolve } of rooting) resolve()
        rooting.clear()
        pump()
      },
      () => clearTimeout(late),
    )
    void worker.ended.then(() => {
      alive.delete(worker)
      if (current === worker) current = undefined
      for (const call of [...worker.calls.values()].toReversed()) lose(call, worker)
      if (worker === newest && !isClosed) restart(worker)
      pump()
    })
  }

  function restart({ readyAt }: Running): void {
    if (readyAt !== undefined && Date.now() - readyAt > times.well) failures = 0
    const delay = failures === 0 ? 0 : Math.min(times.longestPause, 50 * 2 ** failures)
    failures++
    log.warn('the file worker ended and is started again', { delay })
    pause = setTimeout(start, delay)
  }

  /** Its worker ended. */
  function lose(call: Call, worker: Running): void {
    if (!worker.isEndedByUs) call.lost++
    const isRepeated = call.isRead && call.lost < mostLost && !isClosed
    if (!call.isSettled() && isRepeated) {
      waiting.unshift(call)
      return
    }
    call.forget()
    if (call.isSettled()) return
    if (call.isRead && !isClosed) call.fail('unreadable', 'The file worker ended over it, twice.')
    else call.fail('interrupted', 'The file worker was ended while it did this.')
  }

  function pump(): void {
    while (current?.takesMore()) {
      const call = waiting.shift()
      if (!call) break
      current.give(call)
    }
    // Those before it take nothing new, and go when they have answered all they have.
    for (const worker of alive)
      if (current === newest && worker !== newest && worker.calls.size === 0) worker.end()
  }

  const holderOf = ({ id }: Call) => [...alive].find(({ calls }) => calls.has(id))

  /** It may have changed something by now: to refuse it would be untrue. It is finished at once, or interrupted. */
  const isActing = (call: Call) => !call.isRead && !call.isHeld && holderOf(call) !== undefined

  /** Takes a call out of the queue; one that is not there any more stays as it is. */
  function unqueue(call: Call): void {
    const place = waiting.indexOf(call)
    if (place >= 0) waiting.splice(place, 1)
    if (!holderOf(call)) call.forget()
  }

  function withdraw(call: Call, code: FileFaultCode, message: string): void {
    if (!call.isSettled()) call.fail(code, message)
    holderOf(call)?.cancel(call)
    unqueue(call)
  }

  async function release(call: Call, enter: () => Promise<void>): Promise<void> {
    try {
      await enter()
      call.isHeld = false
      holderOf(call)?.go(call)
    } catch {
      withdraw(call, 'cancelled', 'The call could not be recorded.')
    }
  }

  function onDeadline(call: Call): void {
    if (!call.isSettled()) call.fail('timeout', 'It took too long and was ended.')
    const onStuck = () => log.warn('the file worker is stuck and was ended', { op: call.op })
    holderOf(call)?.stop(call, onStuck)
    unqueue(call)
  }

  /** Another set of roots, and a worker for it. Those that were not ready yet never will be needed. */
  function change(next: readonly Root[]): void {
    if (isClosed) throw new CoworkError('interrupted', ending)
    roots = next
    for (const worker of alive) if (worker.readyAt === undefined) worker.kill()
    start()
  }

  start()

  return {
    ask<O extends Op>(op: O, ask: Ask<O>, more: AskOptions = {}): Promise<Answered<O>> {
      const { body, grants = [], signal, deadlineMs = times.deadline, enter } = more
      const id = ++lastId
      const { call, promise } = createCall(
        { id, op, ask, body, grants, ...(enter && { onTaken: () => void release(call, enter) }) },
        deadlines.delete,
      )
      deadlines.add(call, deadlineMs)
      const abort = () => {
        if (call.isSettled() || (!call.isRead && holderOf(call))) return
        withdraw(call, 'cancelled', 'The call was cancelled.')
      }
      waiting.push(call)
      if (isClosed) withdraw(call, 'interrupted', ending)
      else if (signal?.aborted) abort()
      else pump()
      signal?.addEventListener('abort', abort)
      // The worker answers an operation with what the protocol says of it.
      return promise.finally(() => signal?.removeEventListener('abort', abort)) as Promise<
        Answered<O>
      >
    },

    async setRoots(next) {
      change(next)
      const rooted = Promise.withResolvers<void>()
      rooting.add(rooted)
      const fail = () => rooted.reject(new CoworkError('timeout', 'The file worker did not start.'))
      const late = setTimeout(fail, times.start)
      await rooted.promise.finally(() => clearTimeout(late))
    },

    async revoke(grantIds, next) {
      if (isClosed) return
      const gone = new Set(grantIds)
      const old = [...alive]
      current = undefined
      for (const call of [...waiting, ...old.flatMap(({ calls }) => [...calls.values()])])
        if (!call.isSettled() && call.grants.some((grant) => gone.has(grant)) && !isActing(call))
          withdraw(call, 'no_grant', 'No access. Call request_grant() first.')
      change(next)
      const end = async (worker: Running) => {
        worker.isEndedByUs = true
        await worker.written(times.revoke)
        worker.kill()
        await worker.ended
      }
      await Promise.all(old.map(end))
    },

    containment: () => known ?? 'starting',

    async close() {
      isClosed = true
      clearTimeout(pause)
      current = undefined
      for (const { reject } of rooting) reject(new CoworkError('interrupted', ending))
      for (const call of waiting.slice()) withdraw(call, 'interrupted', ending)
      const end = async (worker: Running) => {
        const late = setTimeout(worker.kill, worker.readyAt === undefined ? 0 : times.close)
        worker.end()
        await worker.ended
        clearTimeout(late)
      }
      await Promise.all([...alive].map(end))
    },
  }
}
