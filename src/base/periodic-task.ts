import { errorMessage } from './errors.ts'
import type { Log } from './log.ts'

/** Time as a periodic task sees it; tests bring their own. */
export type Timers = {
  now(): number
  /** Gives back how to cancel it. */
  after(delayMs: number, run: () => void): () => void
}

const realTimers: Timers = {
  now: () => performance.now(),
  after(delayMs, run) {
    // What is only due later must not hold up the end of the process.
    const timer = setTimeout(run, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

type Options = {
  readonly intervalMs: number
  /** May give after how many milliseconds it runs next, where that is not the interval. */
  readonly run: () => Promise<number | void>
  /** What the log says when a run fails. The next run comes after the interval all the same. */
  readonly failure: string
  readonly log: Pick<Log, 'error'>
  /** Whether the first run is now and not after an interval. */
  readonly runsAtStart?: boolean
  readonly timers?: Timers
}

export type PeriodicTask = ReturnType<typeof startPeriodicTask>

/** Runs something again and again, one run at a time. A failed run is logged. */
export function startPeriodicTask(options: Options) {
  const { intervalMs, run, failure, log, runsAtStart = true, timers = realTimers } = options
  let next: { readonly dueAt: number; readonly cancel: () => void } | undefined
  let running: Promise<void> | undefined
  let queued: Promise<void> | undefined
  let isClosed = false

  async function runOnce(): Promise<void> {
    // Not at once: whoever starts a task is still setting up what it runs with.
    await Promise.resolve()
    if (isClosed) return
    let delayMs = intervalMs
    try {
      delayMs = (await run()) ?? intervalMs
    } catch (error) {
      // What fails because everything ends is no trouble.
      if (!isClosed) log.error(failure, { error: errorMessage(error) })
    }
    runWithin(delayMs)
  }

  /** Runs in this many milliseconds at the latest. */
  function runWithin(delayMs: number): void {
    if (isClosed) return
    const dueAt = timers.now() + delayMs
    if (next && next.dueAt <= dueAt) return
    next?.cancel()
    const cancel = timers.after(delayMs, () => {
      next = undefined
      void runNow()
    })
    next = { dueAt, cancel }
  }

  /** Runs now, or once more after the run under way, which may have looked too early. Resolves when that is over. */
  function runNow(): Promise<void> {
    if (isClosed) return Promise.resolve()
    if (!running) return (running = runOnce().finally(() => (running = undefined)))
    queued ??= running.then(() => {
      queued = undefined
      return runNow()
    })
    return queued
  }

  if (runsAtStart) void runNow()
  else runWithin(intervalMs)

  return {
    runNow,
    runWithin,
    /** Starts no more runs and waits for the one under way. */
    async close(): Promise<void> {
      isClosed = true
      next?.cancel()
      await running
    },
  }
}
