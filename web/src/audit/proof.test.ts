import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../../src/base/hash.ts'
import { createKey, signCheckpoint } from '../../../src/ledger/checkpoint.ts'
import { inclusionProof } from '../../../src/ledger/proof.ts'
import { appendLeaf, emptyFrontier, leafHash, computeRoot } from '../../../src/ledger/tree.ts'
import type { EntryProof } from '../api/entry.ts'
import { entry } from '../api/entry.fixture.ts'
import { checkProof } from './proof.ts'

const { key } = createKey()

/** A proof as the daemon makes it, of entry `index` in a ledger of `size`. */
async function proofOf(size: number, index: number) {
  const entries = Array.from({ length: size }, (_, at) =>
    entry({ seq: at + 1, subject: `thing ${at} ü` }),
  )
  const leaves = entries.map((each) => leafHash(canonicalJson(each)))
  const tree = leaves.reduce((frontier, leaf) => appendLeaf(frontier, leaf), emptyFrontier)
  const nodes: Buffer[] = []
  leaves.reduce(
    (frontier, leaf) => appendLeaf(frontier, leaf, (_, at, hash) => (nodes[at] = hash)),
    emptyFrontier,
  )
  const read = async (level: number, from: number, to: number) =>
    (level === 0 ? leaves : nodes).slice(from, to)
  const shown = entries[index]
  if (!shown) throw new RangeError('no such entry')
  const proof: EntryProof = {
    seq: index + 1,
    entry: canonicalJson(shown),
    index,
    size,
    path: (await inclusionProof(read, index, size)).map((hash) => hash.toString('base64')),
    checkpoint: signCheckpoint({ size, root: computeRoot(tree) }, key),
    vkey: key.vkey,
  }
  return { proof, shown }
}

const good = { isIncluded: true, isSame: true, isSigned: true }

test('C8 the browser verifies the proofs of the daemon for ledgers of every size', async () => {
  for (let size = 1; size <= 20; size++)
    for (let index = 0; index < size; index++) {
      const { proof, shown } = await proofOf(size, index)
      expect(await checkProof(proof, shown), `${index} of ${size}`).toMatchObject(good)
    }
  const { proof, shown } = await proofOf(700, 511)
  expect(await checkProof(proof, shown)).toMatchObject(good)
})

test('C8 another text, position, size, path, root or signature fails', async () => {
  const { proof, shown } = await proofOf(13, 6)
  const other = { ...shown, subject: 'thing 6 u' }
  const flipped = (text: string) =>
    text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`
  const fails = async (change: Partial<EntryProof>) => {
    const { isIncluded, isSigned } = await checkProof({ ...proof, ...change }, shown)
    return !isIncluded || isSigned === false
  }
  expect(await fails({ entry: canonicalJson(other) })).toBe(true)
  expect(await fails({ index: 7 })).toBe(true)
  expect(await fails({ size: 14 })).toBe(true)
  expect(await fails({ path: proof.path.slice(1) })).toBe(true)
  expect(await fails({ path: [...proof.path, proof.path[0] ?? ''] })).toBe(true)
  expect(await fails({ path: proof.path.toReversed() })).toBe(true)
  expect(await fails({ path: proof.path.map(flipped) })).toBe(true)
  expect(await fails({ checkpoint: proof.checkpoint.replace('\n13\n', '\n14\n') })).toBe(true)
  expect(await fails({ checkpoint: 'nothing' })).toBe(true)
  const forged = createKey().key
  expect(await fails({ vkey: forged.vkey })).toBe(true)
  const signed = proof.checkpoint.replace(/(?<=\u2014 \S+ .{12})./, flipped)
  expect(signed).not.toBe(proof.checkpoint)
  expect(await fails({ checkpoint: signed })).toBe(true)
})

test('C8 an entry that differs from the hashed text is detected', async () => {
  const { proof, shown } = await proofOf(5, 2)
  const shuffled = Object.fromEntries(Object.entries(shown).toReversed())
  expect((await checkProof(proof, { ...shown, ...shuffled })).isSame).toBe(true)
  expect((await checkProof(proof, { ...shown, outcome: 'done' })).isSame).toBe(false)
  expect(
    (await checkProof(proof, { ...shown, actor: { kind: 'human', id: 'sales' } })).isSame,
  ).toBe(false)
})

test('C8 a step names the side of the sibling hash', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 64 }), fc.nat(), async (size, n) => {
      const { proof, shown } = await proofOf(size, n % size)
      const { steps, root } = await checkProof(proof, shown)
      expect(steps.at(-1)?.above ?? root).toBe(root)
      expect(steps).toHaveLength(proof.path.length)
    }),
    { numRuns: 30 },
  )
})
