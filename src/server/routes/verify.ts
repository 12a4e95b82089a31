import * as z from 'zod'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { verifyLedger } from '#ledger'
import type { Ledger, LedgerSource, Replay } from '#ledger'
import { privateHeaders } from '../guards.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

/** The ledger as it stands at one moment, to be read while others write. */
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

const tellEvery = 100

export function verifyRoute({ ledger, snapshot, log }: Deps): Route {
  // Two at once would only make both slower.
  let isRunning = false

  async function check(deep: boolean, signal: AbortSignal, tell: (line: object) => void) {
    const { source, replays = [], close } = await snapshot()
    try {
      const total = source.head?.size ?? 0
      let toldAt = 0
      const onProgress = (entries: number) => {
        if (Date.now() - toldAt < tellEvery) return
        toldAt = Date.now()
        tell({ entries, total })
      }
      onProgress(0)
      const entries = () => breathing(source.entries(), signal)
      const options = { mac: ledger.headMac, deep, onProgress, replays }
      const { firstBad, ...rest } = await verifyLedger({ ...source, entries }, ledger.vkey, options)
      tell({ result: { ...rest, ...(firstBad && { first_bad: firstBad }), vkey: ledger.vkey } })
    } finally {
      await close()
    }
  }

  function checking(deep: boolean): ReadableStream<Uint8Array> {
    const gone = new AbortController()
    return new ReadableStream({
      start(controller) {
        const tell = (line: object) => {
          if (!gone.signal.aborted) controller.enqueue(encoded(line))
        }
        isRunning = true
        check(deep, gone.signal, tell)
          .catch((error: unknown) => {
            if (gone.signal.aborted) return
            log.error('the ledger could not be checked', { error: errorMessage(error) })
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
    summary: 'Checks the whole ledger and tells how far it is',
    by: 'human',
    body: z.strictObject({ deep: z.boolean().default(false) }),
    answer: {
      media: 'application/x-ndjson',
      description: '{entries, total} now and then, at the end {result} or {error}',
    },
    async run({ body: { deep } }) {
      if (isRunning)
        throw new CoworkError('verify_running', 'The ledger is being checked already.', {
          hint: 'Wait for that to end; it takes seconds.',
        })
      const headers = { ...privateHeaders, 'Content-Type': 'application/x-ndjson' }
      return new Response(checking(deep), { headers })
    },
  })
}

const encoder = new TextEncoder()
const encoded = (line: object) => encoder.encode(`${JSON.stringify(line)}\n`)

/** SQLite reads and hashing are on the main thread: calls get their turn after every batch (about 8 ms). */
async function* breathing<T>(batches: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  for await (const batch of batches) {
    signal.throwIfAborted()
    yield batch
    await new Promise((turn) => setImmediate(turn))
  }
}
