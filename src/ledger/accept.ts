import type { Db } from '#base/db/port.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { HeadMac } from './head-mac.ts'
import { createLedgerStore } from './store.ts'
import { decodeFrontier, rootOf } from './tree.ts'
import { acceptedType } from './verify.ts'

export type Acceptance = {
  readonly from: number
  readonly to: number
  readonly reason: string
  readonly actor: Actor
}

/**
 * Puts a MAC on a verified head that has none, and records in the same commit which entries the owner accepts
 * and why (L14). Every later verification shows the range.
 */
export async function acceptEntries(
  db: Db,
  headMac: HeadMac,
  { from, to, reason, actor }: Acceptance,
): Promise<void> {
  const store = createLedgerStore(db.dialect)
  await db.transact(async (tx) => {
    const head = await store.head(tx)
    if (head?.size !== to)
      throw new CoworkError('conflict', 'The ledger changed during the check.', {
        hint: 'Stop every daemon that uses this store, then run the command again.',
      })
    const root = rootOf(decodeFrontier(to, head.frontier))
    await store.saveHead(tx, { ...head, mac: headMac.of(to, root) })
    tx.append({ type: acceptedType, actor, data: { from, to, reason } })
  })
}
