import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'

const day = 24 * 60 * 60 * 1000

/** What is done at start and then every day, in the background: one step that fails does not keep the next. */
export function startUpkeep(
  steps: Readonly<Record<string, () => Promise<void>>>,
  log: Log,
  everyMs = day,
) {
  let running: Promise<void> = Promise.resolve()
  let isOver = false

  async function run(): Promise<void> {
    for (const [what, step] of Object.entries(steps))
      try {
        if (!isOver) await step()
      } catch (error) {
        // What ends with the daemon is no trouble.
        if (!isOver) log.warn('the upkeep of files failed', { what, error: messageOf(error) })
      }
  }
  const next = () => (running = running.then(run))
  void next()
  const timer = setInterval(() => void next(), everyMs).unref()

  return {
    /** Resolves when what is under way is done. */
    done: () => running,
    async close(): Promise<void> {
      isOver = true
      clearInterval(timer)
      await running
    },
  }
}
