import type { Checkpoint } from './checkpoint.ts'
import type { LedgerProblem } from './model.ts'
import { consistencyProof, inclusionProof, verifyConsistency, verifyInclusion } from './proof.ts'
import type { ReadHashes } from './proof.ts'
import { tileWidth } from './tree.ts'

const samplesPerKind = 32
const hashBytes = 32

/**
 * Stores the hashes for sample proofs as an external verifier would check them: all upper hashes (an eighth of a byte per
 * entry) and the leaves of a few selected tiles.
 */
export function createProofSamples(checkpoints: readonly Checkpoint[]) {
  const last = checkpoints.at(-1)
  const pairs = spread(Math.max(0, checkpoints.length - 1)).map((i) => checkpoints.slice(i, i + 2))
  const indexes = spread(last?.size ?? 0)
  const edges = [...pairs.flat(), ...(last ? [last] : [])].map(({ size }) => size)
  const tiles = new Map<number, Buffer[]>(
    [...indexes, ...edges].map((index) => [Math.floor(index / tileWidth), []]),
  )
  const upper: HashList[] = []
  // The current tile, if it is selected.
  let open: Buffer[] | undefined

  const read: ReadHashes = async (level, from, to) =>
    level === 0
      ? (tiles.get(from / tileWidth)?.slice(0, to - from) ?? [])
      : (upper[level]?.slice(from, to) ?? [])

  async function findFailures(): Promise<LedgerProblem[]> {
    const failed: LedgerProblem[] = []
    if (last === undefined) return failed
    for (const index of indexes) {
      const leaf = tiles.get(Math.floor(index / tileWidth))?.[index % tileWidth]
      const proof = await inclusionProof(read, index, last.size)
      if (!leaf || !verifyInclusion(leaf, index, last.size, proof, last.root))
        failed.push({ seq: index + 1, why: `no valid proof in the tree of size ${last.size}` })
    }
    for (const [older, newer] of pairs) {
      if (!older || !newer) continue
      const proof = await consistencyProof(read, older.size, newer.size)
      if (!verifyConsistency(older.size, newer.size, older.root, newer.root, proof))
        failed.push({
          seq: older.size + 1,
          why: `the checkpoint of size ${newer.size} does not continue that of size ${older.size}`,
        })
    }
    return failed
  }

  return {
    leaf(index: number, hash: Buffer) {
      if (index % tileWidth === 0) open = tiles.get(index / tileWidth)
      open?.push(hash)
    },
    node(level: number, hash: Buffer) {
      const list = (upper[level] ??= createHashList())
      list.push(hash)
    },
    nodeAt: (level: number, index: number): Buffer | undefined =>
      upper[level]?.slice(index, index + 1)[0],
    levels: () => upper.map((list, level) => ({ level, count: list.count() })).slice(1),
    findFailures,
  }
}

/** Returns up to `samplesPerKind` numbers below `end`, evenly spread, including the first and the last. */
function spread(end: number): number[] {
  const count = Math.min(end, samplesPerKind)
  return Array.from({ length: count }, (_, i) =>
    count === 1 ? 0 : Math.floor((i * (end - 1)) / (count - 1)),
  )
}

type HashList = ReturnType<typeof createHashList>

/** Creates a packed list: separate objects would take eight times the memory. */
function createHashList() {
  let bytes = Buffer.alloc(hashBytes * tileWidth)
  let used = 0
  return {
    push(hash: Buffer) {
      if (used === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)])
      bytes.set(hash, used)
      used += hashBytes
    },
    count: () => used / hashBytes,
    slice: (from: number, to: number): Buffer[] =>
      Array.from({ length: Math.max(0, Math.min(to, used / hashBytes) - from) }, (_, i) =>
        bytes.subarray((from + i) * hashBytes, (from + i + 1) * hashBytes),
      ),
  }
}
