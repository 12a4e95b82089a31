import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'

const day = 24 * 60 * 60 * 1000

/** The first run starts the file worker: the daemon serves sooner when they do not start together. */
const startDelayMs = 1000

/** Does these steps soon after the start and then every day. A step that fails does not prevent the next. */
export function startUpkeep(
  steps: Readonly<Record<string, () => Promise<void>>>,
  log: Log,
  intervalMs = day,
) {
  const failure = 'the upkeep of files failed'
  let isOver = false

  async function run(): Promise<void> {
    for (const [what, step] of Object.entries(steps))
      try {
        if (!isOver) await step()
      } catch (error) {
        // What ends with the daemon is no trouble.
        if (!isOver) log.warn(failure, { what, error: messageOf(error) })
      }
  }
  const task = startPeriodicTask({ intervalMs, run, failure, log, runsAtStart: false })
  task.runWithin(startDelayMs)

  return {
    async close(): Promise<void> {
      isOver = true
      await task.close()
    },
  }
}
