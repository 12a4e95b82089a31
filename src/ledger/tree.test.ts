import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256 } from '#base/hash.ts'
import {
  appendLeaf,
  decodeFrontier,
  emptyFrontier,
  encodeFrontier,
  leafHash,
  nodeHash,
  computeRoot,
} from './tree.ts'
import type { Frontier } from './tree.ts'

const hex = (text: string) => Buffer.from(text, 'hex')

// The leaves and roots of the Certificate Transparency reference implementation.
const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657']
  .concat('606162636465666768696a6b6c6d6e6f')
  .map(hex)
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

const grown = (hashes: readonly Buffer[]): Frontier =>
  hashes.reduce<Frontier>((frontier, leaf) => appendLeaf(frontier, leaf), emptyFrontier)

/** RFC 6962 2.1 literally: slow and independent of the tested code. */
function definedRoot(hashes: readonly Buffer[]): Buffer {
  const [only] = hashes
  if (only === undefined) return sha256('')
  if (hashes.length === 1) return only
  const k = 2 ** Math.floor(Math.log2(hashes.length - 1))
  return sha256(
    Buffer.concat([Buffer.of(1), definedRoot(hashes.slice(0, k)), definedRoot(hashes.slice(k))]),
  )
}

test('L4 the reference leaves give the reference roots of RFC 6962', () => {
  const hashes = leaves.map(leafHash)
  roots.forEach((root, size) => {
    expect(computeRoot(grown(hashes.slice(0, size))).toString('hex')).toBe(root)
  })
})

test('L4 a leaf is the hash of a zero byte and the UTF-8 of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const expected = sha256(Buffer.concat([Buffer.of(0), Buffer.from(text)]))
      expect(leafHash(text)).toEqual(expected)
      expect(leafHash(Buffer.from(text))).toEqual(expected)
    }),
  )
})

test('L4 a node hash is never a leaf hash', () => {
  const [a, b] = [leafHash('a'), leafHash('b')]
  expect(nodeHash(a, b)).not.toEqual(leafHash(Buffer.concat([a, b])))
})

test('L4 appending leaf by leaf gives the defined root at every size', () => {
  const hashes = Array.from({ length: 600 }, (_, i) => leafHash(String(i)))
  fc.assert(
    fc.property(fc.nat(600), (size) => {
      const some = hashes.slice(0, size)
      expect(computeRoot(grown(some))).toEqual(definedRoot(some))
    }),
    { numRuns: 40 },
  )
})

test('L4 appendLeaf does not modify its input', () => {
  const before = grown(leaves.slice(0, 3).map(leafHash))
  const root = computeRoot(before)
  appendLeaf(before, leafHash('x'))
  expect(before.size).toBe(3)
  expect(computeRoot(before)).toEqual(root)
})

test('L4 every complete subtree of 256 and 65,536 leaves is reported once, in order', () => {
  const hashes = Array.from({ length: 66_100 }, (_, i) => leafHash(String(i)))
  const nodes: [number, number, Buffer][] = []
  let frontier = emptyFrontier
  for (const leaf of hashes)
    frontier = appendLeaf(frontier, leaf, (...node) => {
      nodes.push(node)
    })
  const low = nodes.filter(([level]) => level === 1)
  expect(low.map(([, index]) => index)).toEqual(Array.from({ length: 258 }, (_, i) => i))
  expect(low[7]?.[2]).toEqual(definedRoot(hashes.slice(7 * 256, 8 * 256)))
  expect(nodes.filter(([level]) => level > 1)).toEqual([
    [2, 0, definedRoot(low.slice(0, 256).map(([, , hash]) => hash))],
  ])
})

test('L4 a frontier can be stored and read, and a damaged one is refused', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.nat(300), (size, other) => {
      const frontier = grown(Array.from({ length: size }, (_, i) => leafHash(String(i))))
      const text = encodeFrontier(frontier)
      expect(decodeFrontier(size, text)).toEqual(frontier)
      const ones = (n: number) => n.toString(2).replaceAll('0', '').length
      if (ones(size) !== ones(other))
        expect(() => decodeFrontier(other, text)).toThrow('does not match')
      expect(() => decodeFrontier(size, `${text}!`)).toThrow('does not match')
    }),
    { numRuns: 60 },
  )
  for (const size of [-1, 1.5, Number.NaN, 2 ** 53])
    expect(() => decodeFrontier(size, '')).toThrow('does not match')
})

test('L4 sizes beyond 32 bits complete the right subtrees', () => {
  fc.assert(
    fc.property(bigSize(), (size) => {
      const bits = BigInt(size).toString(2)
      const peaks = [...bits].filter((bit) => bit === '1').map((_, i) => leafHash(String(i)))
      const reported: [number, number][] = []
      const next = appendLeaf({ size, peaks }, leafHash('new'), (level, index) => {
        reported.push([level, index])
      })
      expect(next.peaks.length).toBe((BigInt(size) + 1n).toString(2).replaceAll('0', '').length)
      const closed = /1*$/.exec(bits)?.[0].length ?? 0
      expect(reported).toEqual(
        Array.from({ length: Math.floor(closed / 8) }, (_, i) => [
          i + 1,
          Number(BigInt(size) >> BigInt(8 * (i + 1))),
        ]),
      )
      expect(decodeFrontier(next.size, encodeFrontier(next))).toEqual(next)
    }),
  )
})

/** Sizes from 2^31 to 2^40, often just below a power of two, where tiles are completed. */
function bigSize(): fc.Arbitrary<number> {
  return fc
    .tuple(fc.integer({ min: 31, max: 40 }), fc.integer({ min: -3, max: 3 }), fc.nat(2 ** 31 - 1))
    .chain(([power, off, anywhere]) => fc.constantFrom(2 ** power + off, 2 ** power + anywhere))
}
