import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Trouble } from './port.ts'
import {
  after,
  ask,
  end,
  hangUp,
  silence,
  patience,
  troubleOf,
  unanswered,
  watched,
} from './postgres-line.ts'

export const channel = 'cowork_ledger'
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
export function createListener({ settings, grown, cut, log }: Deps) {
  let client: pg.Client | undefined
  let trying: pg.Client | undefined
  let opening: Promise<void> | undefined
  let holds = false
  let stopped = false
  let next: NodeJS.Timeout | undefined
  let isAway = false
  let why: Error | undefined

  async function start(): Promise<void> {
    const fresh = watched(new pg.Client(settings))
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
      await answered(fresh, ask(fresh, limitSession))
      await answered(fresh, ask(fresh, `LISTEN ${channel}`))
    } catch (error) {
      hangUp(fresh)
      lose(error)
      throw error
    } finally {
      trying = undefined
    }
    if (stopped) return hangUp(fresh)
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
      answered(of, ask(of, 'SELECT 1'))
        .then(() => (why = undefined))
        // If it was the last of this connection, that is heard of by itself.
        .catch(() => undefined)
        .finally(() => client === of && !stopped && beat(of))
    }, beatEvery)
  }

  async function answered<T>(by: pg.Client, asked: Promise<T>): Promise<T> {
    using _silent = after(silentAfter, () => (why ??= silence(silentAfter)))
    using _gone = after(patience, () => {
      const error = silence(patience)
      lose(error)
      hangUp(by, error)
    })
    return await asked
  }

  async function givenUp(): Promise<never> {
    await sleep(reconnectAfter)
    throw why ?? silence(reconnectAfter)
  }

  function lose(cause: unknown) {
    if (stopped) return
    why = cause instanceof Error ? cause : new Error(String(cause))
    if (!isAway) log.error('the database cannot be reached', { error: messageOf(cause) })
    isAway = true
    // A server that says no is there: what works on other connections goes on.
    if (!(cause instanceof pg.DatabaseError)) cut(why)
  }

  return {
    /** Why nothing can be asked now, if so. */
    trouble: (): Trouble | undefined => why && troubleOf(why),
    /** It may be back before we have looked; but for what stays away nobody waits twice. */
    async reached(): Promise<void> {
      if (client) return
      try {
        await (isAway ? Promise.race([open(), givenUp()]) : open())
      } catch (error) {
        throw unanswered(error)
      }
    },
    async leads() {
      if (!client || stopped) return false
      if (holds) return true
      const asked = client
      const { rows } = await ask<{ held: boolean }>(asked, {
        text: 'SELECT pg_try_advisory_lock($1) AS held',
        values: [signerLock],
      })
      holds = client === asked && rows[0]?.held === true
      return holds
    },
    async stop() {
      stopped = true
      clearTimeout(next)
      if (trying) hangUp(trying)
      if (client) await end(client)
    },
  }
}
