import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { isSameInode } from './confine/inode.ts'
import type { Containment, FileFaultCode } from './model.ts'
import { createCall } from './worker/call.ts'
import type { Call } from './worker/call.ts'
import { createDeadlines } from './worker/deadlines.ts'
import type { Answered, Ask, Op, Outlook, Progress, Root, WorkerSetup } from './worker/protocol.ts'
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
  /** Told how far the worker is, a few times in a second. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** The daemon's side of the process that alone touches the disk. */
export type FileWorker = {
  /**
   * One operation; throws a CoworkError with a FileFaultCode. When its worker ended, a read is repeated, and so is
   * what has not begun to act; a write is answered by what is seen of it, or `interrupted`.
   */
  ask<O extends Op>(op: O, ask: Ask<O>, more?: AskOptions): Promise<Answered<O>>
  /**
   * Other roots from now on: resolves when calls go to a worker that has them. The old one finishes what it has, or
   * goes on where only files were put in the place of others.
   */
  setRoots(roots: readonly Root[]): Promise<void>
  /**
   * Ends what works under these grants, and every process that can reach their files; resolves when they are gone.
   * Reads and what has not begun to act are refused; a write that has is done shortly, or `interrupted`: nobody
   * can look any more.
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
  /** After that, to take away what is not finished: no later worker could. All of it within the second (GR4). */
  leave: 400,
  /** Until one that was killed is gone. On a disk that hangs it never is, and nobody waits for it. */
  gone: 2_000,
  /** To see what a write came to whose worker cannot say it: with the longest pause before the next one. */
  look: 10_000,
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
  /** One more is to be started when the one that starts is ready. */
  let isWanted = false
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
    isWanted = false
    const given = roots
    const worker = startRunning({
      setup: { ...setup, roots: given },
      entry: entry ?? join(import.meta.dirname, 'worker', 'main.ts'),
      // Where no worker ever came up behind it, the walk alone is better than none, and is told.
      landlock: landlock && (known !== undefined || failures < mostStarts),
      warm: known === undefined && entry === undefined,
      log,
      onFree: () => pump(),
      onGivenUp: (call) => lose(call, worker, true),
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
        if (isWanted) start()
        else {
          for (const { resolve } of rooting) resolve()
          rooting.clear()
        }
        const moved = movedSince(given, roots) ?? []
        if (moved.length > 0) repin(moved).catch(() => undefined)
        pump()
      },
      () => clearTimeout(late),
    )
    void worker.ended.then(() => bury(worker, true))
  }

  function bury(worker: Running, isGone: boolean): void {
    if (!alive.delete(worker)) return
    if (current === worker) current = undefined
    for (const call of [...worker.calls.values()].toReversed()) lose(call, worker, isGone)
    if (worker === newest && !isClosed) restart(worker)
    pump()
  }

  /** What it writes has a moment to be done or given up, and then to be taken away. */
  async function end(worker: Running): Promise<void> {
    worker.isEndedByUs = true
    worker.giveUp()
    await worker.written(times.revoke)
    worker.leave()
    const late = setTimeout(() => {
      const folders = worker.unfinished()
      if (folders.length > 0)
        log.warn('the file worker was killed: something hidden may be left', { in: folders })
      worker.kill()
    }, times.leave)
    await Promise.race([worker.ended, sleep(times.leave + times.gone, undefined, { ref: false })])
    clearTimeout(late)
    bury(worker, false)
  }

  /** Another takes its calls, and what it cannot be made to end ends with it. */
  function replace(worker: Running): void {
    if (worker.isEndedByUs) return
    if (current === worker) current = undefined
    if (worker === newest && !isClosed) start()
    void end(worker)
  }

  function restart({ readyAt }: Running): void {
    if (readyAt !== undefined && Date.now() - readyAt > times.well) failures = 0
    const delay = failures === 0 ? 0 : Math.min(times.longestPause, 50 * 2 ** failures)
    failures++
    log.warn('the file worker ended and is started again', { delay })
    pause = setTimeout(start, delay)
  }

  /** Its worker ended. */
  function lose(call: Call, worker: Running, isGone: boolean): void {
    if (!worker.isEndedByUs) call.lost++
    const hasSaidNothing = call.isForetold && call.outlook === undefined && isGone
    const hasNotActed = call.isRead || call.isHeld || hasSaidNothing
    const isOver = call.isSettled() || call.isLate || isClosed
    if (hasNotActed && !isOver && call.lost < mostLost) {
      waiting.unshift(call)
      return
    }
    call.forget()
    if (call.isSettled()) return
    if (hasNotActed && call.isLate) call.timeOut()
    else if (hasNotActed && !isClosed)
      call.fail('unreadable', 'The file worker ended over it, twice.')
    else if (call.outlook) void lookFor(call, call.outlook)
    else interrupt(call)
  }

  const interrupt = (call: Call) =>
    call.fail('interrupted', 'The file worker was ended while it did this.')

  /** What is seen was done. What is not may have been, and changed again by others. */
  async function lookFor(call: Call, { sign, answer }: Outlook): Promise<void> {
    const look = begin('seen', sign, { deadlineMs: times.look }, true)
    const { isSeen } = await look.catch(() => ({ isSeen: false }))
    if (isSeen) call.answer({ id: call.id, answer }, Buffer.alloc(0))
    else interrupt(call)
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
      if (call.isSettled()) return
      call.isHeld = false
      holderOf(call)?.go(call)
    } catch {
      withdraw(call, 'cancelled', 'The call could not be recorded.')
    }
  }

  function onDeadline(call: Call): void {
    call.isLate = true
    // What may have changed something is answered when it is known whether it has, and that it will not any more.
    if (!call.isSettled() && !isActing(call)) call.timeOut()
    const holder = holderOf(call)
    holder?.stop(call, () => {
      log.warn('the file worker is stuck and was ended', { op: call.op })
      replace(holder)
    })
    unqueue(call)
  }

  /** Another set of roots, and a worker for it. Those that were not ready yet never will be needed. */
  function change(next: readonly Root[]): void {
    if (isClosed) throw new CoworkError('interrupted', ending)
    roots = next
    for (const worker of alive) if (worker.readyAt === undefined) worker.kill()
    start()
  }

  /** Files that were put in the place of others: a new worker only where the wall keeps this one from them. */
  async function repin(moved: readonly Root[]): Promise<void> {
    const { left } = await begin('repin', { roots: moved }, {}, true)
    if (left.length > 0) await renew()
  }

  /** However many ask for it, one is starting at most, and one comes after that. */
  function renew(): Promise<void> {
    if (newest?.readyAt === undefined) isWanted = true
    else start()
    return rooted()
  }

  async function rooted(): Promise<void> {
    const waiter = Promise.withResolvers<void>()
    rooting.add(waiter)
    const fail = () => waiter.reject(new CoworkError('timeout', 'The file worker did not start.'))
    const late = setTimeout(fail, times.start)
    await waiter.promise.finally(() => clearTimeout(late))
  }

  function begin<O extends Op>(
    op: O,
    ask: Ask<O>,
    more: AskOptions,
    isFirst: boolean,
  ): Promise<Answered<O>> {
    const { body, grants = [], signal, deadlineMs = times.deadline, enter, onProgress } = more
    const id = ++lastId
    const { call, promise } = createCall(
      {
        id,
        op,
        ask,
        body,
        grants,
        onProgress,
        ...(enter && { onTaken: () => void release(call, enter) }),
      },
      deadlines.delete,
    )
    deadlines.add(call, deadlineMs)
    const abort = () => {
      if (call.isSettled() || (!call.isRead && holderOf(call))) return
      withdraw(call, 'cancelled', 'The call was cancelled.')
    }
    if (isFirst) waiting.unshift(call)
    else waiting.push(call)
    if (isClosed) withdraw(call, 'interrupted', ending)
    else if (signal?.aborted) abort()
    else pump()
    signal?.addEventListener('abort', abort)
    // The worker answers an operation with what the protocol says of it.
    return promise.finally(() => signal?.removeEventListener('abort', abort)) as Promise<
      Answered<O>
    >
  }

  start()

  return {
    ask: (op, ask, more = {}) => begin(op, ask, more, false),

    async setRoots(next) {
      const moved = movedSince(roots, next)
      if (moved && !isClosed) {
        roots = next
        if (moved.length > 0) await repin(moved)
        return
      }
      change(next)
      await rooted()
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
      await Promise.all(old.map(end))
    },

    containment: () => known ?? 'starting',

    async close() {
      isClosed = true
      clearTimeout(pause)
      current = undefined
      for (const { reject } of rooting) reject(new CoworkError('interrupted', ending))
      for (const call of waiting.slice()) withdraw(call, 'interrupted', ending)
      const finish = async (worker: Running) => {
        const late = setTimeout(worker.kill, worker.readyAt === undefined ? 0 : times.close)
        worker.end()
        await worker.ended
        clearTimeout(late)
      }
      await Promise.all([...alive].map(finish))
    },
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
