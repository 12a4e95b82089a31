import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Delivery, Driver, Sleep } from './model.ts'
import { markSending, applySendOutcome } from './rules.ts'
import type { DeliveryStore } from './store.ts'
import { groupDeliveries } from './schedule.ts'

/** So many at a time to one receiver. */
const atOnce = 4
/** So many can become one message for people. */
const mostTogether = 500
/** Rings are for this daemon only; what another one left behind when it crashed is found by looking. */
const lookEvery = 30_000

export type SenderDeps = {
  readonly db: Db
  readonly store: DeliveryStore
  readonly now: Clock
  readonly wait: Sleep
  readonly chance: () => number
  /** From when on it may be sent: people sleep also when a retry is due. */
  readonly awakeAt: (delivery: Delivery, now: number) => number
  readonly log: Log
}

/**
 * Takes what is due for one channel and sends it, until closed. Each channel has a sender of its own, so a
 * receiver that hangs is waited for by nobody else (A10).
 */
export function startSender(channel: string, { send, audience }: Driver, deps: SenderDeps) {
  const { db, store, now, wait, chance, awakeAt, log } = deps
  const ending = new AbortController()
  const underWay = new Set<Promise<void>>()
  let bell = new AbortController()
  function ring() {
    bell.abort()
    bell = new AbortController()
  }

  /**
   * Several daemons may look at once; a delivery belongs to the one that changes it first. Undefined when
   * nothing was due; what may not be sent yet is put off.
   */
  async function takeDue(most: number): Promise<Delivery[][] | undefined> {
    const due = await store.due(db, channel, now(), audience === 'person' ? mostTogether : most)
    if (due.length === 0) return undefined
    const parcels = groupDeliveries(due, audience).slice(0, most)
    return db.transact(async (tx) => {
      const ours: Delivery[][] = []
      for (const parcel of parcels) {
        const own: Delivery[] = []
        for (const delivery of parcel) {
          const at = now()
          const nextAt = awakeAt(delivery, at)
          const isAwake = nextAt <= at
          const next = isAwake
            ? markSending(delivery, at)
            : { ...delivery, nextAt, held: delivery.held ?? ('quiet' as const) }
          if ((await store.change(tx, delivery, next)) && isAwake) own.push(next)
        }
        if (own.length > 0) ours.push(own)
      }
      return ours
    })
  }

  async function deliver(parcel: Delivery[]) {
    const [first, ...more] = parcel
    if (!first) return
    const message = { id: first.id, notice: first.notice, at: now(), more }
    const outcome = await send(message, ending.signal)
    // One for all of them, so that what went together is tried again together.
    const spread = chance()
    const after = parcel.map((was) => ({ was, is: applySendOutcome(was, outcome, now(), spread) }))
    await db.transact(async (tx) => {
      for (const { was, is } of after) {
        const { id, approval, status, attempts, lastError: error } = is
        // A decision may have made it needless on the way.
        const isOurs = await store.change(tx, was, is)
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
        log.warn('a notice could not be delivered', { channel, delivery: id, attempts, error })
      else if (outcome.kind === 'failed')
        log.debug('a notice is sent again later', { channel, delivery: id, attempts, error })
    }
  }

  function start(parcel: Delivery[]) {
    const sending = deliver(parcel)
      // It stays taken for a while and is sent again then.
      .catch((error: unknown) =>
        log.error('a notice is in doubt', { channel, error: errorMessage(error) }),
      )
      .finally(() => {
        underWay.delete(sending)
        ring()
      })
    underWay.add(sending)
  }

  async function work(rung: AbortSignal) {
    const room = atOnce - underWay.size
    const ours = room > 0 ? await takeDue(room) : undefined
    for (const parcel of ours ?? []) start(parcel)
    if (ours) return
    const due = room > 0 ? await store.nextAt(db, channel) : Infinity
    // Something may have come due, or been taken by another daemon, since we looked.
    if (due > now()) await wait(Math.min(due - now(), lookEvery), rung)
  }

  async function run() {
    while (!ending.signal.aborted) {
      // Asked before looking, or what is rung for in between is slept through.
      const rung = bell.signal
      try {
        await work(rung)
      } catch (error) {
        log.error('notices cannot be sent', { channel, error: errorMessage(error) })
        await wait(lookEvery, ending.signal)
      }
    }
  }
  const running = run()

  return {
    ring,
    async close() {
      ending.abort()
      ring()
      await running
      await Promise.all(underWay)
    },
  }
}
