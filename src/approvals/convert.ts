import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Redact } from '#ledger'
import type { ApprovalKinds } from './kinds.ts'
import type { Approval } from './model.ts'
import type { Protection } from './protection.ts'
import type { ConvertedColumns, ProtectedStore } from './protected-store.ts'
import { formatDeferred } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: ProtectedStore
  readonly kinds: ApprovalKinds
  readonly protection: Protection
  readonly redact: Redact
}

const batchSize = 200

/**
 * Encrypts the arguments of pending approvals that earlier versions stored in plain text, and
 * redacts every visible copy (A14).
 */
export async function convertApprovals({
  db,
  store,
  kinds,
  protection,
  redact,
}: Deps): Promise<number> {
  let total = 0
  for (let count = batchSize; count === batchSize; total += count)
    count = await db.transact(async (tx) => {
      const rows = await store.listInClear(tx, batchSize)
      for (const row of rows) await store.convert(tx, toConverted(row))
      const data = { approvals: rows.length }
      if (rows.length > 0) tx.append({ type: 'approval.redacted', actor: systemActor, data })
      return rows.length
    })
  return total

  function toConverted(row: Approval): ConvertedColumns {
    const { id, content, approved = row.answer, deferred, reason, result } = row
    const act = {
      action: row.action,
      target: row.target,
      change: content.change,
      field: content.field,
    }
    const shown = protection.toShown(row)
    const approval = { ...row, ...shown }
    return {
      id,
      ...shown,
      content: JSON.stringify(shown.content),
      reason: reason === null ? null : redact(reason),
      approved:
        approved === undefined ? null : JSON.stringify(protection.redactForDisplay(approved)),
      held: deferred ? formatDeferred(toDeferred(approval)) : null,
      result: typeof result === 'string' ? protection.sealResult(id, result) : null,
      sealed: needsArguments(row)
        ? protection.sealCall(approval, {
            ...act,
            ...(row.approved !== undefined && { change: row.approved }),
          })
        : null,
    }
  }

  function needsArguments({ kind, status }: Approval): boolean {
    const { keepsArguments } = kinds.get(kind)
    if (status === 'pending') return keepsArguments !== undefined
    return status === 'approved' && keepsArguments === 'until used'
  }

  function toDeferred(approval: Approval) {
    const { until, decision } = approval.deferred ?? { until: 0, decision: undefined }
    if (!decision) throw new Error('no deferred decision')
    const { change } = decision
    return {
      until,
      decision,
      ...(change !== undefined && { sealedChange: protection.sealChange(approval, change) }),
    }
  }
}
