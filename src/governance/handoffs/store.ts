import { sql as raw } from 'kysely'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'

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
  /** Only what it handed over at this time or later. */
  readonly since?: number | undefined
  readonly domain?: string | undefined
}

export type HandoffStore = ReturnType<typeof createHandoffStore>

/** The only SQL about handoffs. */
export function createHandoffStore(dialect: Dialect) {
  const sql = builder<{ handoff: HandoffRow; approval: { id: string; created_at: number } }>(
    dialect,
  )
  const one = statement((p: { id: string }) =>
    sql.selectFrom('handoff').selectAll().where('id', '=', p.id),
  )
  const answered = statement((p: { id: string; backAt: number | null }) =>
    sql.updateTable('handoff').set({ remind_at: null, back_at: p.backAt }).where('id', '=', p.id),
  )
  const acknowledged = statement((p: { id: string }) =>
    sql
      .updateTable('handoff')
      .set({ back_at: null })
      .where('id', '=', p.id)
      .where('back_at', 'is not', null),
  )
  const thread = statement((p: { thread: string; limit: number }) =>
    sql
      .selectFrom('handoff')
      .select('id')
      .where('thread', '=', p.thread)
      .orderBy('id', 'desc')
      .limit(p.limit),
  )
  const due = statement((p: { at: number; limit: number }) =>
    sql
      .selectFrom('handoff')
      .selectAll()
      .where('remind_at', '<=', p.at)
      .orderBy('remind_at')
      .limit(p.limit),
  )
  const remind = statement((p: { id: string; at: number; next: number }) =>
    sql
      .updateTable('handoff')
      .set({ remind_at: p.next, reminded: raw<number>`reminded + 1` })
      .where('id', '=', p.id)
      .where('remind_at', '<=', p.at),
  )

  const handedBack = ({ agent, since, domain }: Asked) => {
    let found = sql
      .selectFrom('handoff')
      .where('agent', '=', agent)
      .where('back_at', 'is not', null)
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
    find: (reader: Reader, id: string) => reader.first(one({ id })),
    add: (tx: Tx, row: HandoffRow) => tx.insert('handoff', [row]),
    /** Answered or taken back: nobody is reminded any more. */
    answered: (tx: Tx, id: string, backAt: number | null) => tx.run(answered({ id, backAt })),
    /** False when the agent owed no answer. */
    acknowledged: async (tx: Tx, id: string) => (await tx.run(acknowledged({ id }))) > 0,
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
    thread: async (reader: Reader, root: string, limit: number) =>
      (await reader.all(thread({ thread: root, limit }))).map(({ id }) => id),
    due: (reader: Reader, at: number, limit: number) => reader.all(due({ at, limit })),
    /** False when another daemon did, or it was answered meanwhile. */
    remind: async (tx: Tx, id: string, at: number, next: number) =>
      (await tx.run(remind({ id, at, next }))) > 0,
  }
}
