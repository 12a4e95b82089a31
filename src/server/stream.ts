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

/** Sends chunks as fast as the client reads them. The signal aborts when the client disconnects. */
export function streamResponse(
  c: Context<Env>,
  make: (signal: AbortSignal) => AsyncGenerator<string, void>,
  { type, log, headers }: StreamOptions,
): Response {
  const disconnected = new AbortController()
  const chunks = make(disconnected.signal)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          if (disconnected.signal.aborted) return
          log.error('stream failed', { path: c.req.path, error: errorMessage(error) })
          // Destroy the connection: a truncated response must not look complete.
          c.env.outgoing.destroy()
        }
      },
      cancel: () => disconnected.abort(),
    },
    // No chunk is produced before a pull: HEAD never pulls.
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { ...privateHeaders, 'Content-Type': type, ...headers } })
}
