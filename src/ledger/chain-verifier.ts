import { canonicalJson } from '#base/hash.ts'
import { isRecord, parseJson } from '#base/json.ts'
import { entrySchema, firstSeq, genesisHash, payloadDigest } from './model.ts'
import type { Entry, LedgerProblem } from './model.ts'
import { leafHash } from './tree.ts'

export type StoredEntry = {
  readonly seq: number
  readonly at: number
  readonly type: string
  /** In hex, or its bytes. */
  readonly hash: string | Uint8Array
  /** As stored, byte for byte. */
  readonly body: string | Uint8Array
  /** Columns that repeat parts of the body; null stands for absent. */
  readonly columns?: Readonly<Record<string, unknown>>
  readonly payload?: { readonly salt: string; readonly body: string } | undefined
}

/** An unchecked entry: whatever the stored bytes parse to. */
export type UnverifiedEntry = Record<string, unknown>

export type ProblemList = ReturnType<typeof createProblemList>

export const maxProblems = 20

/** Keeps the first twenty by seq, in whatever order they are found. */
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
  readonly columnsOf: ((entry: Entry) => Readonly<Record<string, unknown>>) | undefined
}

/** Checks each entry by itself and against the one before it (L7). */
export function createChainVerifier({ problems, deep, columnsOf }: Settings) {
  let expected = firstSeq
  let lastHash = genesisHash
  let lastAt = 0
  let firstFault = Infinity
  // A broken entry is told once, not again by its neighbour.
  let lastWasBad = false

  function check(stored: StoredEntry): {
    leaf: Buffer
    entry: UnverifiedEntry | undefined
    isSound: boolean
  } {
    const { seq } = stored
    let bad = false
    const fault = (at: number, why: string) => {
      problems.add(at, why)
      firstFault = Math.min(firstFault, at)
      bad = true
    }
    const inOrder = seq === expected
    if (!Number.isSafeInteger(seq)) fault(expected, `its seq is ${String(seq)}`)
    else if (seq > expected) fault(expected, `missing up to entry ${seq - 1}`)
    else if (!inOrder) fault(seq, 'comes twice or out of order')

    const leaf = leafHash(stored.body)
    const hash = leaf.toString('hex')
    const entry = parsed(stored.body)
    const why =
      toHex(stored.hash) === hash ? ownFault(stored, entry) : 'its bytes do not give its hash'
    if (why !== undefined) fault(seq, why)
    else if (inOrder && !lastWasBad && entry?.['prev'] !== lastHash)
      fault(Math.max(seq - 1, firstSeq), `entry ${seq} was written after another entry than this`)
    else if (stored.at < lastAt) fault(seq, 'its time is before that of the entry before')

    if (seq >= expected) expected = seq + 1
    lastHash = hash
    lastAt = stored.at
    lastWasBad = bad
    return { leaf, entry, isSound: !bad }
  }

  /** What is wrong with an entry whose bytes are those that were hashed. */
  function ownFault(stored: StoredEntry, entry: UnverifiedEntry | undefined): string | undefined {
    if (entry === undefined || !isEntry(entry)) return 'its body is not an entry'
    if (entry.seq !== stored.seq) return differs('seq', stored.seq, entry.seq)
    if (entry.at !== stored.at) return differs('at', stored.at, entry.at)
    if (entry.type !== stored.type) return differs('type', stored.type, entry.type)
    const why = columnFault(stored.columns, entry) ?? payloadFault(stored.payload, entry.payload)
    if (why !== undefined || !deep) return why
    if (!isCanonical(stored.body)) return 'its body is not spelt canonically'
    return entrySchema.safeParse(entry).success
      ? undefined
      : 'its body has not the shape of an entry'
  }

  function columnFault(columns: StoredEntry['columns'], entry: Entry): string | undefined {
    if (!columns || !columnsOf) return undefined
    try {
      const wanted = columnsOf(entry)
      const name = Object.keys(wanted).find(
        (key) => (wanted[key] ?? null) !== (columns[key] ?? null),
      )
      return name && differs(name, columns[name], wanted[name])
    } catch {
      return 'its body is not an entry'
    }
  }

  function payloadFault(payload: StoredEntry['payload'], digest: unknown): string | undefined {
    // One that is missing may have been erased: a later entry tells (erasures.ts).
    if (payload === undefined) return undefined
    if (payloadDigest(payload.salt, payload.body) !== digest) return 'its payload was changed'
    return deep && !isCanonical(payload.body) ? 'its payload is not spelt canonically' : undefined
  }

  return {
    check,
    /** Infinity while all is well. */
    firstFault: () => firstFault,
    lastSeq: () => expected - 1,
    lastHash: () => lastHash,
    lastAt: () => lastAt,
  }
}

export const toHex = (hash: string | Uint8Array): string =>
  typeof hash === 'string' ? hash : Buffer.from(hash).toString('hex')

function parsed(body: string | Uint8Array): UnverifiedEntry | undefined {
  const value = parseJson(textOf(body))
  return isRecord(value) ? value : undefined
}

function isCanonical(body: string | Uint8Array): boolean {
  try {
    return canonicalJson(JSON.parse(textOf(body))) === textOf(body)
  } catch {
    return false
  }
}

/** A first look; `deep` checks the whole shape. */
const isEntry = (entry: UnverifiedEntry): entry is Entry =>
  entry['v'] === 1 && isRecord(entry['actor'])

const differs = (name: string, column: unknown, inBody: unknown) =>
  `its ${name} is ${brief(column)} in its column and ${brief(inBody)} in its body`

const brief = (value: unknown) => JSON.stringify(value ?? null).slice(0, 100)

const textOf = (body: string | Uint8Array): string =>
  typeof body === 'string'
    ? body
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
