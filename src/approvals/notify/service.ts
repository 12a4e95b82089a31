import { setTimeout as sleep } from 'node:timers/promises'
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

const hour = 3_600_000
const day = 24 * hour
const keep = { sent: 7 * day, unsent: 90 * day }
const retryAfter = 5000

export type NotifyDeps = {
  readonly ledger: Ledger
  readonly db: Db
  readonly channels: readonly Channel[]
  readonly rules: readonly NotifyRule[]
  readonly quietHours?: QuietHours | undefined
  readonly digest?: number | undefined
  /** Where people reach the console. Asked for each notice, as the port may not be known at first. */
  readonly publicUrl: () => string
  readonly describe: Describe
  readonly decide: DecideAs
  readonly now: Clock
  readonly log: Log
  readonly wait?: Sleep
  readonly chance?: () => number
}

export type Notify = ReturnType<typeof startNotify>

/**
 * Tells people outside the console (A10). A follower of the ledger writes what is to be told where, in the
 * transaction that moves its place; a sender for each channel takes what is due. So neither a restart nor a
 * second daemon loses or repeats a notice, and no decision ever waits for a receiver.
 */
export function startNotify(deps: NotifyDeps) {
  const { ledger, db, channels, publicUrl, now, log } = deps
  const { wait = pause, chance = Math.random } = deps
  const store = createDeliveryStore(db.dialect)
  const chats = createChatStore(db.dialect)
  const { drivers, bots } = createDrivers(channels, { ...deps, wait })
  const outbox = createOutbox({ ...deps, store, chats, drivers, settings: deps })
  const stop = new AbortController()
  const { signal } = stop
  const senders = [...drivers].map(([id, driver]) =>
    startSender(id, driver, {
      db,
      store,
      now,
      wait,
      chance,
      // Marking a message makes no sound.
      awakeAt: (delivery, at) =>
        driver.edits && delivery.event === 'approval.decided'
          ? at
          : endOfQuietHours(at, riskOf(delivery), deps.quietHours),
      log,
    }),
  )
  const ring = () => {
    for (const sender of senders) sender.ring()
  }

  async function tell(tx: Tx, entries: Entry[]): Promise<(() => void) | void> {
    if (await outbox(tx, entries)) return ring
  }

  async function persist(what: string, work: () => Promise<void>) {
    for (let isBroken = false; !signal.aborted;)
      try {
        await work()
        isBroken = false
      } catch (error) {
        if (!isBroken) log.error(what, { error: errorMessage(error) })
        isBroken = true
        await wait(retryAfter, signal)
      }
  }

  // A notice repeats what the approval says (L8).
  const stopErasing = ledger.onErase(async (tx, erased) => {
    if ('before' in erased) return store.dropOld(tx, erased.before)
    let count = 0
    for (const id of erased.approvals) count += await store.dropAbout(tx, id)
    return count
  })

  const follow = () => ledger.consume('notify', tell, signal, 'next entry')
  const sweep = async () => {
    const before = { sent: now() - keep.sent, unsent: now() - keep.unsent }
    await db.transact(async (tx) => {
      await store.forget(tx, before)
      await chats.forgetMessages(tx, before.unsent)
    })
    await wait(hour, signal)
  }
  const postCheckpoint = createDailyCheckpoint({ ...deps, store, settings: deps })
  const postDaily = async () => {
    if (await postCheckpoint()) ring()
    await wait(hour, signal)
  }
  const running =
    senders.length === 0
      ? []
      : [
          persist('the ledger is not followed, so nobody is notified', follow),
          persist('old deliveries could not be deleted', sweep),
          persist('the daily checkpoint could not be posted', postDaily),
          ...[...bots.values()].map((bot) => bot.listen(signal)),
        ]

  return {
    list: (status: DeliveryStatus | undefined, limit: number) => store.list(db, status, limit),

    async retry(tx: Tx, id: string, call: { id: string; caller: Caller }): Promise<Delivery> {
      const delivery = await store.find(tx, id)
      if (!delivery) throw notFound(id)
      const { channel, approval, status } = delivery
      if (!drivers.has(channel)) throw noChannel(channel)
      const again = resetDelivery(delivery, now())
      if (status !== 'dead' || !(await store.change(tx, delivery, again))) throw notDead(id)
      tx.append({
        type: 'delivery.retried',
        actor: toActor(call.caller),
        subject: id,
        ids: { call: call.id, ...(approval !== '' && { approval }) },
        data: { channel },
      })
      return again
    },

    /** Sends a notice now, whatever the hour, and gives why it did not arrive, if so. */
    async test(id: string, call: { caller: Caller; signal: AbortSignal }) {
      const driver = drivers.get(id)
      if (!driver) throw notSent(id, channels)
      const review_url = inboxUrl(publicUrl())
      const notice: TestNotification = {
        type: 'channel.test',
        timestamp: formatRfc3339(now()),
        data: { channel: id, asked_by: sanitizeText(call.caller.id), review_url },
      }
      const message = { id: newId(), notice: JSON.stringify(notice), at: now() }
      const outcome = await driver.send(message, AbortSignal.any([signal, call.signal]))
      if (outcome.kind === 'sent') return { ok: true, reason: outcome.note }
      return { ok: false, reason: outcome.kind === 'failed' ? outcome.error : 'it was interrupted' }
    },

    async bindChat(tx: Tx, id: string, { caller }: { caller: Caller }) {
      const bot = bots.get(id)
      if (!bot) throw noBot(id, [...bots.keys()])
      return bot.makeCode(tx, caller.id)
    },

    async close() {
      stopErasing()
      stop.abort()
      await Promise.all([...running, ...senders.map((sender) => sender.close())])
    },
  }
}

const riskOf = ({ notice }: Delivery) =>
  (JSON.parse(notice) as { data: { risk: string } }).data.risk

const pause: Sleep = (ms, signal) =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)

const notFound = (id: string) =>
  new CoworkError('not_found', `There is no delivery ${JSON.stringify(id)}.`, {
    hint: 'cowork_list_deliveries lists them; those that were sent go after 7 days.',
  })

const noChannel = (channel: string) =>
  new CoworkError('unknown_channel', `No channel "${channel}" is configured any more.`, {
    hint: 'Add it to notify.channels again and restart.',
  })

const notSent = (id: string, channels: readonly Channel[]) =>
  channels.some((channel) => channel.id === id)
    ? new CoworkError('nothing_to_send', `"${id}" is shown by the console: nothing is sent.`, {
        hint: 'Open the console and allow its notifications in the settings.',
      })
    : new CoworkError('unknown_channel', `There is no channel ${JSON.stringify(id)}.`, {
        hint: `notify.channels has ${channels.map((channel) => channel.id).join(', ') || 'none'}.`,
      })

const noBot = (id: string, bots: readonly string[]) =>
  new CoworkError('unknown_channel', `There is no Telegram channel ${JSON.stringify(id)}.`, {
    hint: `notify.channels has ${bots.join(', ') || 'none'} of the type telegram.`,
  })

const notDead = (id: string) =>
  new CoworkError('delivery_not_dead', `Delivery ${id} is not dead: it was sent or still waits.`, {
    hint: 'Only what has failed for good is put back by hand.',
  })
