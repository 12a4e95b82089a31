import type { Dialect, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Content } from './model.ts'
import { toApproval } from './store.ts'
import type { ApprovalRow } from './store.ts'

/** An approval of before, as it is stored from now on. */
export type Converted = Pick<
  ApprovalRow,
  | 'id'
  | 'action'
  | 'target'
  | 'summary'
  | 'content'
  | 'reason'
  | 'approved'
  | 'held'
  | 'result'
  | 'sealed'
>

export type ProtectedStore = ReturnType<typeof createProtectedStore>

/** The SQL that deletes, converts and erases what approvals keep of arguments (A14, L8). */
export function createProtectedStore(dialect: Dialect) {
  const sql = builder<{ approval: ApprovalRow }>(dialect)
  const locked = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q
  const unseal = statement((p: { before: number }) =>
    sql
      .updateTable('approval')
      .set({ sealed: null })
      .where('sealed', 'is not', null)
      .where('status', '=', 'approved')
      .where('decided_at', '<=', p.before),
  )
  const inClear = statement((p: { limit: number }) =>
    locked(
      sql
        .selectFrom('approval')
        .selectAll()
        .where('in_clear', 'is not', null)
        .orderBy('id')
        .limit(p.limit),
    ),
  )
  const erase = statement((p: { id: string; content: string; summary: string; at: number }) =>
    sql
      .updateTable('approval')
      .set({
        content: p.content,
        summary: p.summary,
        approved: null,
        held: null,
        held_until: null,
        result: null,
        result_until: null,
        sealed: null,
        erased_at: p.at,
      })
      .where('id', '=', p.id),
  )
  const oldDecided = statement((p: { before: number; limit: number }) =>
    locked(
      sql
        .selectFrom('approval')
        .selectAll()
        .where('erased_at', 'is', null)
        .where('created_at', '<', p.before)
        .where('status', '<>', 'pending')
        .orderBy('created_at')
        .limit(p.limit),
    ),
  )

  return {
    /** Deletes the arguments of calls that were approved before this time: nobody can claim them any more. */
    unseal: (tx: Tx, before: number) => tx.run(unseal({ before })),
    inClear: async (tx: Tx, limit: number) => (await tx.all(inClear({ limit }))).map(toApproval),
    convert(tx: Tx, { id, ...columns }: Converted) {
      const converted = sql.updateTable('approval').set({ ...columns, in_clear: null })
      return tx.run(query(converted.where('id', '=', id)))
    },
    erase: (tx: Tx, id: string, shown: { content: Content; summary: string }, at: number) =>
      tx.run(erase({ id, summary: shown.summary, content: JSON.stringify(shown.content), at })),
    /** Decided approvals from before this time that are not erased, oldest first. */
    oldDecided: async (tx: Tx, before: number, limit: number) =>
      (await tx.all(oldDecided({ before, limit }))).map(toApproval),
  }
}
