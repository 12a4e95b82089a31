import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EntryDraft } from '#base/entry.ts'
import type { StoredEntry } from './chain-verifier.ts'
import { createKey, signCheckpoint } from './checkpoint.ts'
import type { SigningKey } from './checkpoint.ts'
import { createHeadMac } from './head-mac.ts'
import { genesisHash, payloadDigest, prepare, seal } from './model.ts'
import type { Entry } from './model.ts'
import { createRedactor } from './redact.ts'
import {
  appendLeaf,
  decodeFrontier,
  emptyFrontier,
  encodeFrontier,
  leafHash,
  computeRoot,
} from './tree.ts'
import { verifyLedger } from './verify.ts'
import type { LedgerSource, StoredNode } from './verify.ts'

const { key } = createKey()
const redact = createRedactor({ secrets: [], patterns: [] })
const toColumns = (entry: Entry) => ({ actor: entry.actor.id, call: entry.ids?.call })

type Kept = {
  entries: StoredEntry[]
  checkpoints: { size: number; note: string }[]
  nodes: StoredNode[]
  head: NonNullable<LedgerSource['head']>
}

/** Builds a valid ledger with a checkpoint at each size of `signedAt`. */
function buildLedger(drafts: EntryDraft[], signedAt: number[] = []): Kept {
  const entries: StoredEntry[] = []
  const checkpoints: Kept['checkpoints'] = []
  const nodes: StoredNode[] = []
  let frontier = emptyFrontier
  let hash = genesisHash
  drafts.forEach((draft, i) => {
    const [seq, at] = [i + 1, 1000 + Math.floor(i / 2)]
    const prepared = prepare(draft, { redact, salt: () => `salt${i}` })
    const { entry, body, leaf, payload } = seal(prepared, { seq, at, prev: hash })
    hash = leaf.toString('hex')
    entries.push({ seq, at, type: draft.type, hash, body, columns: toColumns(entry), payload })
    frontier = appendLeaf(frontier, leaf, (level, index, node) => {
      nodes.push({ level, index, hash: node })
    })
    if (signedAt.includes(seq))
      checkpoints.push({
        size: seq,
        note: signCheckpoint({ size: seq, root: computeRoot(frontier) }, key),
      })
  })
  nodes.sort((a, b) => a.level - b.level || a.index - b.index)
  const at = entries.at(-1)?.at ?? 0
  const head = { size: frontier.size, at, hash, frontier: encodeFrontier(frontier) }
  return { entries, checkpoints, nodes, head }
}

const toSource = ({ entries, checkpoints, nodes, head }: Kept, batch = 7): LedgerSource => ({
  async *entries() {
    for (let i = 0; i < entries.length; i += batch) yield entries.slice(i, i + batch)
  },
  toColumns: toColumns,
  checkpoints: async () => checkpoints,
  async *nodes() {
    yield nodes
  },
  head,
})

const verified = (ledger: Kept, deep = false) => verifyLedger(toSource(ledger), key.vkey, { deep })

const noted = (i: number): EntryDraft => ({
  type: 'note.taken',
  actor: { kind: 'human', id: 'ann' },
  ids: { call: `c${i}` },
  data: { text: `grüße ${i}` },
  ...(i % 3 === 0 && { payload: { i, text: 'content' } }),
})
const notes = (count: number) => Array.from({ length: count }, (_, i) => noted(i))

/** A random valid ledger with a signed end, and one index in it. */
const ledgerAndPlace = fc.integer({ min: 1, max: 40 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    at: fc.nat(count - 1),
    signedAt: fc.array(fc.integer({ min: 1, max: count })).map((sizes) => [...sizes, count]),
  }),
)

/** Changes a ledger at a random index and returns the seq that a verifier must report; undefined without a change. */
type Change = (ledger: Kept, at: number, random: number) => number | undefined

