import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Send, ExportResult } from './sender.ts'

export type OutboxOptions<Item> = {
  readonly send: Send
  readonly encode: (items: readonly Item[]) => object
  readonly log: Log
  /** How many go together, and how many wait at most: whatever comes then is dropped. */
  readonly atOnce: number
  readonly most: number
}

const firstPause = 1000
const longestPause = 60_000

/** Spans on their way out. It never makes anyone wait and never grows beyond its bound (L13). */
export function createExportQueue<Item>({ send, encode, log, atOnce, most }: OutboxOptions<Item>) {
  const waiting: Item[] = []
  let sending: Promise<void> | undefined
  let dropped = 0
  let failures = 0
  let pausedUntil = 0

  function flush(until: AbortSignal): Promise<void> {
    if (performance.now() < pausedUntil) return sending ?? Promise.resolve()
    sending ??= drain(until)
      .catch((error: unknown) => log.error('telemetry stopped', { error: errorMessage(error) }))
      .finally(() => (sending = undefined))
    return sending
  }

  async function drain(until: AbortSignal): Promise<void> {
    while (waiting.length > 0 && !until.aborted) {
      const items = waiting.slice(0, atOnce)
      const sent = await send('traces', encode(items), until)
      if (sent.as === 'again') return pause(sent)
      if (sent.as === 'refused') {
        tell(sent.why)
        dropped += items.length
      } else {
        if (failures > 0) log.info('telemetry is taken again', { dropped })
        failures = 0
        dropped += sent.rejected
      }
      waiting.splice(0, items.length)
    }
  }

  function pause({ why, waitMs }: Extract<ExportResult, { as: 'again' }>): void {
    tell(why)
    // With a part left to chance, so that many senders do not come back at once.
    const backOff = Math.min(firstPause * 2 ** (failures - 1), longestPause) * (0.5 + Math.random())
    pausedUntil = performance.now() + (waitMs ?? backOff)
  }

  /** Once, until it works again. */
  function tell(why: string): void {
    if (failures++ === 0) log.warn('telemetry is not taken', { why })
  }

  return {
    add(item: Item, until: AbortSignal): void {
      if (waiting.length >= most) dropped += 1
      else if (waiting.push(item) === atOnce) setImmediate(() => void flush(until))
    },
    flush,
    dropped: () => dropped,
    /** What is left is tried once more, whatever the collector said before. */
    async close(until: AbortSignal): Promise<void> {
      await sending
      pausedUntil = 0
      await flush(until)
    },
  }
}
