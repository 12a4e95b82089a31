import { setTimeout as delay } from 'node:timers/promises'
import type { Caller } from '#base/caller.ts'
import { toActor } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Entry, Ledger } from '#ledger'
import { createDailyCheckpoint } from './daily-checkpoint.ts'
import { createDrivers } from './drivers.ts'
import type {
  Channel,
  DecideAs,
  Delivery,
  DeliveryStatus,
  Describe,
  NotifyRule,
  QuietHours,
  TestNotification,
  Sleep,
} from './model.ts'
import { createOutbox } from './outbox.ts'
import { inboxUrl, resetDelivery } from './rules.ts'
import { startSender } from './sender.ts'
import { createDeliveryStore } from './store.ts'
import { createChatStore } from './telegram/store.ts'
import { endOfQuietHours } from './schedule.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const retentionMs = { sent: 7 * dayMs, unsent: 90 * dayMs }
const retryDelayMs = 5000

export type NotifyDeps = {
  readonly ledger: Ledger
  readonly db: Db
  readonly channels: readonly Channel[]
  readonly rules: readonly NotifyRule[]
  readonly quietHours?: QuietHours | undefined
  readonly digest?: number | undefined
  /**
   * Returns the console URL. Called for each notification, because the port may be unknown at
   * startup.
   */
  readonly publicUrl: () => string
  readonly describe: Describe
  readonly decide: DecideAs
  readonly now: Clock
  readonly log: Log
  readonly sleep?: Sleep
  readonly chance?: () => number
}

export type Notify = ReturnType<typeof startNotify>

/**
 * Sends notifications outside the console (A10). A ledger follower queues deliveries in the
 * transaction that moves its cursor, and one sender per channel sends due deliveries. So a restart
 * or a second daemon neither loses nor repeats a notification, and no decision waits for a
 * receiver.
 */