function edit(ledger: Kept, at: number, more: Partial<StoredEntry>) {
  const entry = ledger.entries[at]
  if (!entry) throw new Error('no such entry')
  ledger.entries[at] = { ...entry, ...more }
}

/** The seq after the last checkpoint before this change. */
const firstUnsigned = ({ checkpoints }: Kept, at: number) =>
  Math.max(0, ...checkpoints.map(({ size }) => size).filter((size) => size <= at)) + 1

test('L6 a valid ledger verifies with the public key alone, also with `deep`', async () => {
  await fc.assert(
    fc.asyncProperty(ledgerAndPlace, fc.boolean(), async ({ count, signedAt }, deep) => {
      const result = await verified(buildLedger(notes(count), signedAt), deep)
      expect(result).toMatchObject({ ok: true, entries: count, size: count, signed: count })
      expect(result.checkpoints).toBe(new Set(signedAt).size)
    }),
    { numRuns: 50 },
  )
})

test('L6 a ledger with stored hashes of two levels and an empty ledger verify', async () => {
  const large = buildLedger(notes(66_000), [1, 255, 256, 257, 512, 40_000, 65_536, 65_537, 66_000])
  expect(large.nodes.some(({ level }) => level === 2)).toBe(true)
  expect(await verified(large)).toMatchObject({ ok: true, signed: 66_000, problems: [] })
  const short = { ...large, nodes: large.nodes.filter(({ level }) => level === 1) }
  expect((await verified(short)).firstBad).toMatchObject({ seq: 1 })
  expect(await verified(buildLedger([]))).toMatchObject({ ok: true, entries: 0, size: 0 })
})

test('L6 a wrong or missing stored hash is reported', async () => {
  const ledger = buildLedger(notes(2000), [2000])
  const wrong = {
    ...ledger,
    nodes: ledger.nodes.with(3, { level: 1, index: 3, hash: leafHash('x') }),
  }
  expect((await verified(wrong)).firstBad).toMatchObject({ seq: 3 * 256 + 1 })
  const lost = { ...ledger, nodes: ledger.nodes.toSpliced(5, 1) }
  expect((await verified(lost)).firstBad).toMatchObject({ seq: 5 * 256 + 1 })
  const end = { ...ledger, nodes: ledger.nodes.slice(0, -1) }
  expect((await verified(end)).firstBad).toMatchObject({ seq: 6 * 256 + 1 })
})

