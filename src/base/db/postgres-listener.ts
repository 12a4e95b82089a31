import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { errorMessage } from '../errors.ts'
import type { Log } from '../log.ts'
import type { StoreOutage } from './port.ts'
import {
  delayAfterPendingReads,
  runQuery,
  closeClient,
  disconnect,
  timeoutError,
  answerTimeoutMs,
  toStoreOutage,
  noAnswerError,
  withErrorListener,
} from './postgres-connection.ts'

export const notifyChannel = 'cowork_ledger'
/** The key of the advisory lock: an arbitrary constant, the same for all daemons of a database. */
const signerLock = 0x636f776b
const reconnectDelayMs = 500
const heartbeatIntervalMs = 500
/** Refuse new calls after this time without a reply; running calls wait for `answerTimeoutMs`. */
const silenceMs = 1500

/** Without the timeout, a vanished daemon would hold the lock for hours. PostgreSQL 13 does not have this setting. */
const setSessionTimeout = `SELECT set_config(name, '10000', false) FROM pg_settings WHERE name = 'idle_session_timeout'`

type Deps = {
  readonly settings: pg.ClientConfig
  readonly onNotify: () => void
  /** Disconnects the other connections too, so that no call waits for an unreachable database. */
  readonly disconnectAll: (why: Error) => void
  readonly log: Log
}

/**
 * Listens for commits of other daemons and holds the signer lock. Reconnects automatically. The connection runs only fast
 * queries, so its heartbeat shows that the database is reachable even during slow statements.
 */
export function createNotifyListener({ settings, onNotify, disconnectAll, log }: Deps) {
  let client: pg.Client | undefined
  let connecting: pg.Client | undefined
  let opening: Promise<void> | undefined
  let holdsSignerLock = false
  let stopped = false
  let next: NodeJS.Timeout | undefined
  let isUnreachable = false
  let why: Error | undefined

  async function start(): Promise<void> {
    const fresh = withErrorListener(new pg.Client(settings))
    const onClosed = (error?: Error) => {
      if (client !== fresh || stopped) return
      client = undefined
      holdsSignerLock = false
      log.warn('listener connection lost', { error: error?.message })
      scheduleReconnect(0)
    }
    fresh.on('error', onClosed).on('end', () => onClosed())
    fresh.on('notification', onNotify)
    connecting = fresh
    try {
      await withTimeout(fresh, fresh.connect())
      await withTimeout(fresh, runQuery(fresh, setSessionTimeout))
      await withTimeout(fresh, runQuery(fresh, `LISTEN ${notifyChannel}`))
    } catch (error) {
      disconnect(fresh)
      markUnreachable(error)
      throw error
    } finally {
      connecting = undefined
    }
    if (stopped) return disconnect(fresh)
    client = fresh
    why = undefined
    if (isUnreachable) log.info('connection restored')
    isUnreachable = false
    scheduleHeartbeat(fresh)
    // Followers must read entries that were committed without a listener now, not after the next commit.
    onNotify()
  }

  const open = () => (opening ??= start().finally(() => (opening = undefined)))

  function scheduleReconnect(ms: number) {
    clearTimeout(next)
    next = setTimeout(() => {
      if (!stopped && !client) open().catch(() => scheduleReconnect(reconnectDelayMs))
    }, ms)
  }

  function scheduleHeartbeat(of: pg.Client) {
    clearTimeout(next)
    next = setTimeout(() => {
      withTimeout(of, runQuery(of, 'SELECT 1'))
        .then(() => (why = undefined))
        // A lost connection calls `onClosed`.
        .catch(() => undefined)
        .finally(() => client === of && !stopped && scheduleHeartbeat(of))
    }, heartbeatIntervalMs)
  }

  async function withTimeout<T>(by: pg.Client, reply: Promise<T>): Promise<T> {
    using _silent = delayAfterPendingReads(silenceMs, () => (why ??= timeoutError(silenceMs)))
    using _gone = delayAfterPendingReads(answerTimeoutMs, () => {
      const error = timeoutError(answerTimeoutMs)
      markUnreachable(error)
      disconnect(by, error)
    })
    return await reply
  }

  async function rejectAfterDelay(): Promise<never> {
    await sleep(reconnectDelayMs)
    throw why ?? timeoutError(reconnectDelayMs)
  }

  function markUnreachable(cause: unknown) {
    if (stopped) return
    why = cause instanceof Error ? cause : new Error(String(cause))
    if (!isUnreachable) log.error('database unreachable', { error: errorMessage(cause) })
    isUnreachable = true
    // A server that returns an error is reachable: other connections stay open.
    if (!(cause instanceof pg.DatabaseError)) disconnectAll(why)
  }

  return {
    /** Returns the current outage. */
    outage: (): StoreOutage | undefined => why && toStoreOutage(why),
    /** Resolves when the database is reachable. During an outage, waits only briefly for a reconnection. */
    async waitUntilReachable(): Promise<void> {
      if (client) return
      try {
        await (isUnreachable ? Promise.race([open(), rejectAfterDelay()]) : open())
      } catch (error) {
        throw noAnswerError(error)
      }
    },
    async isLeader() {
      if (!client || stopped) return false
      if (holdsSignerLock) return true
      const current = client
      const { rows } = await runQuery<{ held: boolean }>(current, {
        text: 'SELECT pg_try_advisory_lock($1) AS held',
        values: [signerLock],
      })
      holdsSignerLock = client === current && rows[0]?.held === true
      return holdsSignerLock
    },
    async stop() {
      stopped = true
      clearTimeout(next)
      if (connecting) disconnect(connecting)
      if (client) await closeClient(client)
    },
  }
}
