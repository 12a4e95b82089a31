// Reads a ledger of SQLite in a separate process, so that its memory is that of the reading only.
import { readSqlite } from '#base/db/sqlite.ts'
import { sha256 } from '#base/hash.ts'
import { statePaths } from '#base/state.ts'
import { verifyStored } from './store.ts'

export type Read = {
  readonly seconds: number
  readonly entries: number
  readonly ok: boolean
  /** After a third, when the verifier's caches are full, and the maximum from then on. */
  readonly settledBytes: number
  readonly maxBytes: number
}

const [state = '', expected = ''] = process.argv.slice(2)

async function verified(): Promise<Read> {
  let settledBytes = 0
  let maxBytes = 0
  const start = performance.now()
  const { entries, ok } = await verifyStored({ state }, (checked) => {
    if (checked < Number(expected) / 3) return
    const { rss } = process.memoryUsage()
    settledBytes ||= rss
    maxBytes = Math.max(maxBytes, rss)
  })
  return { seconds: (performance.now() - start) / 1000, entries, ok, settledBytes, maxBytes }
}

/** The floor: only SHA-256 over the same bytes. */
async function hashed(): Promise<Read> {
  const db = readSqlite(statePaths(state).store)
  const start = performance.now()
  let after = 0
  for (;;) {
    const sql =
      'SELECT seq, cast(body AS blob) AS body FROM ledger_entry WHERE seq > ? ORDER BY seq LIMIT 1000'
    const rows = await db.all<{ seq: number; body: Uint8Array }>({ sql, parameters: [after] })
    for (const { body } of rows) sha256(body)
    const last = rows.at(-1)
    if (!last) break
    after = last.seq
  }
  const seconds = (performance.now() - start) / 1000
  await db.close()
  return { seconds, entries: after, ok: true, settledBytes: 0, maxBytes: 0 }
}

process.on('message', (way: 'verify' | 'hash') => {
  void (way === 'verify' ? verified() : hashed()).then((read) => process.send?.(read))
})
process.send?.('ready')