test.each<[string, Change]>([
  [
    'one changed byte of an entry',
    (ledger, at, random) => {
      const bytes = Buffer.from(ledger.entries[at]?.body ?? '')
      const place = random % bytes.length
      bytes[place] = (bytes[place] ?? 0) ^ (1 << (random % 8))
      edit(ledger, at, { body: bytes })
      return at + 1
    },
  ],
  [
    'an entry rewritten together with its hash',
    (ledger, at) => {
      const body = String(ledger.entries[at]?.body).replace('grüße', 'kisses')
      edit(ledger, at, { body, hash: leafHash(body) })
      // The next entry identifies the change; after the last entry only the checkpoints can.
      return at + 1 < ledger.entries.length ? at + 1 : firstUnsigned(ledger, at)
    },
  ],
  [
    'a whole ledger rewritten from some entry on',
    (ledger, at) => {
      const drafts = notes(ledger.entries.length)
      drafts[at] = { ...noted(at), data: { text: 'rewritten' } }
      const { entries, nodes, head } = buildLedger(drafts)
      Object.assign(ledger, { entries, nodes, head })
      return firstUnsigned(ledger, at)
    },
  ],
  [
    'a removed entry',
    (ledger, at) => {
      ledger.entries.splice(at, 1)
      return at + 1
    },
  ],
  [
    'a swap of two entries',
    (ledger, at, random) => {
      const other = random % ledger.entries.length
      if (other === at) return undefined
      const [a, b] = [ledger.entries[at], ledger.entries[other]]
      if (a) edit(ledger, other, { ...a, seq: other + 1 })
      if (b) edit(ledger, at, { ...b, seq: at + 1 })
      return Math.min(at, other) + 1
    },
  ],
  [
    'an entry put in twice',
    (ledger, at) => {
      ledger.entries.splice(at, 0, ...ledger.entries.slice(at, at + 1))
      return at + 1
    },
  ],
  [
    'a changed or lost payload',
    (ledger, at, random) => {
      const payload = ledger.entries[at]?.payload
      if (typeof payload !== 'object') return undefined
      const body = `${payload.body} `
      const changes = [{ ...payload, body }, { ...payload, salt: 'other' }, undefined]
      edit(ledger, at, { payload: changes[random % 3] })
      return at + 1
    },
  ],
  [
    'a payload slipped in',
    (ledger, at) => {
      if (ledger.entries[at]?.payload) return undefined
      edit(ledger, at, { payload: { salt: 's', body: '"slipped in"' } })
      return at + 1
    },
  ],
  [
    'an edited column',
    (ledger, at, random) => {
      const columns = ledger.entries[at]?.columns
      const edits: Partial<StoredEntry>[] = [
        { at: 999 },
        { type: 'note.lost' },
        { hash: leafHash('other') },
        { columns: { ...columns, actor: 'bob' } },
        { columns: { ...columns, call: null } },
      ]
      edit(ledger, at, edits[random % edits.length] ?? {})
      return at + 1
    },
  ],
  [
    'a tail cut below a checkpoint known from elsewhere',
    (ledger, at) => {
      const { entries, nodes, head } = buildLedger(notes(at))
      Object.assign(ledger, { entries, nodes, head })
      return at + 1
    },
  ],
  [
    'a forged checkpoint',
    (ledger, at, random) => {
      const size = at + 1
      const good = ledger.checkpoints.at(-1)
      const forged = [
        { size, note: signCheckpoint({ size, root: leafHash('other') }, createKey().key) },
        { size, note: 'not a note' },
        { size, note: good?.note.replace(`\n${good.size}\n`, `\n${good.size + 1}\n`) ?? '' },
      ]
      ledger.checkpoints.push(forged[random % forged.length] ?? { size, note: '' })
      return size
    },
  ],
])('L7 %s is found, and the first bad seq is named', async (_, change) => {
  await fc.assert(
    fc.asyncProperty(ledgerAndPlace, fc.nat(), async ({ count, at, signedAt }, random) => {
      const ledger = buildLedger(notes(count), signedAt)
      const seq = change(ledger, at, random)
      if (seq === undefined) return
      const { ok, firstBad } = await verified(ledger)
      expect({ ok, seq: firstBad?.seq }).toEqual({ ok: false, seq })
    }),
    { numRuns: 150 },
  )
})

const erased = (seq: number): EntryDraft => ({
  type: 'payload.erased',
  actor: { kind: 'human', id: 'ann' },
  subject: String(seq),
  data: { reason: 'asked to' },
})
const expired = (upTo: unknown): EntryDraft => ({
  type: 'payload.expired',
  actor: { kind: 'system', id: 'cowork' },
  data: { up_to_seq: upTo },
})

test('L8 a missing payload is valid only if a later entry records the erasure', async () => {
  const act = fc.oneof(
    { arbitrary: fc.constant('payload'), weight: 5 },
    fc.constant('note'),
    fc.nat(40),
    fc.record({ upTo: fc.nat(40) }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 1, maxLength: 40 }),
      fc.nat(),
      async (acts, lost) => {
        const drafts = acts.map((each, i): EntryDraft => {
          if (each === 'payload') return { ...noted(1), payload: { i } }
          if (each === 'note') return noted(1)
          return typeof each === 'object' ? expired(each.upTo) : erased(Number(each))
        })
        const mayGo = (seq: number) =>
          acts.some((each, i) => {
            if (i + 1 <= seq || typeof each === 'string') return false
            return typeof each === 'object' ? seq <= each.upTo : seq === each
          })
        const ledger = buildLedger(drafts, [drafts.length])
        ledger.entries.forEach((_, at) => mayGo(at + 1) && edit(ledger, at, { payload: undefined }))
        expect(await verified(ledger, true)).toMatchObject({ ok: true, signed: drafts.length })

        const at = lost % drafts.length
        if (!ledger.entries[at]?.payload) return
        edit(ledger, at, { payload: undefined })
        const { problems } = await verified(ledger)
        expect(problems).toEqual([{ seq: at + 1, why: 'the payload is missing' }])
      },
    ),
    { numRuns: 300 },
  )
})

