// Reads a ledger of SQLite as a process of its own, so that its memory is that of the reading alone.
import { readSqlite } from '#base/db/sqlite.ts'
import { sha256 } from '#base/hash.ts'
import { statePaths } from '#base/state.ts'
import { verifyStored } from './store.ts'

export type Read = {
  readonly seconds: number
  readonly entries: number
  readonly ok: boolean
  /** After a third, when what the verifier remembers is full, and the most from there on. */
  readonly settledBytes: number
  readonly mostBytes: number
}

const [state = '', expected = ''] = process.argv.slice(2)

async function verified(): Promise<Read> {
  let settledBytes = 0
  let mostBytes = 0
  const start = performance.now()
  const { entries, ok } = await verifyStored({ state }, (checked) => {
    if (checked < Number(expected) / 3) return
    const { rss } = process.memoryUsage()
    settledBytes ||= rss
    mostBytes = Math.max(mostBytes, rss)
  })
  return { seconds: (performance.now() - start) / 1000, entries, ok, settledBytes, mostBytes }
}

/** The floor: the same bytes through SHA-256 and nothing else. */
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
  return { seconds, entries: after, ok: true, settledBytes: 0, mostBytes: 0 }
}

process.on('message', (way: 'verify' | 'hash') => {
  void (way === 'verify' ? verified() : hashed()).then((read) => process.send?.(read))
})
process.send?.('ready')
