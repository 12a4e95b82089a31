import { Socket } from 'node:net'
import { openRoots } from '../confine/roots.ts'
import type { Roots } from '../confine/types.ts'
import { createGuard } from '../rules/guard.ts'
import type { OpMap } from './context.ts'
import { createFrameReader, encodeFrame, isWithin } from './frames.ts'
import type { Frame, FrameLimits } from './frames.ts'
import { frameLimits, shutdownSignal, serve } from './serve.ts'
import type { ReplyHead, WorkerSetup } from './protocol.ts'

/** Generous, because the daemon limits its own requests. */
const requestLimits = { head: 2 ** 26, body: 2 ** 32 }

type WorkerHooks = {
  onStart?(roots: Roots, setupRoots: WorkerSetup['roots']): void
  /** Runs synchronously before an immediate exit. */
  onShutdown?(): void
}

/** Runs the worker: reads the setup, then serves requests until the daemon closes stdin or exits. */
export function runWorker(ops: OpMap, { onStart, onShutdown }: WorkerHooks = {}): void {
  // A terminal or service manager signals the daemon and the worker alike; the daemon decides when the worker ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  if (shutdownSignal !== 'SIGKILL')
    process.once(shutdownSignal, () => {
      onShutdown?.()
      process.exit(0)
    })
  // Only replies go to stdout. Output of libraries goes to stderr, which the daemon logs.
  const output = new Socket({ fd: 1, readable: false, writable: true })
  Object.defineProperty(process, 'stdout', { get: () => process.stderr })
  const input = new Socket({ fd: 0, readable: true, writable: false })

  function send(
    limits: FrameLimits,
    head: ReplyHead,
    body?: Uint8Array,
    onSent?: () => void,
  ): boolean {
    const frame = encodeFrame(head, body)
    if (!isWithin(limits, frame)) return false
    output.cork()
    output.write(frame[0])
    const hasCapacity = output.write(frame[1], onSent)
    output.uncork()
    // Backpressure: stop reading requests while the daemon does not read replies.
    if (!hasCapacity) input.pause()
    return true
  }
  output.on('drain', () => input.resume())
  output.on('error', () => process.exit(0))

  function start(setup: WorkerSetup): ReturnType<typeof serve> {
    const limits = frameLimits(setup.limits)
    const roots = openRoots(setup)
    const context = { roots, guard: createGuard(setup.guard), limits: setup.limits }
    const server = serve({
      ops,
      context,
      send: (head, body) => send(limits, head, body),
      sendAndWait: (head) =>
        new Promise((resolve) => {
          send(limits, head, undefined, resolve)
        }),
      logError: (message) => process.stderr.write(`${message}\n`),
    })
    onStart?.(roots, setup.roots)
    const isRestricted = process.argv.includes('landlock')
    send(limits, { ready: isRestricted ? 'landlock' : roots.containment, missing: roots.missing })
    return server
  }

  let server: ReturnType<typeof serve> | undefined
  const onFrame = (frame: Frame) => {
    if (server) server.receive(frame)
    else server = start(frame.head as WorkerSetup)
  }
  input.on('data', createFrameReader(requestLimits, onFrame))
  input.on('end', () => {
    void (server?.stop() ?? Promise.resolve()).then(() => output.end(() => process.exit(0)))
  })
}
