import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '#base/caller.ts'
import { actorOf } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { CoworkError, messageOf } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Entry, Ledger } from '#ledger'
import type {
  Channel,
  Delivery,
  DeliveryStatus,
  Describe,
  NotifyRule,
  Send,
  Wait,
} from './model.ts'
import { channelsFor, isNews, noticeOf, revived, toldOf } from './rules.ts'
import { startSender } from './sender.ts'
import { createDeliveryStore } from './store.ts'
import { createWebhook } from './webhook.ts'

const hour = 3_600_000
const day = 24 * hour
const keep = { sent: 7 * day, unsent: 90 * day }
const retryAfter = 5000

export type NotifyDeps = {
  readonly ledger: Ledger
  readonly db: Db
  readonly channels: readonly Channel[]
  readonly rules: readonly NotifyRule[]
  /** Where people reach the console. Asked for each notice, as the port may not be known at first. */
  readonly publicUrl: () => string
  readonly describe: Describe
  readonly now: Clock
  readonly log: Log
  readonly wait?: Wait
  readonly chance?: () => number
}

export type Notify = ReturnType<typeof startNotify>

/**
 * Tells people outside the console (A10). A follower of the ledger writes what is to be told where, in the
 * transaction that moves its place; a sender for each channel takes what is due. So neither a restart nor a
 * second daemon loses or repeats a notice, and no decision ever waits for a receiver.
 */
export function startNotify(deps: NotifyDeps) {
  const { ledger, db, channels, rules, publicUrl, describe, now, log } = deps
  const { wait = pause, chance = Math.random } = deps
  const store = createDeliveryStore(db.dialect)
  const sends = new Map(channels.flatMap((channel) => sendOf(channel, wait)))
  const stop = new AbortController()
  const { signal } = stop
  const senders = [...sends].map(([id, send]) =>
    startSender(id, send, { db, store, now, wait, chance, log }),
  )
  const ring = () => {
    for (const sender of senders) sender.ring()
  }

  async function tell(tx: Tx, entries: Entry[]): Promise<(() => void) | void> {
    const events = entries.flatMap((entry) => {
      const told = toldOf(entry)
      const approval = entry.ids?.approval
      return told && approval !== undefined ? [{ entry, told, approval }] : []
    })
    const isRetried = entries.some(({ type }) => type === 'delivery.retried')
    if (events.length === 0) return isRetried ? ring : undefined
    const known = await describe(tx, [...new Set(events.map(({ approval }) => approval))])
    const deliveries = events.flatMap(({ entry, told, approval }): Delivery[] => {
      const about = known.get(approval)
      if (!about || !isNews(told, about, entry.at, now())) return []
      const notice = JSON.stringify(noticeOf(told, entry, approval, about, publicUrl()))
      return channelsFor(rules, [...sends.keys()], about).map((channel) => ({
        id: newId(),
        channel,
        event: told.type,
        approval,
        notice,
        status: 'pending',
        attempts: 0,
        nextAt: now(),
        lastError: null,
        createdAt: now(),
        settledAt: null,
      }))
    })
    if (deliveries.length > 0) await store.add(tx, deliveries)
    return ring
  }

  /** Does it again after a failure, and says so once. */
  async function persist(what: string, work: () => Promise<void>) {
    for (let isBroken = false; !signal.aborted;)
      try {
        await work()
        isBroken = false
      } catch (error) {
        if (!isBroken) log.error(what, { error: messageOf(error) })
        isBroken = true
        await wait(retryAfter, signal)
      }
  }

  const follow = () => ledger.consume('notify', tell, signal, 'next entry')
  const sweep = async () => {
    const before = { sent: now() - keep.sent, unsent: now() - keep.unsent }
    await db.transact((tx) => store.forget(tx, before))
    await wait(hour, signal)
  }
  const running =
    senders.length === 0
      ? []
      : [
          persist('the ledger is not followed, so nobody is notified', follow),
          persist('old deliveries could not be deleted', sweep),
        ]

  return {
    list: (status: DeliveryStatus | undefined, limit: number) => store.list(db, status, limit),

    /** Puts a dead one back, with all its tries before it. */
    async retry(tx: Tx, id: string, call: { id: string; caller: Caller }): Promise<Delivery> {
      const delivery = await store.find(tx, id)
      if (!delivery) throw notFound(id)
      const { channel, approval, status } = delivery
      if (!sends.has(channel)) throw noChannel(channel)
      const again = revived(delivery, now())
      if (status !== 'dead' || !(await store.change(tx, delivery, again))) throw notDead(id)
      tx.append({
        type: 'delivery.retried',
        actor: actorOf(call.caller),
        subject: id,
        ids: { call: call.id, approval },
        data: { channel },
      })
      return again
    },

    async close() {
      stop.abort()
      await Promise.all([...running, ...senders.map((sender) => sender.close())])
    },
  }
}

/** How a channel is told; nothing for the kinds that this version does not send to. */
const sendOf = (channel: Channel, wait: Wait): [string, Send][] =>
  channel.type === 'webhook' ? [[channel.id, createWebhook(channel, wait)]] : []

const pause: Wait = (ms, signal) =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)

const notFound = (id: string) =>
  new CoworkError('not_found', `There is no delivery ${JSON.stringify(id)}.`, {
    hint: 'cowork_list_deliveries lists them; those that were sent go after 7 days.',
  })

const noChannel = (channel: string) =>
  new CoworkError('unknown_channel', `No webhook "${channel}" is configured any more.`, {
    hint: 'Add it to notify.channels again and restart.',
  })

const notDead = (id: string) =>
  new CoworkError('delivery_not_dead', `Delivery ${id} is not dead: it was sent or still waits.`, {
    hint: 'Only what has failed for good is put back by hand.',
  })
