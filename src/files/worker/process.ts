import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { createFrameReader, encodeFrame } from './frames.ts'
import { leaveSignal } from './leave-signal.ts'
import type { CancelHead, GoHead, ReplyHead, RequestHead, WorkerSetup } from './protocol.ts'
import { frameLimits } from './serve.ts'

type ReadyHead = Extract<ReplyHead, { ready: unknown }>
type OutlookHead = Extract<ReplyHead, { outlook: unknown }>
type ProgressHead = Extract<ReplyHead, { progress: unknown }>
export type AnswerHead = Exclude<ReplyHead, ReadyHead | OutlookHead | ProgressHead>

/** One process of the worker, as the daemon sees it. */
export type WorkerProcess = {
  /** Rejects when it ends before it is ready. */
  readonly ready: Promise<ReadyHead>
  readonly ended: Promise<void>
  /** Whether what was sent before has been taken. */
  hasRoom(): boolean
  /** `onTaken` is called when all of it has been handed over, or never will be. */
  send(head: RequestHead | GoHead | CancelHead, body?: Uint8Array, onTaken?: () => void): void
  /** No more requests: it finishes what it does, and goes. */
  end(): void
  /** It takes away what it has not finished, and goes at once. */
  leave(): void
  kill(): void
}

export type StartOptions = {
  readonly setup: WorkerSetup
  /** The program that is the worker. */
  readonly entry: string
  readonly landlock: boolean
  /** Fill the cache of compiled code. */
  readonly warm: boolean
  readonly log: Log
  onOutlook(head: OutlookHead): void
  onProgress(head: ProgressHead): void
  onAnswer(head: AnswerHead, body: Buffer): void
  /** There is room again. */
  onRoom(): void
}

const launcher = join(import.meta.dirname, 'launch.ts')
const quiet = '--disable-warning=ExperimentalWarning'

export function startWorker(options: StartOptions): WorkerProcess {
  const { setup, entry, warm, log, onOutlook, onProgress, onAnswer, onRoom } = options
  const isLaunched = options.landlock && process.platform === 'linux'
  const cache = module.getCompileCacheDir()
  const child = spawn(
    process.execPath,
    [quiet, ...(isLaunched ? [launcher] : []), entry, ...(isLaunched && warm ? ['--warm'] : [])],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Nothing of the daemon's surroundings is its business, secrets least of all.
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
      cwd: '/',
      windowsHide: true,
    },
  )
  const {
    promise: ready,
    resolve: becomeReady,
    reject: notReady,
  } = Promise.withResolvers<ReadyHead>()
  // Whoever waits for it hears of it; nobody has to.
  ready.catch(() => undefined)
  const ended = ending(child, log).then(() => notReady(new Error('the worker ended')))
  const kill = () => void child.kill('SIGKILL')

  const read = createFrameReader(frameLimits(setup.limits), ({ head, body }) => {
    const reply = head as ReplyHead
    if ('ready' in reply) becomeReady(reply)
    else if ('outlook' in reply) onOutlook(reply)
    else if ('progress' in reply) onProgress(reply)
    else onAnswer(reply, body)
  })
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      log.error('the file worker answered what is no answer and was ended', {
        error: messageOf(error),
      })
      kill()
    }
  })
  createInterface({ input: child.stderr }).on('line', (line) => log.warn(line))
  child.stdin.on('drain', onRoom)
  // It has ended, which is told elsewhere.
  for (const stream of [child.stdin, child.stdout, child.stderr])
    stream.on('error', () => undefined)

  const write = (head: unknown, body?: Uint8Array, onTaken?: () => void) => {
    const pieces = encodeFrame(head, body)
    if (pieces.length > 1) child.stdin.cork()
    for (const piece of pieces)
      child.stdin.write(piece, piece === pieces.at(-1) ? onTaken : undefined)
    if (pieces.length > 1) child.stdin.uncork()
  }
  write(setup)
  // The launcher has read the first and is gone when the worker begins.
  if (isLaunched) write(setup)

  return {
    ready,
    ended,
    hasRoom: () => !child.stdin.writableNeedDrain,
    send: write,
    end: () => void child.stdin.end(),
    leave: () => void child.kill(leaveSignal),
    kill,
  }
}

const ending = (child: ChildProcess, log: Log): Promise<void> =>
  new Promise((resolve) => {
    child.once('error', (error) => {
      log.error('the file worker could not be started', { error: messageOf(error) })
      resolve()
    })
    // After the last of what it had to say.
    child.once('close', () => resolve())
  })
