import { Socket } from 'node:net'
import { openRoots } from '../confine/roots.ts'
import type { Roots } from '../confine/types.ts'
import { createGuard } from '../rules/guard.ts'
import type { OpMap } from './context.ts'
import { createFrameReader, encodeFrame, isWithin } from './frames.ts'
import type { Frame, FrameLimits } from './frames.ts'
import { frameLimits, shutdownSignal, serve } from './serve.ts'
import type { ReplyHead, WorkerSetup } from './protocol.ts'

/** Generous: what the daemon sends it has measured itself. */
const inbound = { head: 2 ** 26, body: 2 ** 32 }

type Around = {
  begin?(roots: Roots, all: WorkerSetup['roots']): void
  /** What is done when it is told to go at once. Nothing is awaited. */
  leave?(): void
}

/** The worker's life: the setup comes first, then requests, until the daemon closes the line or is gone. */
export function runWorker(ops: OpMap, { begin, leave }: Around = {}): void {
  // A terminal and a service manager signal the daemon and us alike; the daemon decides when we end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  if (shutdownSignal !== 'SIGKILL')
    process.once(shutdownSignal, () => {
      leave?.()
      process.exit(0)
    })
  // Replies go out here alone. What a library prints goes where the daemon logs it.
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
    const hasRoom = output.write(frame[1], onSent)
    output.uncork()
    // A daemon that does not read gets no more to read.
    if (!hasRoom) input.pause()
    return true
  }
  output.on('drain', () => input.resume())
  output.on('error', () => process.exit(0))

  function start(setup: WorkerSetup): ReturnType<typeof serve> {
    const limits = frameLimits(setup.limits)
    const roots = openRoots(setup)
    const context = { roots, guard: createGuard(setup.guard), limits: setup.limits }
    const serving = serve({
      ops,
      context,
      send: (head, body) => send(limits, head, body),
      tell: (head) =>
        new Promise((resolve) => {
          send(limits, head, undefined, resolve)
        }),
      complain: (message) => process.stderr.write(`${message}\n`),
    })
    begin?.(roots, setup.roots)
    const isRestricted = process.argv.includes('landlock')
    send(limits, { ready: isRestricted ? 'landlock' : roots.containment, missing: roots.missing })
    return serving
  }

  let serving: ReturnType<typeof serve> | undefined
  const take = (frame: Frame) => {
    if (serving) serving.take(frame)
    else serving = start(frame.head as WorkerSetup)
  }
  input.on('data', createFrameReader(inbound, take))
  input.on('end', () => {
    void (serving?.end() ?? Promise.resolve()).then(() => output.end(() => process.exit(0)))
  })
}