export function startNotify(deps: NotifyDeps) {
  const { ledger, db, channels, publicUrl, now, log } = deps
  const { sleep = defaultSleep, chance = Math.random } = deps
  const store = createDeliveryStore(db.dialect)
  const chats = createChatStore(db.dialect)
  const { drivers, bots } = createDrivers(channels, { ...deps, sleep })
  const outbox = createOutbox({ ...deps, store, chats, drivers, settings: deps })
  const stop = new AbortController()
  const { signal } = stop
  const senders = [...drivers].map(([id, driver]) =>
    startSender(id, driver, {
      db,
      store,
      now,
      sleep,
      chance,
      // Editing a message makes no sound, so quiet hours do not apply.
      allowedFrom: (delivery, at) =>
        driver.edits && delivery.event === 'approval.decided'
          ? at
          : endOfQuietHours(at, getRisk(delivery), deps.quietHours),
      log,
    }),
  )
  const wakeAll = () => {
    for (const sender of senders) sender.wake()
  }

  async function enqueue(tx: Tx, entries: Entry[]): Promise<(() => void) | void> {
    if (await outbox(tx, entries)) return wakeAll
  }

  async function runWithRetry(what: string, work: () => Promise<void>) {
    for (let isBroken = false; !signal.aborted;)
      try {
        await work()
        isBroken = false
      } catch (error) {
        if (!isBroken) log.error(what, { error: errorMessage(error) })
        isBroken = true
        await sleep(retryDelayMs, signal)
      }
  }

  // Notifications contain texts of the approval, so erasing deletes them (L8).
  const stopErasing = ledger.onErase(async (tx, erased) => {
    if ('before' in erased) return store.deleteOlder(tx, erased.before)
    let count = 0
    for (const id of erased.approvals) count += await store.deleteAbout(tx, id)
    return count
  })

  const follow = () => ledger.runFollower('notify', enqueue, signal, 'next entry')
  const cleanUp = async () => {
    const before = { sent: now() - retentionMs.sent, unsent: now() - retentionMs.unsent }
    await db.transact(async (tx) => {
      await store.deleteExpired(tx, before)
      await chats.deleteMessagesBefore(tx, before.unsent)
    })
    await sleep(hourMs, signal)
  }
  const postCheckpoint = createDailyCheckpoint({ ...deps, store, settings: deps })
  const postDaily = async () => {
    if (await postCheckpoint()) wakeAll()
    await sleep(hourMs, signal)
  }
  const running =
    senders.length === 0
      ? []
      : [
          runWithRetry('ledger follower failed, notifications are delayed', follow),
          runWithRetry('cleanup of old deliveries failed', cleanUp),
          runWithRetry('queueing of the daily checkpoint failed', postDaily),
          ...[...bots.values()].map((bot) => bot.listen(signal)),
        ]

  return {
    list: (status: DeliveryStatus | undefined, limit: number) => store.list(db, status, limit),

    async retry(tx: Tx, id: string, call: { id: string; caller: Caller }): Promise<Delivery> {
      const delivery = await store.find(tx, id)
      if (!delivery) throw deliveryNotFoundError(id)
      const { channel, approval, status } = delivery
      if (!drivers.has(channel)) throw channelRemovedError(channel)
      const again = resetDelivery(delivery, now())
      if (status !== 'dead' || !(await store.replaceIfUnchanged(tx, delivery, again)))
        throw deliveryNotDeadError(id)
      tx.append({
        type: 'delivery.retried',
        actor: toActor(call.caller),
        subject: id,
        ids: { call: call.id, ...(approval !== '' && { approval }) },
        data: { channel },
      })
      return again
    },

    /**
     * Sends a test notification immediately, also in quiet hours. Returns the error if it was not
     * delivered.
     */
    async test(id: string, call: { caller: Caller; signal: AbortSignal }) {
      const driver = drivers.get(id)
      if (!driver) throw channelNotTestableError(id, channels)
      const review_url = inboxUrl(publicUrl())
      const notice: TestNotification = {
        type: 'channel.test',
        timestamp: formatRfc3339(now()),
        data: { channel: id, asked_by: sanitizeText(call.caller.id), review_url },
      }
      const message = { id: newId(), notice: JSON.stringify(notice), at: now() }
      const outcome = await driver.send(message, AbortSignal.any([signal, call.signal]))
      if (outcome.kind === 'sent') return { ok: true, reason: outcome.note }
      return { ok: false, reason: outcome.kind === 'failed' ? outcome.error : 'interrupted' }
    },

    async bindChat(tx: Tx, id: string, { caller }: { caller: Caller }) {
      const bot = bots.get(id)
      if (!bot) throw botNotFoundError(id, [...bots.keys()])
      return bot.createCode(tx, caller.id)
    },

    async close() {
      stopErasing()
      stop.abort()
      await Promise.all([...running, ...senders.map((sender) => sender.close())])
    },
  }
}

const getRisk = ({ notice }: Delivery) =>
  (JSON.parse(notice) as { data: { risk: string } }).data.risk

const defaultSleep: Sleep = (ms, signal) =>
  delay(ms, undefined, { signal, ref: false }).catch(() => undefined)

const deliveryNotFoundError = (id: string) =>
  new CoworkError('not_found', `Unknown delivery: ${JSON.stringify(id)}.`, {
    hint: 'Call cowork_list_deliveries; sent deliveries are deleted after 7 days.',
  })

const channelRemovedError = (channel: string) =>
  new CoworkError('unknown_channel', `Channel not configured: "${channel}".`, {
    hint: 'Add it to notify.channels again and restart.',
  })

const channelNotTestableError = (id: string, channels: readonly Channel[]) =>
  channels.some((channel) => channel.id === id)
    ? new CoworkError(
        'nothing_to_send',
        `Cannot test "${id}": the console shows desktop notifications itself.`,
        {
          hint: 'Open the console and allow notifications in the settings.',
        },
      )
    : new CoworkError('unknown_channel', `Unknown channel: ${JSON.stringify(id)}.`, {
        hint: `Use a channel of notify.channels: ${channels.map((channel) => channel.id).join(', ') || 'none'}.`,
      })

const botNotFoundError = (id: string, bots: readonly string[]) =>
  new CoworkError('unknown_channel', `Unknown Telegram channel: ${JSON.stringify(id)}.`, {
    hint: `Use a Telegram channel of notify.channels: ${bots.join(', ') || 'none'}.`,
  })

const deliveryNotDeadError = (id: string) =>
  new CoworkError('delivery_not_dead', `Cannot retry delivery ${id}: it was sent or is pending.`, {
    hint: 'Retry only deliveries with the status dead.',
  })