test('L8 a forged or invalid erasure entry does not excuse a missing payload', async () => {
  const payload = { ...noted(1), payload: 'kept' }
  const forged = buildLedger([payload, erased(1)]).entries[1]
  for (const [hash, seq] of [[forged?.hash, 2] as const, ['0'.repeat(64), 1] as const]) {
    const ledger = buildLedger([payload, noted(1), noted(1)], [3])
    edit(ledger, 0, { payload: undefined })
    edit(ledger, 1, { ...forged, ...(hash && { hash }) })
    expect((await verified(ledger)).firstBad?.seq).toBe(seq)
  }
  for (const upTo of ['9', null, -1, 0.5, NaN, { a: 1 }]) {
    const nonsense = buildLedger([payload, expired(upTo)], [2])
    edit(nonsense, 0, { payload: undefined })
    expect((await verified(nonsense)).firstBad).toMatchObject({ seq: 1 })
  }
})

test('L8 an erasure without permission is reported', async () => {
  const agent = { kind: 'agent', id: 'sales' } as const
  const { ok, findings } = await verified(
    buildLedger([noted(1), { ...erased(1), actor: agent }, { ...expired(1), actor: agent }]),
  )
  expect(ok).toBe(false)
  expect(findings.map(({ seq }) => seq)).toEqual([2, 3])
})

test('RS1 a ledger without a valid checkpoint, or with entries after the last, is not OK', async () => {
  const unsigned = await verified(buildLedger(notes(20)))
  expect(unsigned).toMatchObject({ ok: false, signed: 0, firstBad: { seq: 1 }, acceptable: true })
  const longer = await verified(buildLedger(notes(60), [10]))
  expect(longer).toMatchObject({
    ok: false,
    signed: 10,
    unsigned: { from: 11, to: 60, intact: false },
    problems: [{ seq: 11, why: 'entries 11–60 are not signed' }],
  })
})

test('RS1 only the MAC of the right key over the right head makes an unsigned tail intact', async () => {
  const ledger = buildLedger(notes(12), [10])
  const macOf = (from: SigningKey, { head } = ledger) =>
    createHeadMac(from).compute(head.size, computeRoot(decodeFrontier(head.size, head.frontier)))
  const withMac = (mac: string) => toSource({ ...ledger, head: { ...ledger.head, mac } })
  const check = (mac: string, by = key) =>
    verifyLedger(withMac(mac), key.vkey, { mac: createHeadMac(by) })
  const other = createKey().key
  expect(await check(macOf(key))).toMatchObject({
    ok: true,
    unsigned: { from: 11, to: 12, intact: true },
  })
  for (const result of [
    await check(''),
    await check(macOf(other)),
    await check(macOf(other), other),
    await check(macOf(key, buildLedger(notes(11)))),
    await verifyLedger(withMac(macOf(key)), key.vkey),
  ])
    expect(result).toMatchObject({ ok: false, firstBad: { seq: 11 } })
})

