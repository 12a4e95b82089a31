import { createHmac, timingSafeEqual } from 'node:crypto'
import { CoworkError } from '#base/errors.ts'
import type { SigningKey } from './checkpoint.ts'
import type { HeadRow } from './store.ts'
import { decodeFrontier, computeRoot } from './tree.ts'

export type HeadMac = ReturnType<typeof createHeadMac>

type Head = Pick<HeadRow, 'size' | 'frontier'> & { readonly mac?: string | null }

/**
 * Creates the MAC over size and root that every commit stores in the head row (L14). Without it, anyone with write access
 * to the store could add entries after the last checkpoint, and the daemon would sign them. Takes about 5 µs.
 */
export function createHeadMac(key: SigningKey) {
  const secret = key.derive('ledger head mac')
  const computeMac = (size: number, root: Buffer): Buffer =>
    createHmac('sha256', secret)
      .update(`${key.name}\n${size}\n${root.toString('base64')}\n`)
      .digest()
  return {
    vkey: key.vkey,
    compute: (size: number, root: Buffer): string => computeMac(size, root).toString('base64'),
    /** An empty ledger has nothing to protect. */
    isValid({ size, frontier, mac }: Head): boolean {
      if (size === 0) return true
      const actual = Buffer.from(mac ?? '', 'base64')
      try {
        const expected = computeMac(size, computeRoot(decodeFrontier(size, frontier)))
        return actual.length === expected.length && timingSafeEqual(actual, expected)
      } catch {
        return false
      }
    },
  }
}

export const headChangedError = () =>
  new CoworkError(
    'ledger_head_changed',
    'The head of the ledger was changed by a program that does not have the signing key.',
    { hint: 'Run `cowork audit verify`, then restore a backup with `cowork restore`.' },
  )

export const headShrunkError = (size: number, seen: number) =>
  new CoworkError(
    'ledger_cut',
    `The ledger has ${size} entries, but this daemon has seen ${seen}: entries were removed.`,
    { hint: 'Run `cowork audit verify`, then restore a backup with `cowork restore`.' },
  )
