import fc from 'fast-check'
import { expect, test } from 'vitest'
import { consistencyProof, inclusionProof, verifyConsistency, verifyInclusion } from './proof.ts'
import type { ReadHashes } from './proof.ts'
import { appendLeaf, emptyFrontier, leafHash, nodeHash, computeRoot } from './tree.ts'

const count = 3000

// levels[L] as in a store; roots[n] for every size.
const levels: Buffer[][] = [[], [], []]
const roots: Buffer[] = [computeRoot(emptyFrontier)]
let frontier = emptyFrontier
for (let i = 0; i < count; i++) {
  const leaf = leafHash(`entry ${i}`)
  levels[0]?.push(leaf)
  frontier = appendLeaf(frontier, leaf, (level, _index, hash) => levels[level]?.push(hash))
  roots.push(computeRoot(frontier))
}

const read: ReadHashes = async (level, from, to) => levels[level]?.slice(from, to) ?? []
const leafAt = (index: number) => levels[0]?.[index] ?? Buffer.alloc(0)
const rootAt = (size: number) => roots[size] ?? Buffer.alloc(0)

const indexAndSize = fc
  .integer({ min: 1, max: count })
  .chain((size) => fc.tuple(fc.nat(size - 1), fc.constant(size)))
const twoSizes = fc.tuple(fc.nat(count), fc.nat(count)).map((pair) => pair.sort((a, b) => a - b))

test('L6 the reference leaves give the reference proofs of RFC 6962', async () => {
  const hashes = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657']
    .concat('606162636465666768696a6b6c6d6e6f')
    .map((text) => leafHash(Buffer.from(text, 'hex')))
  const reference: ReadHashes = async (_level, from, to) => hashes.slice(from, to)
  const short = (proof: Buffer[]) => proof.map((hash) => hash.toString('hex').slice(0, 16))
  expect(short(await inclusionProof(reference, 0, 8))).toEqual([
    '96a296d224f285c6',
    '5f083f0a1a33ca07',
    '6b47aaf29ee3c2af',
  ])
  expect(short(await inclusionProof(reference, 5, 8))).toEqual([
    'bc1a0643b12e4d2d',
    'ca854ea128ed050b',
    'd37ee418976dd957',
  ])
  expect(short(await consistencyProof(reference, 6, 8))).toEqual([
    '0ebc5d3437fbe2db',
    'ca854ea128ed050b',
    'd37ee418976dd957',
  ])
  expect(short(await consistencyProof(reference, 2, 5))).toEqual([
    '5f083f0a1a33ca07',
    'bc1a0643b12e4d2d',
  ])
})

