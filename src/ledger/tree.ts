import { CoworkError } from '#base/errors.ts'
import { sha256 } from '#base/hash.ts'

/** Number of hashes of one stored level per hash of the next: stored level L contains subtrees of 256^L leaves. */
export const tileWidth = 256
const tileHeight = 8
const hashBytes = 32

/**
 * The complete subtrees of a tree, largest first (RFC 9162 2.1), which are sufficient to append to it. Sizes may exceed
 * 2^32, so this file uses no 32-bit operators on them.
 */
export type Frontier = { readonly size: number; readonly peaks: readonly Buffer[] }

/** Receives every complete subtree of height 8, 16, 24…, which the store keeps in addition to the leaves. */
export type OnNode = (level: number, index: number, hash: Buffer) => void

export const emptyFrontier: Frontier = Object.freeze({ size: 0, peaks: Object.freeze([]) })

const emptyRoot = sha256('')

/** Computes a leaf hash. Canonical text contains no lone surrogate, so hashing the string hashes its UTF-8 bytes. */
export function leafHash(entry: string | Uint8Array): Buffer {
  if (typeof entry === 'string') return sha256(`\u0000${entry}`)
  const prefixed = Buffer.allocUnsafe(entry.length + 1)
  prefixed[0] = 0
  prefixed.set(entry, 1)
  return sha256(prefixed)
}

// One buffer for all node hashes: filled and consumed within one synchronous call.
const pair = Buffer.alloc(1 + 2 * hashBytes, 1)

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  pair.set(left, 1)
  pair.set(right, 1 + hashBytes)
  return sha256(pair)
}

/** Appends a leaf, which completes one subtree per trailing 1 bit of the size. 1.5 µs, measured over 1,000,000. */
export function appendLeaf(frontier: Frontier, leaf: Buffer, onNode?: OnNode): Frontier {
  const peaks = frontier.peaks.slice()
  let hash = leaf
  let height = 0
  let index = frontier.size
  for (; index % 2 === 1; index = (index - 1) / 2) {
    const left = peaks.pop()
    if (left === undefined) throw frontierError(frontier.size)
    hash = nodeHash(left, hash)
    height += 1
    if (height % tileHeight === 0) onNode?.(height / tileHeight, (index - 1) / 2, hash)
  }
  peaks.push(hash)
  return { size: frontier.size + 1, peaks }
}

export const computeRoot = (frontier: Frontier): Buffer =>
  frontier.peaks.length === 0
    ? emptyRoot
    : frontier.peaks.reduceRight((right, left) => nodeHash(left, right))

export const encodeFrontier = (frontier: Frontier): string =>
  Buffer.concat(frontier.peaks).toString('base64')

export function decodeFrontier(size: number, text: string): Frontier {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== peakCount(size) * hashBytes || bytes.toString('base64') !== text)
    throw frontierError(size)
  const peaks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += hashBytes)
    peaks.push(bytes.subarray(at, at + hashBytes))
  return { size, peaks }
}

export const isHash = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array && value.length === hashBytes

/** Returns the largest power of two below `size` (k in RFC 6962), at which the tree splits. */
export function splitPoint(size: number): number {
  let k = 1
  while (k * 2 < size) k *= 2
  return k
}

function peakCount(size: number): number {
  if (!Number.isSafeInteger(size) || size < 0) throw frontierError(size)
  let ones = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones
}

const frontierError = (size: number) =>
  new CoworkError(
    'ledger_damaged',
    `The stored tree frontier does not match ledger size ${size}.`,
    {
      hint: 'Run `cowork audit verify` to find the change.',
    },
  )
