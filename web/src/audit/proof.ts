import type { Entry, EntryProof } from '../api/entry.ts'

/** One step from the leaf to the root: the sibling hash and the parent hash. */
type Step = {
  readonly side: 'left' | 'right'
  readonly sibling: string
  readonly above: string
}

export type CheckedProof = {
  readonly leaf: string
  readonly steps: readonly Step[]
  readonly root: string
  readonly origin: string
  /** The path results in the root of the checkpoint. */
  readonly isIncluded: boolean
  /** The hashed text equals the displayed entry. */
  readonly isSame: boolean
  /** Undefined if the browser does not support Ed25519. */
  readonly isSigned: boolean | undefined
}

/** Verifies an inclusion proof (RFC 9162 2.1.3.2) and its C2SP signed note in the browser (L6). */
export async function checkProof(proof: EntryProof, shown: Entry): Promise<CheckedProof> {
  const [origin = '', size = '', claimed = ''] = proof.checkpoint.split('\n')
  const leaf = await sha256(concat(Uint8Array.of(0), new TextEncoder().encode(proof.entry)))
  const steps: Step[] = []
  let hash = leaf
  let [at, last] = [proof.index, proof.size - 1]
  let isTooLong = false
  for (const sibling of proof.path.map(fromBase64)) {
    if (last === 0) isTooLong = true
    const isLeft = at % 2 === 1 || at === last
    hash = await nodeHash(...(isLeft ? ([sibling, hash] as const) : ([hash, sibling] as const)))
    steps.push({ side: isLeft ? 'left' : 'right', sibling: toHex(sibling), above: toHex(hash) })
    // On the right edge the path skips the levels where this node has no sibling.
    if (isLeft) while (at % 2 === 0 && at > 0) [at, last] = [half(at), half(last)]
    ;[at, last] = [half(at), half(last)]
  }
  return {
    leaf: toHex(leaf),
    steps,
    root: toHex(hash),
    origin,
    isIncluded:
      !isTooLong &&
      last === 0 &&
      proof.index === shown.seq - 1 &&
      proof.index < proof.size &&
      size === String(proof.size) &&
      toHex(hash) === toHex(fromBase64(claimed)),
    isSame: isEqual(JSON.parse(proof.entry), shown),
    isSigned: await isSignedBy(proof.checkpoint, proof.vkey),
  }
}

/** Verifies a note: text, an empty line, and lines of `— name base64(key id ‖ signature)`. */
async function isSignedBy(note: string, vkey: string): Promise<boolean | undefined> {
  const [, name = '', keyId = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? []
  const end = note.indexOf('\n\n')
  const line = note
    .slice(end + 2)
    .split('\n')
    .find((each) => each.startsWith(`— ${name} `))
  if (end === -1 || !line) return false
  const signature = fromBase64(line.slice(`— ${name} `.length))
  if (toHex(signature.subarray(0, 4)) !== keyId) return false
  try {
    const key = await crypto.subtle.importKey(
      'raw',
      fromBase64(encoded).subarray(1),
      'Ed25519',
      false,
      ['verify'],
    )
    const text = new TextEncoder().encode(note.slice(0, end + 1))
    return await crypto.subtle.verify('Ed25519', key, signature.subarray(4), text)
  } catch {
    return undefined
  }
}

const half = (n: number) => Math.floor(n / 2)

const sha256 = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

const nodeHash = (left: Uint8Array, right: Uint8Array) =>
  sha256(concat(concat(Uint8Array.of(1), left), right))

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0))

/** Compares JSON values regardless of the order of keys. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [inA, inB] = [Object.entries(a), new Map(Object.entries(b))]
  return (
    Array.isArray(a) === Array.isArray(b) &&
    inA.length === inB.size &&
    inA.every(([key, value]) => inB.has(key) && isEqual(value, inB.get(key)))
  )
}
