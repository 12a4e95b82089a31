import pg from 'pg'
import type { Log } from '../log.ts'
import { storeClosedError } from './group-commit.ts'
import type { Query, Reader } from './port.ts'
import {
  delayAfterPendingReads,
  runQueryOnce,
  closeTimeoutMs,
  disconnect,
  toPreparedQuery,
  answerTimeoutMs,
  noAnswerError,
  withErrorListener,
} from './postgres-connection.ts'

const connections = 4

/** Said here, since the pool would also count how long a statement waits for one that is free. */
class ReadingClient extends pg.Client {
  constructor(settings?: pg.ClientConfig) {
    super({ ...settings, connectionTimeoutMillis: answerTimeoutMs })
  }
}

/** A few connections that read. `reached` fails while the database is away. */
export function createReadPool(
  settings: pg.ClientConfig,
  reached: () => Promise<void>,
  log: Log,
): Reader & { cut(why: Error): void; end(): Promise<void> } {
  const { connectionTimeoutMillis: _, ...rest } = settings
  const pool = new pg.Pool({ ...rest, max: connections, Client: ReadingClient })
  const open = new Set<pg.PoolClient>()
  pool.on('connect', (client) => open.add(withErrorListener(client)))
  pool.on('remove', (client) => open.delete(client))
  pool.on('error', ({ message }) => log.warn('a reading connection was lost', { error: message }))
  /** How to tell those who wait, for an answer or for a connection. */
  const waiting = new Set<(why: Error) => void>()

  async function read(query: Query): Promise<unknown[]> {
    if (pool.ending) throw storeClosedError()
    await reached()
    const client = await pool.connect().catch((error: unknown) => {
      throw noAnswerError(error)
    })
    let isSound = false
    try {
      const { rows } = await runQueryOnce(client, toPreparedQuery(query))
      isSound = true
      return rows
    } finally {
      client.release(!isSound)
    }
  }

  const all = <R>(query: Query<R>) =>
    new Promise<R[]>((resolve, reject) => {
      waiting.add(reject)
      read(query)
        .then((rows) => resolve(rows as R[]), reject)
        .finally(() => waiting.delete(reject))
    })

  function cut(why: Error): void {
    for (const tell of waiting) tell(noAnswerError(why))
    waiting.clear()
    for (const client of open) disconnect(client, why)
  }

  return {
    all,
    first: async (query) => (await all(query))[0],
    cut,
    async end() {
      using _late = delayAfterPendingReads(closeTimeoutMs, () =>
        cut(new Error('the store is closing')),
      )
      await pool.end()
    },
  }
}
