import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import type { Delivery, DeliveryStatus, DelayReason } from './model.ts'

type Row = {
  id: string
  channel: string
  event: string
  approval: string
  notice: string
  status: DeliveryStatus
  attempts: number
  next_at: number
  held: DelayReason | null
  last_error: string | null
  created_at: number
  settled_at: number | null
}
type Tables = { delivery: Row }

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

export function createDeliveryStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const deliveries = sql.selectFrom('delivery')
  const drop = sql.deleteFrom('delivery')
  const pending = (channel: string) =>
    deliveries.where('status', '=', 'pending').where('channel', '=', channel)

  return {
    async find(reader: Reader, id: string): Promise<Delivery | undefined> {
      const row = await reader.first(query(deliveries.selectAll().where('id', '=', id)))
      return row && toDelivery(row)
    },
    async list(reader: Reader, status: DeliveryStatus | undefined, limit: number) {
      let found = deliveries.selectAll()
      if (status !== undefined) found = found.where('status', '=', status)
      const rows = await reader.all(query(found.orderBy('id', 'desc').limit(limit)))
      return rows.map(toDelivery)
    },
    /** Returns all deliveries about these approvals. */
    async listAbout(reader: Reader, approvals: readonly string[]): Promise<Delivery[]> {
      if (approvals.length === 0) return []
      const found = deliveries.selectAll().where('approval', 'in', approvals)
      return (await reader.all(query(found))).map(toDelivery)
    },
    deleteAbout: (tx: Tx, approval: string) => tx.run(query(drop.where('approval', '=', approval))),
    deleteOlder: (tx: Tx, before: number) =>
      tx.run(query(drop.where('status', '<>', 'pending').where('created_at', '<', before))),
    delete: (tx: Tx, id: string) => tx.run(query(drop.where('id', '=', id))),
    add: (tx: Tx, deliveries: readonly Delivery[]) => tx.insert('delivery', deliveries.map(toRow)),
    /** Returns 0 if another daemon or an earlier start already added it. */
    addOnce(tx: Tx, delivery: Delivery) {
      const added = sql.insertInto('delivery').values(toRow(delivery))
      return tx.run(query(added.onConflict((c) => c.column('id').doNothing())))
    },
    async listDue(reader: Reader, channel: string, at: number, limit: number) {
      const due = pending(channel).selectAll().where('next_at', '<=', at)
      const rows = await reader.all(query(due.orderBy('next_at').orderBy('id').limit(limit)))
      return rows.map(toDelivery)
    },
    async nextDueAt(reader: Reader, channel: string) {
      const next = pending(channel).select((eb) => eb.fn.min<number | null>('next_at').as('at'))
      return (await reader.first(query(next)))?.at ?? Infinity
    },
    /** Returns false if another daemon or a person changed the delivery first. */
    async replaceIfUnchanged(tx: Tx, was: Delivery, now: Delivery): Promise<boolean> {
      const { status, attempts, next_at, held, last_error, settled_at } = toRow(now)
      const changed = sql
        .updateTable('delivery')
        .set({ status, attempts, next_at, held, last_error, settled_at })
        .where('id', '=', was.id)
        .where('status', '=', was.status)
        .where('attempts', '=', was.attempts)
        .where('next_at', '=', was.nextAt)
      return (await tx.run(query(changed))) > 0
    },
    async deleteExpired(tx: Tx, before: { readonly sent: number; readonly unsent: number }) {
      const of = (status: DeliveryStatus) => drop.where('status', '=', status)
      await tx.run(query(of('sent').where('settled_at', '<', before.sent)))
      await tx.run(query(of('dead').where('settled_at', '<', before.unsent)))
      // Deliveries of a removed channel.
      await tx.run(query(of('pending').where('next_at', '<', before.unsent)))
    },
  }
}

const toDelivery = (row: Row): Delivery => ({
  id: row.id,
  channel: row.channel,
  event: row.event,
  approval: row.approval,
  notice: row.notice,
  status: row.status,
  attempts: row.attempts,
  nextAt: row.next_at,
  held: row.held,
  lastError: row.last_error,
  createdAt: row.created_at,
  settledAt: row.settled_at,
})

const toRow = (one: Delivery): Row => ({
  id: one.id,
  channel: one.channel,
  event: one.event,
  approval: one.approval,
  notice: one.notice,
  status: one.status,
  attempts: one.attempts,
  next_at: one.nextAt,
  held: one.held,
  last_error: one.lastError,
  created_at: one.createdAt,
  settled_at: one.settledAt,
})
