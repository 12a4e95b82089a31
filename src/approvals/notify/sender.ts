import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Delivery, Driver, Sleep } from './model.ts'
import { markSending, applySendOutcome } from './rules.ts'
import type { DeliveryStore } from './store.ts'
import { groupDeliveries } from './schedule.ts'

const maxConcurrent = 4
const maxGrouped = 500
/** `wake` reaches only this daemon; polling finds deliveries of a crashed daemon. */
const pollIntervalMs = 30_000

export type SenderDeps = {
  readonly db: Db
  readonly store: DeliveryStore
  readonly now: Clock
  readonly sleep: Sleep
  readonly chance: () => number
  /** Returns the earliest send time, because quiet hours also apply to retries. */
  readonly allowedFrom: (delivery: Delivery, now: number) => number
  readonly log: Log
}

/**
 * Sends the due deliveries of one channel until it is closed. Each channel has its own sender, so
 * a hanging receiver delays no other channel (A10).
 */
export function startSender(channel: string, { send, audience }: Driver, deps: SenderDeps) {
  const { db, store, now, sleep, chance, allowedFrom, log } = deps
  const closing = new AbortController()
  const inFlight = new Set<Promise<void>>()
  let wakeUp = new AbortController()
  function wake() {
    wakeUp.abort()
    wakeUp = new AbortController()
  }

  /**
   * Claims due deliveries; of several daemons, the first update wins. Postpones deliveries in
   * quiet hours. Returns undefined if nothing was due.
   */
  async function claimDue(most: number): Promise<Delivery[][] | undefined> {
    const due = await store.listDue(db, channel, now(), audience === 'person' ? maxGrouped : most)
    if (due.length === 0) return undefined
    const parcels = groupDeliveries(due, audience).slice(0, most)
    return db.transact(async (tx) => {
      const ours: Delivery[][] = []
      for (const parcel of parcels) {
        const own: Delivery[] = []
        for (const delivery of parcel) {
          const at = now()
          const nextAt = allowedFrom(delivery, at)
          const isAwake = nextAt <= at
          const next = isAwake
            ? markSending(delivery, at)
            : { ...delivery, nextAt, held: delivery.held ?? ('quiet' as const) }
          if ((await store.replaceIfUnchanged(tx, delivery, next)) && isAwake) own.push(next)
        }
        if (own.length > 0) ours.push(own)
      }
      return ours
    })
  }

  async function sendGroup(parcel: Delivery[]) {
    const [first, ...more] = parcel
    if (!first) return
    const message = { id: first.id, notice: first.notice, at: now(), more }
    const outcome = await send(message, closing.signal)
    // One random value for the group, so its deliveries are retried together.
    const spread = chance()
    const after = parcel.map((was) => ({ was, is: applySendOutcome(was, outcome, now(), spread) }))
    await db.transact(async (tx) => {
      for (const { was, is } of after) {
        const { id, approval, status, attempts, lastError: error } = is
        // A decision may have deleted the delivery during the attempt.
        const isOurs = await store.replaceIfUnchanged(tx, was, is)
        if (isOurs && status === 'dead')
          tx.append({
            type: 'delivery.failed',
            actor: systemActor,
            subject: id,
            ...(approval !== '' && { ids: { approval } }),
            data: { channel, attempts, error },
          })
      }
    })
    for (const { is } of after) {
      const { id, status, attempts, lastError: error } = is
      if (status === 'dead')
        log.warn('delivery failed permanently', { channel, delivery: id, attempts, error })
      else if (outcome.kind === 'failed')
        log.debug('delivery failed, retry scheduled', { channel, delivery: id, attempts, error })
    }
  }

  function start(parcel: Delivery[]) {
    const sending = sendGroup(parcel)
      // The lease ends after a while; then the delivery is sent again.
      .catch((error: unknown) =>
        log.error('delivery state unknown', { channel, error: errorMessage(error) }),
      )
      .finally(() => {
        inFlight.delete(sending)
        wake()
      })
    inFlight.add(sending)
  }

  async function work(rung: AbortSignal) {
    const room = maxConcurrent - inFlight.size
    const ours = room > 0 ? await claimDue(room) : undefined
    for (const parcel of ours ?? []) start(parcel)
    if (ours) return
    const due = room > 0 ? await store.nextDueAt(db, channel) : Infinity
    // A delivery may have become due or been claimed by another daemon since the query.
    if (due > now()) await sleep(Math.min(due - now(), pollIntervalMs), rung)
  }

  async function run() {
    while (!closing.signal.aborted) {
      // Read before the query, so a wake-up during the query is not missed.
      const rung = wakeUp.signal
      try {
        await work(rung)
      } catch (error) {
        log.error('sending of notifications failed', { channel, error: errorMessage(error) })
        await sleep(pollIntervalMs, closing.signal)
      }
    }
  }
  const running = run()

  return {
    wake,
    async close() {
      closing.abort()
      wake()
      await running
      await Promise.all(inFlight)
    },
  }
}
