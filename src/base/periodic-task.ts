import { errorMessage } from './errors.ts'
import type { Log } from './log.ts'

/** The clock of a periodic task. Tests pass their own. */
export type Timers = {
  now(): number
  /** Returns a function that cancels the run. */
  schedule(delayMs: number, run: () => void): () => void
}

const realTimers: Timers = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    // A pending run must not keep the process alive.
    const timer = setTimeout(run, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

type Options = {
  readonly intervalMs: number
  /** May return the delay in milliseconds until the next run; the default is the interval. */
  readonly run: () => Promise<number | void>
  /** The log message for a failed run. The next run still follows after the interval. */
  readonly failure: string
  readonly log: Pick<Log, 'error'>
  /** Whether the first run starts immediately instead of after one interval. */
  readonly runsAtStart?: boolean
  readonly timers?: Timers
}

export type PeriodicTask = ReturnType<typeof startPeriodicTask>

/** Runs a function periodically, one run at a time. Logs failed runs. */
export function startPeriodicTask(options: Options) {
  const { intervalMs, run, failure, log, runsAtStart = true, timers = realTimers } = options
  let next: { readonly dueAt: number; readonly cancel: () => void } | undefined
  let running: Promise<void> | undefined
  let queued: Promise<void> | undefined
  let isClosed = false

  async function runOnce(): Promise<void> {
    // Yields first: the code that starts the task is still setting up the dependencies of `run`.
    await Promise.resolve()
    if (isClosed) return
    let delayMs = intervalMs
    try {
      delayMs = (await run()) ?? intervalMs
    } catch (error) {
      // A failure during shutdown is expected.
      if (!isClosed) log.error(failure, { error: errorMessage(error) })
    }
    runWithin(delayMs)
  }

  /** Makes the next run start within this time. */
  function runWithin(delayMs: number): void {
    if (isClosed) return
    const dueAt = timers.now() + delayMs
    if (next && next.dueAt <= dueAt) return
    next?.cancel()
    const cancel = timers.schedule(delayMs, () => {
      next = undefined
      void runNow()
    })
    next = { dueAt, cancel }
  }

  /** Runs now. During a run, queues one more, because the current run may have read old data. Resolves after that run. */
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
    /** Stops the schedule and waits for the current run. */
    async close(): Promise<void> {
      isClosed = true
      next?.cancel()
      await running
    },
  }
}
