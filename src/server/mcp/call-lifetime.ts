import type { ServerContext } from '@modelcontextprotocol/server'
import { noProgress } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'

export type CallLifetime = ReturnType<typeof createCallLifetime>

/**
 * Creates the abort signal of a call. With the current protocol over HTTP, the request's signal
 * also fires after the response, which must not stop work that the call left running.
 */
export function createCallLifetime({ mcpReq: { signal } }: ServerContext) {
  const own = new AbortController()
  const end = () => own.abort(signal.reason)
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  let isOver = false
  return {
    signal: own.signal,
    isOver: () => isOver || own.signal.aborted,
    end,
    cut() {
      isOver = true
      signal.removeEventListener('abort', end)
    },
  }
}

/**
 * Reports progress only if the client requested it, only forwards, and never after the response.
 */
export function createProgressReporter(
  { mcpReq }: ServerContext,
  { isOver }: CallLifetime,
): Call['progress'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return noProgress
  let last = -Infinity
  return (progress, total, message) => {
    if (isOver() || progress <= last) return
    last = progress
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    }
    // A failure means that the client is gone.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
