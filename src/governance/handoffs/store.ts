import { sql as raw } from 'kysely'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'

/** The state of a handoff besides its approval: thread, reminders and hand-back. */
export type HandoffRow = {
  id: string
  /** The first handoff of the thread. */
  thread: string
  agent: string
  domain: string
  /** Time of the next reminder; null after the answer. */
  remind_at: number | null
  reminded: number
  /** Time of the hand-back; null after the agent acknowledges it. */
  back_at: number | null
}

type HandedBackQuery = {
  readonly agent: string
  readonly since?: number | undefined
  readonly domain?: string | undefined
}

export type HandoffStore = ReturnType<typeof createHandoffStore>

export function createHandoffStore(dialect: Dialect) {
  const sql = builder<{ handoff: HandoffRow; approval: { id: string; created_at: number } }>(
    dialect,
  )
  const handoffs = sql.selectFrom('handoff')
  const change = sql.updateTable('handoff')

  const selectHandedBack = ({ agent, since, domain }: HandedBackQuery) => {
    let found = handoffs.where('agent', '=', agent).where('back_at', 'is not', null)
    if (domain !== undefined) found = found.where('domain', '=', domain)
    if (since === undefined) return found
    return found.where((eb) =>
      eb.exists(
        eb
          .selectFrom('approval')
          .select('approval.id')
          .whereRef('approval.id', '=', 'handoff.id')
          .where('created_at', '>=', since),
      ),
    )
  }

  return {
    find: (reader: Reader, id: string) =>
      reader.first(query(handoffs.selectAll().where('id', '=', id))),
    add: (tx: Tx, row: HandoffRow) => tx.insert('handoff', [row]),
    /** Records an answer or a withdrawal: no more reminders. */
    recordAnswer: (tx: Tx, id: string, backAt: number | null) =>
      tx.run(query(change.set({ remind_at: null, back_at: backAt }).where('id', '=', id))),
    /** Returns false when nothing was left to acknowledge. */
    async markAcknowledged(tx: Tx, id: string) {
      const unacknowledged = change
        .set({ back_at: null })
        .where('id', '=', id)
        .where('back_at', 'is not', null)
      return (await tx.run(query(unacknowledged))) > 0
    },
    /** Lists handoffs that the agent has not acknowledged, oldest first. */
    async handedBack(reader: Reader, filter: HandedBackQuery, limit: number) {
      const selected = selectHandedBack(filter)
      const rows = await reader.all(
        query(selected.select('id').orderBy('back_at').orderBy('id').limit(limit)),
      )
      const all = await reader.first(
        query(selected.select((eb) => eb.fn.countAll<number>().as('count'))),
      )
      return { ids: rows.map(({ id }) => id), count: Number(all?.count ?? 0) }
    },
    async thread(reader: Reader, root: string, limit: number) {
      const newest = handoffs.select('id').where('thread', '=', root).orderBy('id', 'desc')
      return (await reader.all(query(newest.limit(limit)))).map(({ id }) => id)
    },
    due(reader: Reader, at: number, limit: number) {
      const due = handoffs.selectAll().where('remind_at', '<=', at).orderBy('remind_at')
      return reader.all(query(due.limit(limit)))
    },
    /** Returns false when another daemon sent the reminder or a person answered first. */
    async remind(tx: Tx, id: string, at: number, next: number) {
      const reminded = change.set({ remind_at: next, reminded: raw<number>`reminded + 1` })
      const due = reminded.where('id', '=', id).where('remind_at', '<=', at)
      return (await tx.run(query(due))) > 0
    },
  }
}
