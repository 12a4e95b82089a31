import type { Dialect, Tx, Db } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { HeadMac } from './head-mac.ts'
import type { LedgerProblem } from './model.ts'
import type { LedgerStore } from './store.ts'
import { verifyTail } from './tail.ts'
import { decodeFrontier, computeRoot } from './tree.ts'
import type { Actor } from '#base/entry.ts'
import { createLedgerStore } from './store.ts'
import { acceptedType } from './verify.ts'

type HeadContext = {
  readonly dialect: Dialect
  readonly store: LedgerStore
  readonly headMac: HeadMac
}

/**
 * Refuses a store whose newest entries are neither signed nor covered by a MAC (L14): the daemon would sign entries that
 * were written without the key. Adds a MAC to the head of an older version if a checkpoint signs it.
 */
export async function checkHead(tx: Tx, { dialect, store, headMac }: HeadContext): Promise<void> {
  await store.saveKey(tx, headMac.vkey)
  // Locks the head on PostgreSQL, so that no other daemon commits during the check.
  const head = await store.head(tx)
  const options = { mac: headMac, minEntries: 1 }
  const { problem } = await verifyTail({ ...tx, dialect }, headMac.vkey, options)
  if (problem) throw unprovenError(problem)
  if (!head || headMac.isValid(head)) return
  const root = computeRoot(decodeFrontier(head.size, head.frontier))
  await store.saveHead(tx, { ...head, mac: headMac.compute(head.size, root) })
}

const unprovenError = ({ seq, why }: LedgerProblem) =>
  new CoworkError('ledger_unproven', `Ledger not proven from entry ${seq}: ${why}.`, {
    hint: 'Restore a backup with `cowork restore`, or examine the store and accept its entries with `cowork ledger accept --reason "…"`.',
  })

export type Acceptance = {
  readonly from: number
  readonly to: number
  readonly reason: string
  readonly actor: Actor
}

/**
 * Adds a MAC to a verified head and records in the same commit which entries the owner accepts and why (L14). Every later
 * verification shows the range.
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
    const root = computeRoot(decodeFrontier(to, head.frontier))
    await store.saveHead(tx, { ...head, mac: headMac.compute(to, root) })
    tx.append({ type: acceptedType, actor, data: { from, to, reason } })
  })
}
