import { CoworkError } from '#base/errors.ts'
import { isHash, nodeHash, computeRoot, emptyFrontier, splitPoint, tileWidth } from './tree.ts'
import type { Frontier } from './tree.ts'

/**
 * Reads stored hashes [from, to) of one level: 0 = leaves, L = subtrees of 256^L leaves. A read is a query, so proofs read
 * whole tiles, each once: about two per level, five for a ledger of a million entries.
 */
export type ReadHashes = (level: number, from: number, to: number) => Promise<readonly Buffer[]>

/** The audit path of RFC 9162 2.1.3.1: shows that leaf `index` is in the tree of `size` leaves. */
export async function inclusionProof(
  read: ReadHashes,
  index: number,
  size: number,
): Promise<Buffer[]> {
  if (!isSize(size) || !isSize(index) || index >= size)
    throw outOfRangeError(`Entry ${index} is not in a ledger of size ${size}.`)
  const path: Range[] = []
  for (let [from, to] = [0, size]; to - from > 1;) {
    const middle = from + splitPoint(to - from)
    if (index < middle) {
      path.push([middle, to])
      to = middle
    } else {
      path.push([from, middle])
      from = middle
    }
  }
  return computeHashes(path.reverse(), read, size)
}

/** RFC 9162 2.1.4.1: shows that the tree of `newSize` leaves only added to the tree of `oldSize`. */
export async function consistencyProof(
  read: ReadHashes,
  oldSize: number,
  newSize: number,
): Promise<Buffer[]> {
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize)
    throw outOfRangeError(`Invalid sizes: the old size ${oldSize} exceeds the new size ${newSize}.`)
  if (oldSize === 0 || oldSize === newSize) return []
  const path: Range[] = []
  let [from, to] = [0, newSize]
  while (oldSize < to) {
    const middle = from + splitPoint(to - from)
    if (oldSize <= middle) {
      path.push([middle, to])
      to = middle
    } else {
      path.push([from, middle])
      from = middle
    }
  }
  // The verifier knows the old root; any other subtree at its end must be in the proof.
  if (from > 0) path.push([from, to])
  return computeHashes(path.reverse(), read, newSize)
}

/** Computes the frontier of the tree at this size from stored hashes. */
export async function frontierAt(read: ReadHashes, size: number): Promise<Frontier> {
  const subtrees: Range[] = []
  for (let from = 0; from < size;) {
    const width = splitPoint(size - from + 1)
    subtrees.push([from, from + width])
    from += width
  }
  return { size, peaks: await computeHashes(subtrees, read, size) }
}

/** Verifies a proof by RFC 9162 2.1.3.2. Returns false for malformed input and never throws. */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isSize(index) || !isSize(size) || index >= size) return false
  if (!isHash(leaf) || !isHash(root) || !isProof(proof)) return false
  let hash = leaf
  let [at, last] = [index, size - 1]
  for (const sibling of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash)
      ;[at, last] = skipLevels(at, last)
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && isEqual(hash, root)
}

/** Verifies a proof by RFC 9162 2.1.4.2. Every ledger is consistent with the empty ledger. */
export function verifyConsistency(
  oldSize: number,
  newSize: number,
  oldRoot: Uint8Array,
  newRoot: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize) return false
  if (!isHash(oldRoot) || !isHash(newRoot) || !isProof(proof)) return false
  if (oldSize === newSize) return proof.length === 0 && isEqual(oldRoot, newRoot)
  if (oldSize === 0) return proof.length === 0 && isEqual(oldRoot, computeRoot(emptyFrontier))
  let [at, last] = [oldSize - 1, newSize - 1]
  while (at % 2 === 1) [at, last] = [half(at), half(last)]
  // `at` is now 0 only if the old tree is one complete subtree: then the path starts at its root.
  const [start, ...path] = at === 0 ? [oldRoot, ...proof] : proof
  if (start === undefined) return false
  let [old, grown] = [start, start]
  for (const sibling of path) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      old = nodeHash(sibling, old)
      grown = nodeHash(sibling, grown)
      ;[at, last] = skipLevels(at, last)
    } else {
      grown = nodeHash(grown, sibling)
    }
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && isEqual(old, oldRoot) && isEqual(grown, newRoot)
}

type Range = readonly [from: number, to: number]

/** Each range must start at a multiple of the power of two that covers it, as in the recursion of the RFC. */
function computeHashes(ranges: Range[], read: ReadHashes, size: number): Promise<Buffer[]> {
  const tiles = new Map<string, Promise<readonly Buffer[]>>()

  function tile(level: number, number: number): Promise<readonly Buffer[]> {
    const key = `${level}/${number}`
    let hashes = tiles.get(key)
    if (hashes === undefined) {
      const from = number * tileWidth
      const to = Math.min(from + tileWidth, Math.floor(size / tileWidth ** level))
      hashes = read(level, from, to).then((found) => {
        if (found.length === to - from && found.every(isHash)) return found
        throw new CoworkError(
          'ledger_damaged',
          `Cannot build the proof: stored hashes ${from} to ${to - 1} of level ${level} are incomplete.`,
          { hint: 'Run `cowork audit verify` to find the change.' },
        )
      })
      tiles.set(key, hashes)
    }
    return hashes
  }

  async function computeHash([from, to]: Range): Promise<Buffer> {
    const width = to - from
    const split = splitPoint(width)
    if (width > 1 && split * 2 !== width) {
      const sides = [computeHash([from, from + split]), computeHash([from + split, to])] as const
      const [left, right] = await Promise.all(sides)
      return nodeHash(left, right)
    }
    let level = 0
    let unit = 1
    while (unit * tileWidth <= width) [level, unit] = [level + 1, unit * tileWidth]
    const first = from / unit
    const hashes = await tile(level, Math.floor(first / tileWidth))
    return foldSubtree(hashes.slice(first % tileWidth, (first % tileWidth) + width / unit))
  }

  return Promise.all(ranges.map(computeHash))
}

/** Computes the root of a complete subtree from 2^n hashes of one level. */
function foldSubtree(hashes: readonly Buffer[]): Buffer {
  let row = hashes
  while (row.length > 1) {
    const above: Buffer[] = []
    row.forEach((right, i) => {
      const left = row[i - 1]
      if (i % 2 === 1 && left !== undefined) above.push(nodeHash(left, right))
    })
    row = above
  }
  const [root] = row
  if (root === undefined) throw new RangeError('a subtree has at least one leaf')
  return root
}

const half = (n: number) => Math.floor(n / 2)

/** Skips the levels on the right edge where the node has no sibling. */
function skipLevels(at: number, last: number): [number, number] {
  while (at % 2 === 0 && at > 0) [at, last] = [half(at), half(last)]
  return [at, last]
}

const isSize = (n: unknown): n is number => Number.isSafeInteger(n) && Number(n) >= 0

const isProof = (proof: unknown): proof is readonly Uint8Array[] =>
  Array.isArray(proof) && proof.every(isHash)

const isEqual = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

const outOfRangeError = (message: string) =>
  new CoworkError('proof_out_of_range', message, {
    hint: 'Use a seq up to the newest checkpoint; `cowork audit tail` shows it.',
  })
