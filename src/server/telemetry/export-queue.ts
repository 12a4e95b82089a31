import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Send, ExportResult } from './sender.ts'

export type ExportQueueOptions<Item> = {
  readonly send: Send
  readonly encode: (items: readonly Item[]) => object
  readonly log: Log
  /** The batch size and the capacity; items beyond the capacity are dropped. */
  readonly batchSize: number
  readonly maxQueued: number
}

const initialBackoffMs = 1000
const maxBackoffMs = 60_000

/** Queues spans for export. Never blocks a caller and never exceeds its capacity (L13). */
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
        if (failures > 0) log.info('telemetry export restored', { droppedCount })
        failures = 0
        droppedCount += sent.rejected
      }
      queue.splice(0, items.length)
    }
  }

  function backOff({ reason, retryAfterMs }: Extract<ExportResult, { status: 'again' }>): void {
    logFailureOnce(reason)
    // Random jitter, so many senders do not retry at the same time.
    const delay =
      Math.min(initialBackoffMs * 2 ** (failures - 1), maxBackoffMs) * (0.5 + Math.random())
    pausedUntil = performance.now() + (retryAfterMs ?? delay)
  }

  /** Logs once per outage. */
  function logFailureOnce(why: string): void {
    if (failures++ === 0) log.warn('telemetry export failed', { why })
  }

  return {
    add(item: Item, until: AbortSignal): void {
      if (queue.length >= maxQueued) droppedCount += 1
      else if (queue.push(item) === batchSize) setImmediate(() => void flush(until))
    },
    flush,
    droppedCount: () => droppedCount,
    /** Sends the remaining items once more, even during a backoff. */
    async close(until: AbortSignal): Promise<void> {
      await sending
      pausedUntil = 0
      await flush(until)
    },
  }
}
