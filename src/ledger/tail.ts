import type { Dialect, Reader } from '#base/db/port.ts'
import { paginateByKey } from '#base/db/pages.ts'
import { errorMessage } from '#base/errors.ts'
import { toHex } from './chain-verifier.ts'
import { verifyCheckpoint } from './checkpoint.ts'
import type { HeadMac } from './head-mac.ts'
import type { LedgerProblem } from './model.ts'
import { frontierAt } from './proof.ts'
import { createLedgerStore } from './store.ts'
import { appendLeaf, encodeFrontier, leafHash, computeRoot } from './tree.ts'

export type TailCheck = {
  readonly size: number
  /** The seq of the last signed entry. */
  readonly signed: number
  readonly newestAt?: number
  readonly problem?: LedgerProblem
}

export type TailOptions = {
  /** Derived from the private key. Without it, entries after the last checkpoint are a problem. */
  readonly mac?: HeadMac | undefined
  readonly minEntries?: number
}

/**
 * Verifies the end of the ledger: the last checkpoint is valid, the entries after it lead to the head, and the head is
 * signed or has a valid MAC (L14). The daemon starts only with a store that passes.
 */
export async function verifyTail(
  db: Reader & { readonly dialect: Dialect },
  vkey: string,
  { mac, minEntries = 1000 }: TailOptions = {},
): Promise<TailCheck> {
  const store = createLedgerStore(db.dialect)
  const head = await store.peek(db)
  const size = head?.size ?? 0
  const latest = await store.latestCheckpoint(db)
  let newestAt: number | undefined
  const result = (signed: number, seq?: number, why = ''): TailCheck => ({
    size,
    signed,
    ...(newestAt !== undefined && { newestAt }),
    ...(seq !== undefined && { problem: { seq, why } }),
  })

  let signed = 0
  try {
    const checkpoint = latest && verifyCheckpoint(latest.note, vkey)
    signed = checkpoint?.size ?? 0
    if (signed > size) return result(0, size + 1, `${signed} entries were signed`)
    let frontier = await frontierAt(store.hashes(db), signed)
    if (checkpoint && !checkpoint.root.equals(computeRoot(frontier)))
      return result(0, signed, 'other entries were signed')

    const after = Math.max(0, Math.min(signed, size - minEntries))
    let last = after
    let previous: string | undefined
    const page = (from: number, limit: number) => store.stored(db, from, limit)
    for await (const rows of paginateByKey(page, 1000, after))
      for (const { seq, at, body, hash } of rows) {
        const leaf = leafHash(body)
        if (seq !== last + 1) return result(0, last + 1, `missing up to entry ${seq - 1}`)
        if (leaf.toString('hex') !== toHex(hash)) return result(0, seq, 'hash mismatch')
        if (previous !== undefined && getPrev(body) !== previous)
          return result(0, seq, 'its prev hash is not that of the previous entry')
        previous = leaf.toString('hex')
        last = seq
        newestAt = at
        if (seq > signed) frontier = appendLeaf(frontier, leaf)
      }
    if (last !== size)
      return result(
        0,
        Math.min(last, size) + 1,
        `the head has size ${size}, the store has ${last} entries`,
      )
    if (!head || size === 0) return result(0)
    const { hash, at, frontier: stored } = head
    if (hash !== previous || at !== newestAt || stored !== encodeFrontier(frontier))
      return result(0, size, 'the head does not match the entries')
    if (signed < size && mac?.isValid(head) !== true)
      return result(signed, signed + 1, describeUnsigned(signed + 1, size, mac !== undefined))
    return result(signed)
  } catch (error) {
    return result(0, signed || latest?.size || 1, errorMessage(error))
  }
}

/** Describes why entries after the last checkpoint are a problem. */
export function describeUnsigned(from: number, to: number, hasKey: boolean): string {
  const which = from === to ? 'it is not signed' : `entries ${from}–${to} are not signed`
  return hasKey ? `${which}, and the head has no valid MAC` : which
}

const getPrev = (body: string | Uint8Array): unknown =>
  (JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as { prev?: unknown })
    .prev
