import { errorMessage } from '#base/errors.ts'
import { getErrno, toFileError, FileError } from '../confine/file-error.ts'
import type { OpContext, OpMap, RunOp } from './context.ts'
import type { Frame } from './frames.ts'
import type {
  CancelHead,
  ProceedHead,
  Op,
  ExpectedResult,
  Progress,
  ReplyHead,
  RequestHead,
  WorkerSetup,
} from './protocol.ts'

/** Text may be twice as large in UTF-8 as on disk; names and search hits travel in the head. */
export const frameLimits = ({ maxFileBytes, maxBinaryReadBytes }: WorkerSetup['limits']) => ({
  head: 64 * 1024 ** 2,
  body: 2 * Math.max(maxFileBytes, maxBinaryReadBytes) + 1024 ** 2,
})

type CallState = { isCancelled: boolean; readonly deferral?: PromiseWithResolvers<void> }

/** Operations that await the entry themselves; all others await it before they start. */
const opsAwaitingEntry: ReadonlySet<Op> = new Set<Op>(['write', 'edit', 'read'])

function createDeferral(): PromiseWithResolvers<void> {
  const deferral = Promise.withResolvers<void>()
  // Not every operation reaches the point where it awaits the promise.
  deferral.promise.catch(() => undefined)
  return deferral
}

function cancel(state: CallState | undefined): void {
  if (!state) return
  state.isCancelled = true
  state.deferral?.reject(new FileError('cancelled', 'The call was cancelled.'))
}

type ServeDeps = {
  readonly ops: OpMap
  readonly context: Omit<OpContext, 'yieldIfDue' | 'waitForEntry' | 'reportProgress'>
  /** Returns false if the frame is too large to send: the daemon would treat it as a protocol error. */
  send(head: ReplyHead, body?: Uint8Array): boolean
  /** Resolves when the frame is written to the pipe, so that the daemon has it even if the worker dies. */
  sendAndWait(head: ReplyHead): Promise<void>
  logError(message: string): void
}

/** Runs requests as they arrive; long operations give way to others through `context.yieldIfDue`. */
export function serve({ ops, context, send, sendAndWait, logError }: ServeDeps) {
  const { startSlice, yieldIfDue } = createTimeSlicer()
  const running = new Map<number, CallState>()
  let onIdle: (() => void) | undefined

  async function run(request: RequestHead, body: Buffer): Promise<void> {
    const { id, op, ask, deferred } = request
    const state: CallState = { isCancelled: false, ...(deferred && { deferral: createDeferral() }) }
    const { deferral } = state
    running.set(id, state)
    startSlice()
    try {
      if (!Object.hasOwn(ops, op)) throw new FileError('unreadable', `Unknown operation: ${op}.`)
      // The protocol types pair requests with responses; the map holds the union.
      const runOp = ops[op] as RunOp<Op>
      if (deferral && !opsAwaitingEntry.has(op)) await deferral.promise
      const waitForEntry = async (expected?: ExpectedResult) => {
        if (expected) await sendAndWait({ id, expected })
        await deferral?.promise
      }
      const reportProgress = request.progress
        ? createProgress((reached) => void send({ id, progress: reached }))
        : () => undefined
      const opContext: OpContext = {
        ...context,
        yieldIfDue,
        waitForEntry,
        reportProgress,
      }
      const result = await runOp(opContext, ask as never, body, () => state.isCancelled)
      const { body: bytes, ...answer } = result
      // Only reads can exceed the limit: the answer to a change is short.
      if (!send({ id, answer }, bytes))
        throw new FileError('too_large', 'Result too large. Request a smaller part.')
    } catch (error) {
      const { code, message, path, cause } = toFileError(error)
      if (cause !== undefined && getErrno(cause) === undefined)
        logError((cause instanceof Error && cause.stack) || errorMessage(cause))
      send({ id, error: { code, message, ...(path !== undefined && { path }) } })
    } finally {
      running.delete(id)
      if (running.size === 0) onIdle?.()
    }
  }

  return {
    receive({ head, body }: Frame): void {
      const message = head as RequestHead | ProceedHead | CancelHead
      if ('cancel' in message) cancel(running.get(message.cancel))
      else if ('proceed' in message) running.get(message.proceed)?.deferral?.resolve()
      else void run(message, body)
    },
    /** Cancels every running call and resolves when none is running. */
    async stop(): Promise<void> {
      for (const state of running.values()) cancel(state)
      if (running.size > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    },
  }
}

/** People cannot read faster updates. */
const progressIntervalMs = 250

/** Sends the first update, then at most one per interval, and the last. */
export function createProgress(send: (progress: Progress) => void, now = () => performance.now()) {
  let lastSentAt = -Infinity
  return (done: number, total?: number): void => {
    const time = now()
    if (done !== total && time - lastSentAt < progressIntervalMs) return
    lastSentAt = time
    send({ done, ...(total !== undefined && { total }) })
  }
}

/** The time slice of one operation in milliseconds, so that a small read passes a long search. */
const maxSliceMs = 4

/**
 * Makes long operations give way. One of them resumes per round of the event loop, so that new requests wait for
 * one time slice, however many operations run.
 */
export function createTimeSlicer(now: () => number = () => performance.now()) {
  const waiting: (() => void)[] = []
  let sliceStart = now()

  function runNext(): void {
    sliceStart = now()
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(runNext)
  }

  return {
    startSlice(): void {
      sliceStart = now()
    },
    /** Returns immediately within the time slice; otherwise waits until the requests that arrived are served. */
    async yieldIfDue(): Promise<void> {
      if (now() - sliceStart < maxSliceMs) return
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length === 1) setImmediate(runNext)
      })
    },
  }
}

/** Tells the worker to clean up and exit immediately. Windows has no such signal: the process is killed. */
export const shutdownSignal = process.platform === 'win32' ? 'SIGKILL' : 'SIGUSR2'
