import { Session } from 'node:inspector/promises'

const idleDelayMs = 5000

/**
 * Runs the garbage collector when the daemon becomes idle. V8 collects only while it allocates: after 100,000 calls an
 * idle daemon kept 310 MB instead of 95 MB (N14).
 */
export function collectGarbageWhenIdle(
  onActivity: (listener: () => void) => () => void,
  { delayMs = idleDelayMs, collect = collectGarbage } = {},
): () => void {
  let timer: NodeJS.Timeout | undefined
  const stop = onActivity(() => {
    // refresh() also restarts a timer that has fired.
    if (timer) timer.refresh()
    else timer = setTimeout(() => void collect(), delayMs).unref()
  })
  return () => {
    stop()
    clearTimeout(timer)
  }
}

/** Collects and returns the pages to the system; `gc()` does not guarantee the latter. */
async function collectGarbage(): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