test('L6 any entry is proven in a ledger of any size that contains it', async () => {
  await fc.assert(
    fc.asyncProperty(indexAndSize, async ([index, size]) => {
      const proof = await inclusionProof(read, index, size)
      expect(verifyInclusion(leafAt(index), index, size, proof, rootAt(size))).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('L6 any two sizes of one ledger are proven consistent', async () => {
  await fc.assert(
    fc.asyncProperty(twoSizes, async ([from, to]) => {
      const proof = await consistencyProof(read, from, to)
      expect(verifyConsistency(from, to, rootAt(from), rootAt(to), proof)).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('L6 every proof of a small ledger is valid only for its own index', async () => {
  for (let size = 1; size <= 20; size++)
    for (let index = 0; index < size; index++) {
      const proof = await inclusionProof(read, index, size)
      for (let other = 0; other < size; other++)
        expect(verifyInclusion(leafAt(index), other, size, proof, rootAt(size))).toBe(
          other === index,
        )
      const path = await consistencyProof(read, index, size)
      expect(verifyConsistency(index, size, rootAt(index), rootAt(size), path)).toBe(true)
      expect(verifyConsistency(index, size, rootAt(index + 1), rootAt(size), path)).toBe(false)
    }
})

test('L6 a proof with one bit changed, one hash added or removed is invalid', async () => {
  await fc.assert(
    fc.asyncProperty(indexAndSize, fc.nat(), fc.nat(255), async ([index, size], which, bit) => {
      const proof = await inclusionProof(read, index, size)
      const holds = (changed: Buffer[], root = rootAt(size)) =>
        verifyInclusion(leafAt(index), index, size, changed, root)
      if (proof.length > 0) {
        const at = which % proof.length
        expect(holds(proof.with(at, flipped(proof[at], bit)))).toBe(false)
        expect(holds(proof.toSpliced(at, 1))).toBe(false)
      }
      expect(holds([...proof, leafAt(0)])).toBe(false)
      expect(holds(proof, flipped(rootAt(size), bit))).toBe(false)
    }),
    { numRuns: 200 },
  )
  await fc.assert(
    fc.asyncProperty(twoSizes, fc.nat(), fc.nat(255), async ([from, to], which, bit) => {
      const proof = await consistencyProof(read, from, to)
      const holds = (changed: Buffer[], old = rootAt(from), grown = rootAt(to)) =>
        verifyConsistency(from, to, old, grown, changed)
      if (proof.length > 0) {
        const at = which % proof.length
        expect(holds(proof.with(at, flipped(proof[at], bit)))).toBe(false)
        expect(holds(proof.toSpliced(at, 1))).toBe(false)
      }
      expect(holds([...proof, leafAt(0)])).toBe(false)
      expect(holds(proof, flipped(rootAt(from), bit))).toBe(false)
      if (from > 0) expect(holds(proof, rootAt(from), flipped(rootAt(to), bit))).toBe(false)
    }),
    { numRuns: 200 },
  )
})

test('L6 an invalid proof returns false and never throws', () => {
  const hash = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constant(leafAt(0)),
    fc.constant(rootAt(1)),
  )
  const size = fc.oneof(fc.nat(5), fc.double(), fc.constantFrom(2 ** 53, -1, Number.NaN))
  fc.assert(
    fc.property(size, size, hash, hash, fc.array(hash, { maxLength: 60 }), (a, b, x, y, proof) => {
      expect(typeof verifyInclusion(x, a, b, proof, y)).toBe('boolean')
      expect(typeof verifyConsistency(a, b, x, y, proof)).toBe('boolean')
    }),
  )
})

test('L6 a proof of a missing entry or from damaged hashes is refused', async () => {
  await expect(inclusionProof(read, 5, 5)).rejects.toThrow('Entry 5 is not in a ledger of size 5')
  await expect(inclusionProof(read, -1, 5)).rejects.toThrow('is not in a ledger')
  await expect(consistencyProof(read, 6, 5)).rejects.toThrow(
    'the old size 6 exceeds the new size 5',
  )
  const torn: ReadHashes = async (level, from, to) => (await read(level, from, to)).slice(1)
  await expect(inclusionProof(torn, 5, 900)).rejects.toThrow('are incomplete')
  await expect(consistencyProof(torn, 5, 900)).rejects.toThrow('are incomplete')
})

test('L6 proofs for sizes up to 2^40 take at most two reads per level', async () => {
  // With equal leaves all complete subtrees of a height are equal, so a tree of any size can be computed.
  const subtrees = [leafHash('same')]
  const subtree = (height: number): Buffer => {
    const below = () => subtree(height - 1)
    return (subtrees[height] ??= nodeHash(below(), below()))
  }
  const rootOfSize = (size: number) => {
    const bits = [...size.toString(2)]
    const peaks = bits.flatMap((bit, i) => (bit === '1' ? [subtree(bits.length - 1 - i)] : []))
    return computeRoot({ size, peaks })
  }
  const size = fc
    .tuple(fc.integer({ min: 31, max: 40 }), fc.integer({ min: -2, max: 2 }), fc.nat(2 ** 31 - 1))
    .chain(([power, off, any]) => fc.constantFrom(2 ** power + off, 2 ** power + any))
  await fc.assert(
    fc.asyncProperty(size, fc.double({ min: 0, max: 1, noNaN: true }), async (large, share) => {
      const reads: number[] = []
      const virtual: ReadHashes = async (level, from, to) => {
        reads.push(level)
        expect(from % 256).toBe(0)
        expect(to).toBeLessThanOrEqual(Math.floor(large / 256 ** level))
        return Array.from({ length: to - from }, () => subtree(8 * level))
      }
      const index = Math.floor((large - 1) * share)
      const path = await inclusionProof(virtual, index, large)
      expect(verifyInclusion(subtree(0), index, large, path, rootOfSize(large))).toBe(true)
      for (const level of reads)
        expect(reads.filter((other) => other === level).length).toBeLessThanOrEqual(2)
      const proof = await consistencyProof(virtual, index, large)
      expect(verifyConsistency(index, large, rootOfSize(index), rootOfSize(large), proof)).toBe(
        true,
      )
    }),
    { numRuns: 60 },
  )
})

function flipped(hash: Buffer | undefined, bit: number): Buffer {
  const copy = Buffer.from(hash ?? [])
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}
