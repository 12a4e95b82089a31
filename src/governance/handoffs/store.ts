import { sql as raw } from 'kysely'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'

/** What a handoff has besides its approval: its thread, who is still owed something, and when. */
export type HandoffRow = {
  id: string
  /** The handoff that it all began with. */
  thread: string
  agent: string
  domain: string
  /** While nobody has answered: when people are told of it again. */
  remind_at: number | null
  reminded: number
  /** When it was handed back; until the agent says that it knows. */
  back_at: number | null
}

type Asked = {
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

  const handedBack = ({ agent, since, domain }: Asked) => {
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
    /** Answered or taken back: nobody is reminded any more. */
    answered: (tx: Tx, id: string, backAt: number | null) =>
      tx.run(query(change.set({ remind_at: null, back_at: backAt }).where('id', '=', id))),
    /** False when the agent owed no answer. */
    async acknowledged(tx: Tx, id: string) {
      const owed = change
        .set({ back_at: null })
        .where('id', '=', id)
        .where('back_at', 'is not', null)
      return (await tx.run(query(owed))) > 0
    },
    /** What an agent was handed back and has not said that it knows, oldest first. */
    async handedBack(reader: Reader, asked: Asked, limit: number) {
      const found = handedBack(asked)
      const rows = await reader.all(
        query(found.select('id').orderBy('back_at').orderBy('id').limit(limit)),
      )
      const all = await reader.first(
        query(found.select((eb) => eb.fn.countAll<number>().as('count'))),
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
    /** False when another daemon did, or it was answered meanwhile. */
    async remind(tx: Tx, id: string, at: number, next: number) {
      const reminded = change.set({ remind_at: next, reminded: raw<number>`reminded + 1` })
      const due = reminded.where('id', '=', id).where('remind_at', '<=', at)
      return (await tx.run(query(due))) > 0
    },
  }
}
