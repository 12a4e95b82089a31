import pg from 'pg'
import { CoworkError, errorMessage } from '../errors.ts'
import { sha256Hex } from '../hash.ts'
import type { Query, StoreOutage } from './port.ts'

/** Treat the server as unreachable after this timeout. */
export const answerTimeoutMs = 5000
/** Disconnect without a reply after this timeout. */
export const closeTimeoutMs = 1000

/** The configuration of every connection. Keepalive also detects a lost server on an idle connection. */
export const connectionConfig = (url: string) =>
  ({
    connectionString: url,
    types: { getTypeParser },
    connectionTimeoutMillis: answerTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: answerTimeoutMs,
  }) satisfies pg.ClientConfig

/** Parses int8 as a number: sequence numbers and milliseconds are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)

/** Names of prepared statements by text. A name is a digest, so equal texts share a statement. */
const preparedNames = new Map<string, string>()
export function toPreparedQuery(query: Query): pg.QueryConfig {
  let name = preparedNames.get(query.sql)
  if (!name && preparedNames.size < 500) {
    name = sha256Hex(query.sql).slice(0, 16)
    preparedNames.set(query.sql, name)
  }
  return { text: query.sql, values: [...query.parameters], ...(name && { name }) }
}

const disconnected = new WeakSet<pg.ClientBase>()

/** Returns whether the connection is lost. */
export const isDisconnected = (client: pg.ClientBase): boolean => disconnected.has(client)

/** Adds an error listener: without one, a lost connection would end the process. */
export function withErrorListener<C extends pg.ClientBase>(client: C): C {
  const markDisconnected = () => void disconnected.add(client)
  client.on('error', markDisconnected).on('end', markDisconnected)
  return client
}

/** Codes of connection failures and of a shutdown of the server. The messages are localized. */
const disconnectCodes = /^(08|57P|25P0[34])/

export async function runQuery<R extends pg.QueryResultRow>(
  client: pg.ClientBase,
  query: string | pg.QueryConfig,
): Promise<pg.QueryResult<R>> {
  try {
    return await client.query<R>(query)
  } catch (error) {
    if (error instanceof pg.DatabaseError && disconnectCodes.test(error.code ?? '')) {
      disconnected.add(client)
      disconnect(client)
    }
    throw error
  }
}

/** Runs a query that is not retried: a lost connection becomes `store_unavailable`, other errors stay unchanged. */
export const runQueryOnce: typeof runQuery = (client, query) =>
  runQuery<never>(client, query).catch((error: unknown) => {
    throw isDisconnected(client) ? noAnswerError(error) : error
  })

/** Closes the socket immediately, which rejects pending queries. */
export const disconnect = (client: pg.ClientBase, why?: Error): void =>
  void (client as pg.Client).connection.stream.destroy(why)

export async function closeClient(client: pg.Client): Promise<void> {
  using _ = delayAfterPendingReads(closeTimeoutMs, () => disconnect(client))
  await client.end()
}

/**
 * Runs `act` after a delay, but not before pending input was read: after a pause of the process its timers fire first,
 * which must not look like a timeout of the server.
 */
export function delayAfterPendingReads(ms: number, act: () => void): Disposable {
  let immediate: NodeJS.Immediate | undefined
  const timer = setTimeout(() => (immediate = setImmediate(act)), ms)
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      clearImmediate(immediate)
    },
  }
}

export const timeoutError = (ms: number) => new Error(`no reply for ${ms / 1000} s`)

export function toStoreOutage(cause: unknown): StoreOutage {
  // A host name with several addresses fails once for each address.
  const causes: unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  return {
    code: 'store_unavailable',
    message: `PostgreSQL is unavailable: ${causes.map(errorMessage).join('; ')}.`,
    hint: 'Retry shortly. If the error persists, check storage.url and the PostgreSQL server.',
  }
}

export function noAnswerError(cause: unknown): CoworkError {
  if (cause instanceof CoworkError) return cause
  const { code, message, hint } = toStoreOutage(cause)
  return new CoworkError(code, message, { hint, cause })
}
