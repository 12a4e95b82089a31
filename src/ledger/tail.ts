import type { Snapshot } from '#base/db/port.ts'
import { messageOf } from '#base/errors.ts'
import { hexOf } from './chain.ts'
import { openCheckpoint } from './checkpoint.ts'
import type { Problem } from './model.ts'
import { createLedgerStore } from './store.ts'
import { decodeFrontier, leafHash, rootOf } from './tree.ts'

export type Tail = {
  readonly size: number
  /** Entries up to this seq are signed. */
  readonly signed: number
  /** When the newest entry was written. */
  readonly newestAt?: number
  readonly problem?: Problem
}

/** A quick look at the end: the newest entries follow each other, the head is theirs, the last checkpoint opens. */
export async function verifyTail(db: Snapshot, vkey: string, most = 1000): Promise<Tail> {
  const store = createLedgerStore(db.dialect)
  const head = await store.peek(db)
  const size = head?.size ?? 0
  const rows = await store.stored(db, Math.max(0, size - most), most)
  const latest = await store.latestCheckpoint(db)
  const newestAt = rows.at(-1)?.at
  const found = (signed: number, seq?: number, why = ''): Tail => ({
    size,
    signed,
    ...(newestAt !== undefined && { newestAt }),
    ...(seq !== undefined && { problem: { seq, why } }),
  })

  let previous: string | undefined
  for (const { seq, body, hash } of rows) {
    const leaf = leafHash(body).toString('hex')
    if (leaf !== hexOf(hash)) return found(0, seq, 'its bytes do not give its hash')
    if (previous !== undefined && prevOf(body) !== previous)
      return found(0, seq, 'it was written after another entry than the one before it')
    previous = leaf
  }
  const last = rows.at(-1)?.seq ?? 0
  if (last !== size) return found(0, last + 1, `${size} entries were written, ${last} are there`)
  if (head && size > 0 && head.hash !== previous)
    return found(0, size, 'the head of the ledger is not that of its entries')
  if (!latest) return found(0)
  try {
    const signed = openCheckpoint(latest.note, vkey)
    if (signed.size > size) return found(0, size + 1, `${signed.size} entries were signed`)
    const isWhole = head && signed.size === size
    if (isWhole && !signed.root.equals(rootOf(decodeFrontier(size, head.frontier))))
      return found(0, size, 'other entries were signed')
    return found(signed.size)
  } catch (error) {
    return found(0, latest.size, messageOf(error))
  }
}

const prevOf = (body: string | Uint8Array): unknown =>
  (JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as { prev?: unknown })
    .prev
