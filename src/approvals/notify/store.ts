import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Delivery, DeliveryStatus, Hold } from './model.ts'

type Row = {
  id: string
  channel: string
  event: string
  approval: string
  notice: string
  status: DeliveryStatus
  attempts: number
  next_at: number
  held: Hold | null
  last_error: string | null
  created_at: number
  settled_at: number | null
}
type Tables = { delivery: Row }

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

/** The only SQL about deliveries. */
export function createDeliveryStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const one = statement((p: { id: string }) =>
    sql.selectFrom('delivery').selectAll().where('id', '=', p.id),
  )
  const pending = (channel: string) =>
    sql.selectFrom('delivery').where('status', '=', 'pending').where('channel', '=', channel)
  const due = statement((p: { channel: string; at: number; limit: number }) =>
    pending(p.channel)
      .selectAll()
      .where('next_at', '<=', p.at)
      .orderBy('next_at')
      .orderBy('id')
      .limit(p.limit),
  )
  const next = statement((p: { channel: string }) =>
    pending(p.channel).select((eb) => eb.fn.min<number | null>('next_at').as('at')),
  )
  const change = statement((p: Change) =>
    sql
      .updateTable('delivery')
      .set({
        status: p.status,
        attempts: p.attempts,
        next_at: p.nextAt,
        held: p.held,
        last_error: p.lastError,
        settled_at: p.settledAt,
      })
      .where('id', '=', p.id)
      .where('status', '=', p.wasStatus)
      .where('attempts', '=', p.wasAttempts)
      .where('next_at', '=', p.wasNextAt),
  )
  const drop = statement((p: { id: string }) => sql.deleteFrom('delivery').where('id', '=', p.id))
  const dropAbout = statement((p: { approval: string }) =>
    sql.deleteFrom('delivery').where('approval', '=', p.approval),
  )
  const dropOld = statement((p: { before: number }) =>
    sql.deleteFrom('delivery').where('status', '<>', 'pending').where('created_at', '<', p.before),
  )
  const forgetSettled = statement((p: { status: DeliveryStatus; before: number }) =>
    sql.deleteFrom('delivery').where('status', '=', p.status).where('settled_at', '<', p.before),
  )
  // Those of a channel that is configured no more.
  const forgetLeft = statement((p: { before: number }) =>
    sql.deleteFrom('delivery').where('status', '=', 'pending').where('next_at', '<', p.before),
  )

  return {
    async find(reader: Reader, id: string): Promise<Delivery | undefined> {
      const row = await reader.first(one({ id }))
      return row && toDelivery(row)
    },
    /** Newest first. */
    async list(reader: Reader, status: DeliveryStatus | undefined, limit: number) {
      let found = sql.selectFrom('delivery').selectAll()
      if (status !== undefined) found = found.where('status', '=', status)
      const rows = await reader.all(query(found.orderBy('id', 'desc').limit(limit)))
      return rows.map(toDelivery)
    },
    /** Everything that was or is to be told of these approvals. */
    async about(reader: Reader, approvals: readonly string[]): Promise<Delivery[]> {
      if (approvals.length === 0) return []
      const found = sql.selectFrom('delivery').selectAll().where('approval', 'in', approvals)
      return (await reader.all(query(found))).map(toDelivery)
    },
    dropAbout: (tx: Tx, approval: string) => tx.run(dropAbout({ approval })),
    /** Deliveries that were settled before this time. */
    dropOld: (tx: Tx, before: number) => tx.run(dropOld({ before })),
    drop: (tx: Tx, id: string) => tx.run(drop({ id })),
    add: (tx: Tx, deliveries: readonly Delivery[]) => tx.insert('delivery', deliveries.map(toRow)),
    /** Gives 0 if another daemon, or an earlier start, has added it. */
    addOnce(tx: Tx, delivery: Delivery) {
      const added = sql.insertInto('delivery').values(toRow(delivery))
      return tx.run(query(added.onConflict((c) => c.column('id').doNothing())))
    },
    due: async (reader: Reader, channel: string, at: number, limit: number) =>
      (await reader.all(due({ channel, at, limit }))).map(toDelivery),
    nextAt: async (reader: Reader, channel: string) =>
      (await reader.first(next({ channel })))?.at ?? Infinity,
    /** False when it is not as it was any more: another daemon has it, or a person was faster. */
    async change(tx: Tx, was: Delivery, now: Delivery): Promise<boolean> {
      const { status: wasStatus, attempts: wasAttempts, nextAt: wasNextAt } = was
      return (await tx.run(change({ ...now, wasStatus, wasAttempts, wasNextAt }))) > 0
    },
    async forget(tx: Tx, before: { readonly sent: number; readonly unsent: number }) {
      await tx.run(forgetSettled({ status: 'sent', before: before.sent }))
      await tx.run(forgetSettled({ status: 'dead', before: before.unsent }))
      await tx.run(forgetLeft({ before: before.unsent }))
    },
  }
}

type Change = Delivery & {
  readonly wasStatus: DeliveryStatus
  readonly wasAttempts: number
  readonly wasNextAt: number
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
