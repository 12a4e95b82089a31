import type { ServerContext } from '@modelcontextprotocol/server'
import { noProgress } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'

export type CallLifetime = ReturnType<typeof createCallLifetime>

/**
 * The request's signal fires on the newer HTTP also when the exchange is over. A call's own must not:
 * what it left running is not to be stopped by its own answer.
 */
export function createCallLifetime({ mcpReq: { signal } }: ServerContext) {
  const own = new AbortController()
  const end = () => own.abort(signal.reason)
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  let over = false
  return {
    signal: own.signal,
    isOver: () => over || own.signal.aborted,
    end,
    cut() {
      over = true
      signal.removeEventListener('abort', end)
    },
  }
}

/** Sent only to those who asked, only forwards, and never after the answer. */
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
    // Nobody is left to be told when this fails.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
