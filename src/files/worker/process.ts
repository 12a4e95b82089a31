import { spawn } from 'node:child_process'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { createFrameReader, encodeFrame } from './frames.ts'
import { frameLimits, shutdownSignal } from './serve.ts'
import type {
  CancelHead,
  ProceedHead,
  Op,
  ExpectedResult,
  RootedPath,
  Progress,
  ReplyHead,
  RequestHead,
  Root,
  WorkerSetup,
} from './protocol.ts'

type ReadyHead = Extract<ReplyHead, { ready: unknown }>
export type AnswerHead = Extract<ReplyHead, { answer: unknown } | { error: unknown }>

/** An operation that waits for a worker or runs in one. */
export type WorkerCall = {
  readonly id: number
  readonly op: Op
  readonly ask: unknown
  readonly body: Uint8Array | undefined
  readonly isRead: boolean
  readonly grants: readonly string[]
  readonly onProgress: ((progress: Progress) => void) | undefined
  onReceived(): void
  /** The worker must not make visible changes yet. */
  isDeferred: boolean
  isLate: boolean
  /** The caller has an answer. The worker may still run the operation. */
  isSettled: boolean
  crashCount: number
  expected: ExpectedResult | undefined
  worker: WorkerProcess | undefined
  readonly deadline: NodeJS.Timeout
  readonly resolve: (answer: object) => void
  readonly reject: (error: Error) => void
}

export type WorkerProcess = {
  /** The roots it was started with, including later updates. */
  roots: readonly Root[]
  readonly calls: ReadonlyMap<number, WorkerCall>
  readyAt: number | undefined
  /** The daemon is ending the process, so its end does not count as a crash. */
  isEnding: boolean
  readonly ended: Promise<void>
  canTakeCall(): boolean
  assign(call: WorkerCall): void
  /** Allows visible changes from now on. */
  release(call: WorkerCall): void
  cancel(call: WorkerCall): void
  /** Resolves when no write is running, or after the timeout. */
  waitForWrites(timeoutMs: number): Promise<void>
  /** Folders that may contain a temporary file of the worker. */
  unfinishedFolders(): readonly string[]
  finish(): void
  /** Makes the worker delete its temporary files and exit immediately. */
  shutDown(): void
  kill(): void
}

type ProcessOptions = {
  readonly setup: WorkerSetup
  readonly entry: string
  readonly landlock: boolean
  readonly warm: boolean
  readonly log: Log
  onReady(head: ReadyHead): void
  onAnswer(call: WorkerCall, head: AnswerHead, body: Buffer): void
  onCapacity(): void
}

/** Further calls queue in the daemon, where they cost little. */
const maxCalls = 128
const startTimeoutMs = 30_000

const launcher = join(import.meta.dirname, 'launch.ts')
const nodeFlags = '--disable-warning=ExperimentalWarning'

export function startProcess(options: ProcessOptions): WorkerProcess {
  const { setup, log, onReady, onAnswer, onCapacity } = options
  const child = spawnWorker(options)
  const calls = new Map<number, WorkerCall>()
  const kill = () => void child.kill('SIGKILL')
  const startTimer = setTimeout(kill, startTimeoutMs)

  function receive(reply: ReplyHead, body: Buffer): void {
    if ('ready' in reply) {
      clearTimeout(startTimer)
      worker.readyAt = Date.now()
      return onReady(reply)
    }
    const call = calls.get(reply.id)
    // A process that exits late may answer a call that now belongs to another process.
    if (call?.worker !== worker) return
    if ('expected' in reply) call.expected = reply.expected
    else if ('progress' in reply) call.onProgress?.(reply.progress)
    else {
      calls.delete(call.id)
      call.worker = undefined
      onAnswer(call, reply, body)
      onCapacity()
    }
  }

  const read = createFrameReader(frameLimits(setup.limits), ({ head, body }) =>
    receive(head as ReplyHead, body),
  )
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      log.error('file worker killed: invalid frame', {
        error: errorMessage(error),
      })
      kill()
    }
  })
  createInterface({ input: child.stderr }).on('line', (line) => log.warn(line))
  child.stdin.on('drain', onCapacity)
  // `ended` reports the end of the process.
  for (const stream of [child.stdin, child.stdout, child.stderr])
    stream.on('error', () => undefined)

  function send(
    head: WorkerSetup | RequestHead | ProceedHead | CancelHead,
    body?: Uint8Array,
    onSent?: () => void,
  ): void {
    const [start, rest] = encodeFrame(head, body)
    child.stdin.cork()
    child.stdin.write(start)
    child.stdin.write(rest, onSent)
    child.stdin.uncork()
  }

  const worker: WorkerProcess = {
    roots: setup.roots,
    calls,
    readyAt: undefined,
    isEnding: false,
    ended: new Promise((resolve) => {
      child.once('error', (error) => {
        log.error('file worker failed to start', { error: errorMessage(error) })
        resolve()
      })
      // Unlike 'exit', 'close' follows the last answer.
      child.once('close', () => resolve())
    }),
    // A worker with a late call may be stuck.
    canTakeCall: () =>
      calls.size < maxCalls &&
      !child.stdin.writableNeedDrain &&
      !calls.values().some(({ isLate }) => isLate),
    assign(call) {
      calls.set(call.id, call)
      call.worker = worker
      call.expected = undefined
      const { id, op, ask, body, isDeferred, onProgress } = call
      const head = { id, op, ask, ...(isDeferred && { deferred: true as const }) }
      send({ ...head, ...(onProgress && { progress: true }) }, body, call.onReceived)
    },
    release: ({ id }) => send({ proceed: id }),
    cancel: ({ id }) => send({ cancel: id }),
    async waitForWrites(timeoutMs) {
      const deadline = Date.now() + timeoutMs
      // Cancelled writes count too: they may have a temporary file to remove.
      while (calls.values().some(({ isRead }) => !isRead) && Date.now() < deadline) await sleep(5)
    },
    unfinishedFolders: () =>
      [...calls.values()].flatMap(({ isRead, ask }) => {
        const { to, at } = ask as { readonly to?: RootedPath; readonly at?: RootedPath }
        const target = to ?? at
        const root = setup.roots.find(({ key }) => key === target?.root)
        if (isRead || !target || root?.kind !== 'folder') return []
        return [join(root.path, dirname(target.path))]
      }),
    finish: () => void child.stdin.end(),
    shutDown: () => void child.kill(shutdownSignal),
    kill,
  }
  void worker.ended.then(() => clearTimeout(startTimer))
  send(setup)
  // The launcher reads the first setup frame, and the worker that it becomes reads the second.
  if (isLaunched(options)) send(setup)
  return worker
}

const isLaunched = ({ landlock }: { readonly landlock: boolean }) =>
  landlock && process.platform === 'linux'

function spawnWorker(options: Pick<ProcessOptions, 'entry' | 'landlock' | 'warm'>) {
  const { entry, warm } = options
  const cache = module.getCompileCacheDir()
  return spawn(
    process.execPath,
    [
      nodeFlags,
      ...(isLaunched(options) ? [launcher, entry, ...(warm ? ['--warm'] : [])] : [entry]),
    ],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // The worker gets no secret from the daemon's environment.
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
      cwd: '/',
      windowsHide: true,
    },
  )
}
