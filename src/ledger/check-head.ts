import type { Dialect, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { HeadMac } from './head-mac.ts'
import type { Problem } from './model.ts'
import type { LedgerStore } from './store.ts'
import { verifyTail } from './tail.ts'
import { decodeFrontier, rootOf } from './tree.ts'

type Opened = {
  readonly dialect: Dialect
  readonly store: LedgerStore
  readonly headMac: HeadMac
}

/**
 * Refuses a store whose newest entries are neither signed nor covered by a MAC (L14): the daemon would sign what
 * somebody without the key wrote. The head of an older version gets its MAC here if a checkpoint signs it.
 */
export async function checkHead(tx: Tx, { dialect, store, headMac }: Opened): Promise<void> {
  await store.saveKey(tx, headMac.vkey)
  // Locked on PostgreSQL, so that no other daemon commits during the check.
  const head = await store.head(tx)
  const options = { mac: headMac, minEntries: 1 }
  const { problem } = await verifyTail({ ...tx, dialect }, headMac.vkey, options)
  if (problem) throw unproven(problem)
  if (!head || headMac.isValid(head)) return
  const root = rootOf(decodeFrontier(head.size, head.frontier))
  await store.saveHead(tx, { ...head, mac: headMac.of(head.size, root) })
}

const unproven = ({ seq, why }: Problem) =>
  new CoworkError('ledger_unproven', `The ledger is not proven from entry ${seq} on: ${why}.`, {
    hint: 'Restore a backup with `cowork restore`, or examine the store and accept its entries with `cowork ledger accept --reason "…"`.',
  })
