import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { Actor } from '#base/entry.ts'
import type { EraseCopies } from '#ledger'
import { entryOf } from './rules.ts'
import type { Approval, Content } from './model.ts'
import type { ProtectedStore } from './protected-store.ts'
import type { ApprovalStore } from './store.ts'
import type { createWithdrawing } from './withdrawing.ts'

type Deps = {
  readonly store: ApprovalStore & ProtectedStore
  readonly drop: ReturnType<typeof createWithdrawing>['drop']
  readonly isLive: (approval: Approval) => boolean
  readonly now: Clock
}

const batchSize = 500
const why = 'Its content was erased.'

/**
 * Erases the copies that approvals keep of what a call said (L8). Nobody can judge or run what is erased: a person
 * who erases a pending approval withdraws it. Expiry by age leaves pending approvals until they are decided.
 */
export function createEraser({ store, drop, isLive, now }: Deps): EraseCopies {
  async function end(tx: Tx, approval: Approval, by: Actor): Promise<void> {
    if (approval.status === 'pending') await drop(tx, approval, 'withdrawn', by, {}, { why })
    else if (approval.kind === 'call' && isLive(approval)) {
      await store.takeBack(tx, approval.id, by.id, now())
      tx.append(entryOf('approval.withdrawn', approval, by, {}, { why }))
    }
  }

  const erase = (tx: Tx, approval: Approval) =>
    store.erase(tx, approval.id, { summary: '', content: erasedContent(approval) }, now())

  return async (tx, erased) => {
    if ('before' in erased) {
      const old = await store.oldDecided(tx, erased.before, batchSize)
      for (const approval of old) await erase(tx, approval)
      return old.length
    }
    let count = 0
    for (const id of erased.approvals) {
      const approval = await store.lock(tx, id)
      if (!approval || approval.content.erased) continue
      await end(tx, approval, erased.by)
      await erase(tx, approval)
      count++
    }
    return count
  }
}

/** Keeps what the entries of the ledger say as well: why a person was asked, and which records belong together. */
function erasedContent({ content: { why: reasons, client, more = {} } }: Approval): Content {
  const { reasoning_schema: _, ...ids } = more
  const { reasoning: __, ...facts } = reasons.more ?? {}
  return {
    change: null,
    erased: true,
    why: { ...reasons, text: why, more: facts },
    ...(client && { client }),
    more: ids,
  }
}
