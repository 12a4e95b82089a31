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

const maxConnections = 4

/** Sets the timeout per client: the pool would also count the wait for a free connection. */
class ReadClient extends pg.Client {
  constructor(settings?: pg.ClientConfig) {
    super({ ...settings, connectionTimeoutMillis: answerTimeoutMs })
  }
}

/** Creates a pool of read connections. `waitUntilReachable` rejects while the database is unreachable. */
export function createReadPool(
  settings: pg.ClientConfig,
  waitUntilReachable: () => Promise<void>,
  log: Log,
): Reader & { disconnectAll(why: Error): void; end(): Promise<void> } {
  const { connectionTimeoutMillis: _, ...rest } = settings
  const pool = new pg.Pool({ ...rest, max: maxConnections, Client: ReadClient })
  const open = new Set<pg.PoolClient>()
  pool.on('connect', (client) => open.add(withErrorListener(client)))
  pool.on('remove', (client) => open.delete(client))
  pool.on('error', ({ message }) => log.warn('read connection lost', { error: message }))
  /** The reject functions of queries that wait for a reply or a connection. */
  const pendingReads = new Set<(why: Error) => void>()

  async function read(query: Query): Promise<unknown[]> {
    if (pool.ending) throw storeClosedError()
    await waitUntilReachable()
    const client = await pool.connect().catch((error: unknown) => {
      throw noAnswerError(error)
    })
    let isHealthy = false
    try {
      const { rows } = await runQueryOnce(client, toPreparedQuery(query))
      isHealthy = true
      return rows
    } finally {
      client.release(!isHealthy)
    }
  }

  const all = <R>(query: Query<R>) =>
    new Promise<R[]>((resolve, reject) => {
      pendingReads.add(reject)
      read(query)
        .then((rows) => resolve(rows as R[]), reject)
        .finally(() => pendingReads.delete(reject))
    })

  function disconnectAll(why: Error): void {
    for (const reject of pendingReads) reject(noAnswerError(why))
    pendingReads.clear()
    for (const client of open) disconnect(client, why)
  }

  return {
    all,
    first: async (query) => (await all(query))[0],
    disconnectAll,
    async end() {
      using _late = delayAfterPendingReads(closeTimeoutMs, () =>
        disconnectAll(new Error('the store is closing')),
      )
      await pool.end()
    },
  }
}