test('L7 a truncation after the last checkpoint is detected by the head', async () => {
  const ledger = buildLedger(notes(20), [10])
  ledger.entries.length = 15
  expect((await verified(ledger)).firstBad).toMatchObject({ seq: 16 })
  const moved = { ...buildLedger(notes(20), [10]), head: buildLedger(notes(19)).head }
  expect((await verified(moved)).firstBad).toMatchObject({ seq: 20 })
  const other = buildLedger(notes(20))
  other.head = { ...other.head, frontier: buildLedger(notes(19)).head.frontier }
  expect((await verified(other)).firstBad).toMatchObject({ seq: 20 })
})

test('L7 a second checkpoint of the same size with another root is reported', async () => {
  const ledger = buildLedger(notes(20), [10, 20])
  ledger.checkpoints.push({
    size: 10,
    note: signCheckpoint({ size: 10, root: leafHash('x') }, key),
  })
  const { ok, firstBad } = await verified(ledger)
  expect({ ok, seq: firstBad?.seq }).toEqual({ ok: false, seq: 10 })
  const moved = buildLedger(notes(20), [10])
  moved.checkpoints = moved.checkpoints.map(({ note }) => ({ size: 12, note }))
  expect((await verified(moved)).firstBad).toMatchObject({ seq: 12 })
})

test('L7 copies of one checkpoint count once', async () => {
  const ledger = buildLedger(notes(20), [10, 20])
  ledger.checkpoints.push(...ledger.checkpoints)
  expect(await verified(ledger)).toMatchObject({ ok: true, checkpoints: 2 })
})

test('L7 decreasing entry times are reported', async () => {
  const ledger = buildLedger(notes(10))
  const body = String(ledger.entries[9]?.body).replace('"at":1004', '"at":1001')
  edit(ledger, 9, { body, hash: leafHash(body), at: 1001 })
  expect((await verified(ledger)).firstBad).toEqual({
    seq: 10,
    why: 'older than the previous entry',
  })
})

test('L7 deep verification reports a body or payload that is not canonical or not an entry', async () => {
  const rewritten = async (from: string, to: string) => {
    const ledger = buildLedger(notes(1))
    const body = String(ledger.entries[0]?.body).replace(from, to)
    edit(ledger, 0, { body, hash: leafHash(body) })
    ledger.head = { ...ledger.head, hash: leafHash(body).toString('hex') }
    ledger.head = { ...ledger.head, frontier: leafHash(body).toString('base64') }
    const note = signCheckpoint({ size: 1, root: leafHash(body) }, key)
    ledger.checkpoints.push({ size: 1, note })
    return [(await verified(ledger)).ok, (await verified(ledger, true)).firstBad?.why]
  }
  expect(await rewritten('"v":1', '"v": 1')).toEqual([true, 'the body is not canonical JSON'])
  expect(await rewritten('"kind":"human"', '"kind":"ghost"')).toEqual([
    true,
    'the body does not match the entry schema',
  ])
  const body = '{"i": 0}'
  const digest = payloadDigest('s', body)
  const ledger = buildLedger([{ ...noted(1), payload: 1 }])
  const entry = String(ledger.entries[0]?.body).replace(/"payload":"\w+"/, `"payload":"${digest}"`)
  edit(ledger, 0, { body: entry, hash: leafHash(entry), payload: { salt: 's', body } })
  const { problems } = await verified(ledger, true)
  expect(problems.map(({ why }) => why)).toContain('the payload is not canonical JSON')
})

test('L7 invalid data anywhere in a store is reported and not thrown', async () => {
  const junk = fc.oneof(fc.string(), fc.integer(), fc.constantFrom('{}', '[]', 'null', '{"v":1}'))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.integer(), junk, fc.boolean())), async (rows) => {
      const ledger = buildLedger([])
      ledger.entries = rows.map(([seq, value, hashed]) => {
        const body = String(value)
        const hash = hashed ? leafHash(body) : body
        return { seq, at: seq, type: body, hash, body, columns: {} }
      })
      const { ok } = await verified(ledger, true)
      expect(ok).toBe(rows.length === 0)
    }),
  )
})

