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

/** A text may take twice the room in UTF-8 that it has on disk; names and hits travel in the head. */
export const frameLimits = ({ maxFileBytes, maxBinaryReadBytes }: WorkerSetup['limits']) => ({
  head: 64 * 1024 ** 2,
  body: 2 * Math.max(maxFileBytes, maxBinaryReadBytes) + 1024 ** 2,
})

type CallState = { isCancelled: boolean; readonly deferral?: PromiseWithResolvers<void> }

/** Operations that wait by themselves where it matters; any other waits before it begins. */
const opsAwaitingEntry: ReadonlySet<Op> = new Set<Op>(['write', 'edit', 'read'])

function createDeferral(): PromiseWithResolvers<void> {
  const deferral = Promise.withResolvers<void>()
  // An operation that fails before it comes to wait never listens.
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
  readonly context: Omit<OpContext, 'yieldIfDue' | 'waitForEntry' | 'progress'>
  /** False where it is too large, and was not sent: the other side would take it for the end of all order. */
  send(head: ReplyHead, body?: Uint8Array): boolean
  /** Resolves when the other side has it, whatever becomes of us. */
  sendAndWait(head: ReplyHead): Promise<void>
  logError(message: string): void
}

/** Runs what is asked, each as it comes; whatever takes long stands aside by `context.yieldIfDue`. */
export function serve({ ops, context, send, sendAndWait, logError }: ServeDeps) {
  const { startSlice, yieldIfDue } = createTimeSlicer()
  const running = new Map<number, CallState>()
  let onIdle: (() => void) | undefined

  async function run(request: RequestHead, body: Buffer): Promise<void> {
    const { id, op, ask, held } = request
    const state: CallState = { isCancelled: false, ...(held && { deferral: createDeferral() }) }
    const { deferral } = state
    running.set(id, state)
    startSlice()
    try {
      if (!Object.hasOwn(ops, op)) throw new FileError('unreadable', `There is no operation ${op}.`)
      // What belongs to what is the protocol's promise; the map holds them all.
      const runOp = ops[op] as RunOp<Op>
      if (deferral && !opsAwaitingEntry.has(op)) await deferral.promise
      const waitForEntry = async (outlook?: ExpectedResult) => {
        if (outlook) await sendAndWait({ id, outlook })
        await deferral?.promise
      }
      const progress = request.progress
        ? createProgress((reached) => void send({ id, progress: reached }))
        : () => undefined
      const opContext: OpContext = {
        ...context,
        yieldIfDue: yieldIfDue,
        waitForEntry: waitForEntry,
        progress,
      }
      const result = await runOp(opContext, ask as never, body, () => state.isCancelled)
      const { body: bytes, ...answer } = result
      // Of reads alone: what is answered to a change is short, however much was changed.
      if (!send({ id, answer }, bytes))
        throw new FileError('too_large', 'The answer is too large. Ask for a part of it.')
    } catch (error) {
      const { code, message, path, cause } = toFileError(error)
      if (cause !== undefined && getErrno(cause) === undefined)
        logError((cause instanceof Error && cause.stack) || errorMessage(cause))
      send({ id, fault: { code, message, ...(path !== undefined && { path }) } })
    } finally {
      running.delete(id)
      if (running.size === 0) onIdle?.()
    }
  }

  return {
    receive({ head, body }: Frame): void {
      const message = head as RequestHead | ProceedHead | CancelHead
      if ('cancel' in message) cancel(running.get(message.cancel))
      else if ('go' in message) running.get(message.go)?.deferral?.resolve()
      else void run(message, body)
    },
    /** Resolves when nothing runs any more; what only reads is told to stop. */
    async stop(): Promise<void> {
      for (const state of running.values()) cancel(state)
      if (running.size > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    },
  }
}

/** Nobody reads faster than this. */
const intervalMs = 250

/** Passes on how far an operation is: the first time, then a few times in a second, and when all is done. */
export function createProgress(send: (progress: Progress) => void, now = () => performance.now()) {
  let last = -Infinity
  return (done: number, total?: number): void => {
    const at = now()
    if (done !== total && at - last < intervalMs) return
    last = at
    send({ done, ...(total !== undefined && { total }) })
  }
}

/** How long one operation keeps the others waiting, in milliseconds: a small read passes a long search. */
const maxSliceMs = 4

/**
 * Lets long operations stand aside. One of them goes on after each round of the event loop, so that however many
 * there are, what arrives is looked at after one share.
 */
export function createTimeSlicer(now: () => number = () => performance.now()) {
  const waiting: (() => void)[] = []
  let since = now()

  function next(): void {
    since = now()
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(next)
  }

  return {
    startSlice(): void {
      since = now()
    },
    /** Goes on at once while the share lasts; else waits until whoever came in the meantime was served. */
    async yieldIfDue(): Promise<void> {
      if (now() - since < maxSliceMs) return
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length === 1) setImmediate(next)
      })
    },
  }
}

/** It is to go at once, and leave nothing unfinished behind. Elsewhere there is no such signal, and it is killed. */
export const shutdownSignal = process.platform === 'win32' ? 'SIGKILL' : 'SIGUSR2'
