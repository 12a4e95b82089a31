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
/** Any fixed number: daemons of one database agree on who signs by it. */
const signerLock = 0x636f776b
const reconnectAfter = 500
const beatEvery = 500
/** Worth saying, and no more calls are begun; those under way wait for `patience`. */
const silentAfter = 1500

/** A daemon that vanished would hold the lock for hours. PostgreSQL 13 has no such setting, and does without. */
const limitSession = `SELECT set_config(name, '10000', false) FROM pg_settings WHERE name = 'idle_session_timeout'`

type Deps = {
  readonly settings: pg.ClientConfig
  readonly grown: () => void
  /** The database is gone: nobody should wait for it on other connections either. */
  readonly cut: (why: Error) => void
  readonly log: Log
}

/**
 * Hears of other daemons' commits, and holds the lock of the one that signs. Reconnects by itself. Nothing that takes
 * time is asked here, so it is also how a daemon knows that the database is there, however long its statements take.
 */
export function createNotifyListener({ settings, grown, cut, log }: Deps) {
  let client: pg.Client | undefined
  let trying: pg.Client | undefined
  let opening: Promise<void> | undefined
  let holds = false
  let stopped = false
  let next: NodeJS.Timeout | undefined
  let isAway = false
  let why: Error | undefined

  async function start(): Promise<void> {
    const fresh = withErrorListener(new pg.Client(settings))
    const over = (error?: Error) => {
      if (client !== fresh || stopped) return
      client = undefined
      holds = false
      log.warn('the listening connection was lost', { error: error?.message })
      again(0)
    }
    fresh.on('error', over).on('end', () => over())
    fresh.on('notification', grown)
    trying = fresh
    try {
      await answered(fresh, fresh.connect())
      await answered(fresh, runQuery(fresh, limitSession))
      await answered(fresh, runQuery(fresh, `LISTEN ${notifyChannel}`))
    } catch (error) {
      disconnect(fresh)
      lose(error)
      throw error
    } finally {
      trying = undefined
    }
    if (stopped) return disconnect(fresh)
    client = fresh
    why = undefined
    if (isAway) log.info('the database is there again')
    isAway = false
    beat(fresh)
    // What was committed while nobody listened must not wait for the next commit.
    grown()
  }

  const open = () => (opening ??= start().finally(() => (opening = undefined)))

  function again(ms: number) {
    clearTimeout(next)
    next = setTimeout(() => {
      if (!stopped && !client) open().catch(() => again(reconnectAfter))
    }, ms)
  }

  function beat(of: pg.Client) {
    clearTimeout(next)
    next = setTimeout(() => {
      answered(of, runQuery(of, 'SELECT 1'))
        .then(() => (why = undefined))
        // If it was the last of this connection, that is heard of by itself.
        .catch(() => undefined)
        .finally(() => client === of && !stopped && beat(of))
    }, beatEvery)
  }

  async function answered<T>(by: pg.Client, asked: Promise<T>): Promise<T> {
    using _silent = delayAfterPendingReads(silentAfter, () => (why ??= timeoutError(silentAfter)))
    using _gone = delayAfterPendingReads(answerTimeoutMs, () => {
      const error = timeoutError(answerTimeoutMs)
      lose(error)
      disconnect(by, error)
    })
    return await asked
  }

  async function givenUp(): Promise<never> {
    await sleep(reconnectAfter)
    throw why ?? timeoutError(reconnectAfter)
  }

  function lose(cause: unknown) {
    if (stopped) return
    why = cause instanceof Error ? cause : new Error(String(cause))
    if (!isAway) log.error('the database cannot be reached', { error: errorMessage(cause) })
    isAway = true
    // A server that says no is there: what works on other connections goes on.
    if (!(cause instanceof pg.DatabaseError)) cut(why)
  }

  return {
    /** Why nothing can be asked now, if so. */
    trouble: (): StoreOutage | undefined => why && toStoreOutage(why),
    /** It may be back before we have looked; but for what stays away nobody waits twice. */
    async reached(): Promise<void> {
      if (client) return
      try {
        await (isAway ? Promise.race([open(), givenUp()]) : open())
      } catch (error) {
        throw noAnswerError(error)
      }
    },
    async leads() {
      if (!client || stopped) return false
      if (holds) return true
      const asked = client
      const { rows } = await runQuery<{ held: boolean }>(asked, {
        text: 'SELECT pg_try_advisory_lock($1) AS held',
        values: [signerLock],
      })
      holds = client === asked && rows[0]?.held === true
      return holds
    },
    async stop() {
      stopped = true
      clearTimeout(next)
      if (trying) disconnect(trying)
      if (client) await closeClient(client)
    },
  }
}
