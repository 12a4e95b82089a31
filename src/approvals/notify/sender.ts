import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Delivery, Send, Wait } from './model.ts'
import { taken, tried } from './rules.ts'
import type { DeliveryStore } from './store.ts'

/** So many at a time to one receiver. */
const atOnce = 4
/** Rings are for this daemon only; what another one left behind when it crashed is found by looking. */
const lookEvery = 30_000

export type SenderDeps = {
  readonly db: Db
  readonly store: DeliveryStore
  readonly now: Clock
  readonly wait: Wait
  readonly chance: () => number
  readonly log: Log
}

/**
 * Takes what is due for one channel and sends it, until closed. Each channel has a sender of its own, so a
 * receiver that hangs is waited for by nobody else (A10).
 */
export function startSender(channel: string, send: Send, deps: SenderDeps) {
  const { db, store, now, wait, chance, log } = deps
  const ending = new AbortController()
  const underWay = new Set<Promise<void>>()
  let bell = new AbortController()
  function ring() {
    bell.abort()
    bell = new AbortController()
  }

  /** Several daemons may look at once; a delivery belongs to the one that changes it first. */
  async function takeDue(most: number): Promise<Delivery[]> {
    const due = await store.due(db, channel, now(), most)
    if (due.length === 0) return []
    return db.transact(async (tx) => {
      const ours: Delivery[] = []
      for (const delivery of due) {
        const held = taken(delivery, now())
        if (await store.change(tx, delivery, held)) ours.push(held)
      }
      return ours
    })
  }

  async function deliver(held: Delivery) {
    const { id, notice, approval } = held
    const outcome = await send({ id, notice, at: now() }, ending.signal)
    const after = tried(held, outcome, now(), chance())
    const { status, attempts, lastError: error } = after
    await db.transact(async (tx) => {
      const isOurs = await store.change(tx, held, after)
      if (isOurs && status === 'dead')
        tx.append({
          type: 'delivery.failed',
          actor: systemActor,
          subject: id,
          ids: { approval },
          data: { channel, attempts, error },
        })
    })
    if (status === 'dead')
      log.warn('a notice could not be delivered', { channel, delivery: id, attempts, error })
    else if (outcome.kind === 'failed')
      log.debug('a notice is sent again later', { channel, delivery: id, attempts, error })
  }

  function start(held: Delivery) {
    const sending = deliver(held)
      // It stays taken for a while and is sent again then.
      .catch((error: unknown) =>
        log.error('a notice is in doubt', { channel, error: messageOf(error) }),
      )
      .finally(() => {
        underWay.delete(sending)
        ring()
      })
    underWay.add(sending)
  }

  async function work(rung: AbortSignal) {
    const room = atOnce - underWay.size
    const ours = room > 0 ? await takeDue(room) : []
    for (const held of ours) start(held)
    if (ours.length > 0) return
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
        log.error('notices cannot be sent', { channel, error: messageOf(error) })
        await wait(lookEvery, ending.signal)
      }
    }
  }
  const running = run()

  return {
    /** There is something to send. */
    ring,
    async close() {
      ending.abort()
      ring()
      await running
      await Promise.all(underWay)
    },
  }
}
