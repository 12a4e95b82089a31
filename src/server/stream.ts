import type { Context } from 'hono'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { privateHeaders } from './guards.ts'
import type { Env } from './guards.ts'

export type StreamOptions = {
  readonly type: string
  readonly log: Log
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends pieces as fast as the other side takes them. The signal fires when it leaves. */
export function streamResponse(
  c: Context<Env>,
  make: (signal: AbortSignal) => AsyncGenerator<string, void>,
  { type, log, headers }: StreamOptions,
): Response {
  const gone = new AbortController()
  const pieces = make(gone.signal)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          if (gone.signal.aborted) return
          log.error('a stream broke off', { path: c.req.path, error: errorMessage(error) })
          // What is cut short must not look complete.
          c.env.outgoing.destroy()
        }
      },
      cancel: () => gone.abort(),
    },
    // Nothing is made before it is asked for: HEAD never asks.
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { ...privateHeaders, 'Content-Type': type, ...headers } })
}
