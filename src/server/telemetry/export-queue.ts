import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Send, ExportResult } from './sender.ts'

export type ExportQueueOptions<Item> = {
  readonly send: Send
  readonly encode: (items: readonly Item[]) => object
  readonly log: Log
  /** How many go together, and how many wait at most: whatever comes then is dropped. */
  readonly batchSize: number
  readonly maxQueued: number
}

const initialBackoffMs = 1000
const maxBackoffMs = 60_000

/** Spans on their way out. It never makes anyone wait and never grows beyond its bound (L13). */
export function createExportQueue<Item>({
  send,
  encode,
  log,
  batchSize,
  maxQueued,
}: ExportQueueOptions<Item>) {
  const queue: Item[] = []
  let sending: Promise<void> | undefined
  let droppedCount = 0
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
    while (queue.length > 0 && !until.aborted) {
      const items = queue.slice(0, batchSize)
      const sent = await send('traces', encode(items), until)
      if (sent.status === 'again') return backOff(sent)
      if (sent.status === 'refused') {
        logFailureOnce(sent.reason)
        droppedCount += items.length
      } else {
        if (failures > 0) log.info('telemetry is taken again', { droppedCount })
        failures = 0
        droppedCount += sent.rejected
      }
      queue.splice(0, items.length)
    }
  }

  function backOff({ reason, retryAfterMs }: Extract<ExportResult, { status: 'again' }>): void {
    logFailureOnce(reason)
    // With a part left to chance, so that many senders do not come back at once.
    const delay =
      Math.min(initialBackoffMs * 2 ** (failures - 1), maxBackoffMs) * (0.5 + Math.random())
    pausedUntil = performance.now() + (retryAfterMs ?? delay)
  }

  /** Once, until it works again. */
  function logFailureOnce(why: string): void {
    if (failures++ === 0) log.warn('telemetry is not taken', { why })
  }

  return {
    add(item: Item, until: AbortSignal): void {
      if (queue.length >= maxQueued) droppedCount += 1
      else if (queue.push(item) === batchSize) setImmediate(() => void flush(until))
    },
    flush,
    droppedCount: () => droppedCount,
    /** What is left is tried once more, whatever the collector said before. */
    async close(until: AbortSignal): Promise<void> {
      await sending
      pausedUntil = 0
      await flush(until)
    },
  }
}
