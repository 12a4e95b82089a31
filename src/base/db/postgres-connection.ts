import pg from 'pg'
import { CoworkError, errorMessage } from '../errors.ts'
import { sha256Hex } from '../hash.ts'
import type { Query, StoreOutage } from './port.ts'

/** Who has not answered by then is taken for gone. */
export const answerTimeoutMs = 5000
/** A farewell is worth less. */
export const closeTimeoutMs = 1000

/** How every connection is made. One that only waits notices too when the other end has vanished. */
export const connectionConfig = (url: string) =>
  ({
    connectionString: url,
    types: { getTypeParser },
    connectionTimeoutMillis: answerTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: answerTimeoutMs,
  }) satisfies pg.ClientConfig

/** int8 as a number: sequence numbers and milliseconds are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)

/** A prepared statement per text; names are short digests, so equal texts share one. */
const names = new Map<string, string>()
export function toPreparedQuery(query: Query): pg.QueryConfig {
  let name = names.get(query.sql)
  if (!name && names.size < 500) {
    name = sha256Hex(query.sql).slice(0, 16)
    names.set(query.sql, name)
  }
  return { text: query.sql, values: [...query.parameters], ...(name && { name }) }
}

const lost = new WeakSet<pg.ClientBase>()

/** Whether no statement on it will be answered any more. */
export const isDisconnected = (client: pg.ClientBase): boolean => lost.has(client)

/** Without a listener a connection that dies would end the process. */
export function withErrorListener<C extends pg.ClientBase>(client: C): C {
  const lose = () => void lost.add(client)
  client.on('error', lose).on('end', lose)
  return client
}

/** Connection failures, and what the server says before it hangs up: by code, for it says it in any language. */
const lastWords = /^(08|57P|25P0[34])/

export async function runQuery<R extends pg.QueryResultRow>(
  client: pg.ClientBase,
  query: string | pg.QueryConfig,
): Promise<pg.QueryResult<R>> {
  try {
    return await client.query<R>(query)
  } catch (error) {
    if (error instanceof pg.DatabaseError && lastWords.test(error.code ?? '')) {
      lost.add(client)
      disconnect(client)
    }
    throw error
  }
}

/** The same where nobody tries again: what broke off is said as such, and the rest is the statement's own. */
export const runQueryOnce: typeof runQuery = (client, query) =>
  runQuery<never>(client, query).catch((error: unknown) => {
    throw isDisconnected(client) ? noAnswerError(error) : error
  })

/** At once: whoever waits on it is told so. */
export const disconnect = (client: pg.ClientBase, why?: Error): void =>
  void (client as pg.Client).connection.stream.destroy(why)

export async function closeClient(client: pg.Client): Promise<void> {
  using _ = delayAfterPendingReads(closeTimeoutMs, () => disconnect(client))
  await client.end()
}

/**
 * Not before answers were read that had come by then: a process that was held up finds its timers due first, and
 * must not take that for the silence of others.
 */
export function delayAfterPendingReads(ms: number, act: () => void): Disposable {
  let turn: NodeJS.Immediate | undefined
  const timer = setTimeout(() => (turn = setImmediate(act)), ms)
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      clearImmediate(turn)
    },
  }
}

export const timeoutError = (ms: number) => new Error(`silence for ${ms / 1000} s`)

export function toStoreOutage(cause: unknown): StoreOutage {
  // A name with several addresses fails once for each of them.
  const causes: unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  return {
    code: 'store_unavailable',
    message: `PostgreSQL did not answer: ${causes.map(errorMessage).join('; ')}.`,
    hint: 'Try again shortly. If it stays so, check storage.url and that the server is running.',
  }
}

export function noAnswerError(cause: unknown): CoworkError {
  if (cause instanceof CoworkError) return cause
  const { code, message, hint } = toStoreOutage(cause)
  return new CoworkError(code, message, { hint, cause })
}