test('L7 one change is reported once', async () => {
  const ledger = buildLedger(notes(30), [10, 20, 30])
  edit(ledger, 12, { body: '{}' })
  expect((await verified(ledger)).problems).toEqual([{ seq: 13, why: 'hash mismatch' }])
})

test('L7 an invalid seq is reported by its position', async () => {
  const ledger = buildLedger(notes(5), [5])
  edit(ledger, 2, { seq: Number.NaN })
  expect((await verified(ledger)).firstBad).toEqual({ seq: 3, why: 'invalid seq NaN' })
})

test('L7 only the first twenty problems by seq are reported', async () => {
  const ledger = buildLedger(notes(60), [60])
  ledger.entries.forEach((_, at) => at >= 5 && edit(ledger, at, { hash: 'gone' }))
  const { problems, firstBad } = await verified(ledger)
  expect(problems.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 6))
  expect(firstBad?.seq).toBe(6)
})

test('L6 progress is reported, and an invalid key is refused', async () => {
  const seen: number[] = []
  await verifyLedger(toSource(buildLedger(notes(16)), 8), key.vkey, {
    onProgress: (n) => seen.push(n),
  })
  expect(seen).toEqual([8, 16])
  await expect(verifyLedger(toSource(buildLedger([])), 'no key')).rejects.toThrow('The public key')
})

const agent = { kind: 'agent', id: 'sales' } as const
const started = (call: string, mode?: string, approval?: string): EntryDraft => ({
  type: 'call.started',
  actor: agent,
  ids: { call, ...(approval && { approval }) },
  data: mode ? { decision: { mode } } : {},
})
const approved = (approval: string, by: string, more: Partial<EntryDraft> = {}): EntryDraft => ({
  type: 'approval.approved',
  actor: { kind: 'human', id: by },
  ids: { approval },
  data: { requester: 'sales', decided_by: by },
  ...more,
})
const done = (call: string): EntryDraft => ({ type: 'call.done', actor: agent, ids: { call } })
const proposed = (call: string, tool?: string): EntryDraft => ({
  type: 'proposal.created',
  actor: agent,
  ids: { call },
  data: tool === undefined ? {} : { tool },
})

test('L6 allowed actions give no findings', async () => {
  const drafts = [
    started('c1', 'act'),
    done('c1'),
    approved('a1', 'ann'),
    started('c2', 'suggest', 'a1'),
    done('c2'),
    { ...started('c3'), actor: { kind: 'human', id: 'ann' } as const },
    proposed('c4', 'cowork_propose'),
    // The format before 0014.
    proposed('c5'),
    done('c5'),
  ]
  expect(await verified(buildLedger(drafts, [drafts.length]))).toMatchObject({
    ok: true,
    findings: [],
  })
})

test.each<[string, EntryDraft[], number]>([
  ['a call that was only suggested', [started('c', 'suggest')], 1],
  ['a call without a decision', [started('c')], 1],
  ['a call whose approval is unknown', [started('c', 'escalate', 'a9')], 1],
  ['a call approved only later', [started('c', 'suggest', 'a1'), approved('a1', 'ann')], 1],
  ['an agent deciding on its own request', [approved('a1', 'sales')], 1],
  [
    'a decision in the name of another',
    [approved('a1', 'x', { data: { requester: 'ann', decided_by: 'ann' } })],
    1,
  ],
  ['an approval by an agent', [approved('a1', 'x', { actor: { kind: 'agent', id: 'x' } })], 1],
  ['a call done twice', [done('c1'), done('c2'), done('c1')], 3],
  ['a proposal done twice', [proposed('c1', 'cowork_propose'), done('c1')], 2],
])('L6 %s is a finding', async (_, drafts, seq) => {
  const { ok, problems, findings } = await verified(buildLedger(drafts, [drafts.length]))
  expect({ ok, problems, seqs: findings.map((each) => each.seq) }).toEqual({
    ok: false,
    problems: [],
    seqs: [seq],
  })
})
