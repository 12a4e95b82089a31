import { canonicalJson } from '#base/hash.ts'
import { isRecord, parseJson } from '#base/json.ts'
import { entrySchema, firstSeq, genesisHash, payloadDigest } from './model.ts'
import type { Entry, LedgerProblem } from './model.ts'
import { leafHash } from './tree.ts'

export type StoredEntry = {
  readonly seq: number
  readonly at: number
  readonly type: string
  /** Hex or bytes. */
  readonly hash: string | Uint8Array
  /** As stored, byte for byte. */
  readonly body: string | Uint8Array
  /** Columns that repeat parts of the body; null stands for absent. */
  readonly columns?: Readonly<Record<string, unknown>>
  readonly payload?: { readonly salt: string; readonly body: string } | undefined
}

/** An unverified entry: the parsed bytes, of any shape. */
export type UnverifiedEntry = Record<string, unknown>

export type ProblemList = ReturnType<typeof createProblemList>

export const maxProblems = 20

/** Creates a list that keeps the first `maxProblems` by seq. */
export function createProblemList() {
  const list: LedgerProblem[] = []
  return {
    list,
    add(seq: number, why: string) {
      list.push({ seq, why })
      list.sort((a, b) => a.seq - b.seq)
      if (list.length > maxProblems) list.pop()
    },
  }
}

type Settings = {
  readonly problems: ProblemList
  readonly deep: boolean
  readonly toColumns: ((entry: Entry) => Readonly<Record<string, unknown>>) | undefined
}

/** Creates a verifier that checks each entry and its link to the previous entry (L7). */
export function createChainVerifier({ problems, deep, toColumns }: Settings) {
  let expected = firstSeq
  let lastHash = genesisHash
  let lastAt = 0
  let firstProblemSeq = Infinity
  // Report a broken entry once, not again for its successor.
  let lastWasBad = false

  function check(stored: StoredEntry): {
    leaf: Buffer
    entry: UnverifiedEntry | undefined
    isValid: boolean
  } {
    const { seq } = stored
    let isBad = false
    const addProblem = (at: number, why: string) => {
      problems.add(at, why)
      firstProblemSeq = Math.min(firstProblemSeq, at)
      isBad = true
    }
    const inOrder = seq === expected
    if (!Number.isSafeInteger(seq)) addProblem(expected, `invalid seq ${String(seq)}`)
    else if (seq > expected) addProblem(expected, `missing up to entry ${seq - 1}`)
    else if (!inOrder) addProblem(seq, 'duplicate or out of order')

    const leaf = leafHash(stored.body)
    const hash = leaf.toString('hex')
    const entry = parseBody(stored.body)
    const why = toHex(stored.hash) === hash ? checkBody(stored, entry) : 'hash mismatch'
    if (why !== undefined) addProblem(seq, why)
    else if (inOrder && !lastWasBad && entry?.['prev'] !== lastHash)
      addProblem(Math.max(seq - 1, firstSeq), `entry ${seq} does not continue this entry`)
    else if (stored.at < lastAt) addProblem(seq, 'older than the previous entry')

    if (seq >= expected) expected = seq + 1
    lastHash = hash
    lastAt = stored.at
    lastWasBad = isBad
    return { leaf, entry, isValid: !isBad }
  }

  /** Returns what is wrong with an entry whose hash is valid. */
  function checkBody(stored: StoredEntry, entry: UnverifiedEntry | undefined): string | undefined {
    if (entry === undefined || !isEntry(entry)) return 'the body is not an entry'
    if (entry.seq !== stored.seq) return describeDifference('seq', stored.seq, entry.seq)
    if (entry.at !== stored.at) return describeDifference('at', stored.at, entry.at)
    if (entry.type !== stored.type) return describeDifference('type', stored.type, entry.type)
    const why = checkColumns(stored.columns, entry) ?? checkPayload(stored.payload, entry.payload)
    if (why !== undefined || !deep) return why
    if (!isCanonical(stored.body)) return 'the body is not canonical JSON'
    return entrySchema.safeParse(entry).success
      ? undefined
      : 'the body does not match the entry schema'
  }

  function checkColumns(columns: StoredEntry['columns'], entry: Entry): string | undefined {
    if (!columns || !toColumns) return undefined
    try {
      const expectedColumns = toColumns(entry)
      const name = Object.keys(expectedColumns).find(
        (key) => (expectedColumns[key] ?? null) !== (columns[key] ?? null),
      )
      return name && describeDifference(name, columns[name], expectedColumns[name])
    } catch {
      return 'the body is not an entry'
    }
  }

  function checkPayload(payload: StoredEntry['payload'], digest: unknown): string | undefined {
    // A missing payload may have been erased, which a later entry records (erasure-check.ts).
    if (payload === undefined) return undefined
    if (payloadDigest(payload.salt, payload.body) !== digest) return 'the payload was changed'
    return deep && !isCanonical(payload.body) ? 'the payload is not canonical JSON' : undefined
  }

  return {
    check,
    /** Returns the seq of the first problem, or Infinity. */
    firstFault: () => firstProblemSeq,
    lastSeq: () => expected - 1,
    lastHash: () => lastHash,
    lastAt: () => lastAt,
  }
}

export const toHex = (hash: string | Uint8Array): string =>
  typeof hash === 'string' ? hash : Buffer.from(hash).toString('hex')

function parseBody(body: string | Uint8Array): UnverifiedEntry | undefined {
  const value = parseJson(toText(body))
  return isRecord(value) ? value : undefined
}

function isCanonical(body: string | Uint8Array): boolean {
  try {
    return canonicalJson(JSON.parse(toText(body))) === toText(body)
  } catch {
    return false
  }
}

/** A quick check; `deep` validates the whole schema. */
const isEntry = (entry: UnverifiedEntry): entry is Entry =>
  entry['v'] === 1 && isRecord(entry['actor'])

const describeDifference = (name: string, column: unknown, inBody: unknown) =>
  `${name} is ${excerpt(column)} in the column and ${excerpt(inBody)} in the body`

const excerpt = (value: unknown) => JSON.stringify(value ?? null).slice(0, 100)

const toText = (body: string | Uint8Array): string =>
  typeof body === 'string'
    ? body
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
