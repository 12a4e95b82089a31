import type { Dialect, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import type { ApprovalContent } from './model.ts'
import { toApproval } from './store.ts'
import type { ApprovalRow } from './store.ts'

/** The columns of an approval that the conversion rewrites. */
export type ConvertedColumns = Pick<
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

/** Creates the statements that delete, convert and erase stored arguments (A14, L8). */
export function createProtectedStore(dialect: Dialect) {
  const sql = builder<{ approval: ApprovalRow }>(dialect)
  const approvals = sql.selectFrom('approval').selectAll()
  const update = sql.updateTable('approval')
  const locked = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q
  return {
    /**
     * Deletes the arguments of calls that were approved before this time, because they can no
     * longer run.
     */
    deleteArguments(tx: Tx, before: number) {
      const unsealed = update.set({ sealed: null }).where('sealed', 'is not', null)
      const old = unsealed.where('status', '=', 'approved').where('decided_at', '<=', before)
      return tx.run(query(old))
    },
    async listInClear(tx: Tx, limit: number) {
      const found = approvals.where('in_clear', 'is not', null).orderBy('id').limit(limit)
      return (await tx.all(query(locked(found)))).map(toApproval)
    },
    convert(tx: Tx, { id, ...columns }: ConvertedColumns) {
      return tx.run(query(update.set({ ...columns, in_clear: null }).where('id', '=', id)))
    },
    erase(tx: Tx, id: string, shown: { content: ApprovalContent; summary: string }, at: number) {
      const erased = update.set({
        content: JSON.stringify(shown.content),
        summary: shown.summary,
        approved: null,
        held: null,
        held_until: null,
        result: null,
        result_until: null,
        sealed: null,
        erased_at: at,
      })
      return tx.run(query(erased.where('id', '=', id)))
    },
    async listDecidedBefore(tx: Tx, before: number, limit: number) {
      const old = approvals
        .where('erased_at', 'is', null)
        .where('created_at', '<', before)
        .where('status', '<>', 'pending')
        .orderBy('created_at')
        .limit(limit)
      return (await tx.all(query(locked(old)))).map(toApproval)
    },
  }
}
