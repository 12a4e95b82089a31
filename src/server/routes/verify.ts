import * as z from 'zod'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { verifyLedger } from '#ledger'
import type { Ledger, LedgerSource, Replay } from '#ledger'
import { privateHeaders } from '../guards.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

/** A snapshot of the ledger that can be read during writes. */
export type LedgerSnapshot = {
  readonly source: LedgerSource
  readonly replays?: readonly Replay[]
  close(): Promise<void>
}

type Deps = {
  readonly ledger: Ledger
  readonly snapshot: () => Promise<LedgerSnapshot>
  readonly log: Log
}

const progressIntervalMs = 100

export function verifyRoute({ ledger, snapshot, log }: Deps): Route {
  // Concurrent verifications would only slow each other down.
  let isRunning = false

  async function check(deep: boolean, signal: AbortSignal, tell: (line: object) => void) {
    const { source, replays = [], close } = await snapshot()
    try {
      const total = source.head?.size ?? 0
      let lastProgressAt = 0
      const onProgress = (entries: number) => {
        if (Date.now() - lastProgressAt < progressIntervalMs) return
        lastProgressAt = Date.now()
        tell({ entries, total })
      }
      onProgress(0)
      const entries = () => yieldBetweenBatches(source.entries(), signal)
      const options = { mac: ledger.headMac, deep, onProgress, replays }
      const { firstBad, ...rest } = await verifyLedger({ ...source, entries }, ledger.vkey, options)
      tell({ result: { ...rest, ...(firstBad && { first_bad: firstBad }), vkey: ledger.vkey } })
    } finally {
      await close()
    }
  }

  function streamVerification(deep: boolean): ReadableStream<Uint8Array> {
    const gone = new AbortController()
    return new ReadableStream({
      start(controller) {
        const tell = (line: object) => {
          if (!gone.signal.aborted) controller.enqueue(encodeLine(line))
        }
        isRunning = true
        check(deep, gone.signal, tell)
          .catch((error: unknown) => {
            if (gone.signal.aborted) return
            log.error('ledger verification failed', { error: errorMessage(error) })
            tell({ error: { code: 'verify_failed', message: errorMessage(error) } })
          })
          .finally(() => {
            isRunning = false
            if (!gone.signal.aborted) controller.close()
          })
      },
      cancel: () => gone.abort(),
    })
  }

  return defineRoute({
    method: 'POST',
    path: '/api/ledger/verify',
    summary: 'Verify the complete ledger and report progress',
    by: 'human',
    body: z.strictObject({ deep: z.boolean().default(false) }),
    answer: {
      media: 'application/x-ndjson',
      description: 'Progress lines {entries, total}, then {result} or {error}',
    },
    async run({ body: { deep } }) {
      if (isRunning)
        throw new CoworkError('verify_running', 'A ledger verification is already running.', {
          hint: 'Wait a few seconds until it finishes.',
        })
      const headers = { ...privateHeaders, 'Content-Type': 'application/x-ndjson' }
      return new Response(streamVerification(deep), { headers })
    },
  })
}

const encoder = new TextEncoder()
const encodeLine = (line: object) => encoder.encode(`${JSON.stringify(line)}\n`)

/**
 * SQLite reads and hashing run on the main thread, so other calls run after every batch (about 8
 * ms).
 */
async function* yieldBetweenBatches<T>(
  batches: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for await (const batch of batches) {
    signal.throwIfAborted()
    yield batch
    await new Promise((turn) => setImmediate(turn))
  }
}
