import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EntryDraft } from '#base/entry.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { entrySchema, genesisHash, prepare, seal } from './model.ts'
import { createRedactor } from './redact.ts'
import { leafHash } from './tree.ts'

const redact = createRedactor({ secrets: [], patterns: [] })
const place = { seq: 1, at: 1_700_000_000_000, prev: genesisHash }
const sealed = (draft: EntryDraft, with_ = redact) =>
  seal(prepare(draft, { redact: with_, salt: () => '5a17' }), place)

const draft: EntryDraft = {
  type: 'call.started',
  actor: {
    kind: 'agent',
    id: 'sales',
    session: 's1',
    verified: true,
    client: { name: 'claude-code', version: '2.1', transport: 'stdio' },
  },
  domain: 'files',
  subject: 'notes/today.md',
  ids: { call: 'c1' },
  outcome: 'done',
  data: { tool: 'create_file', agent_token: 'x' },
}

test('L3 an entry is canonical JSON without secrets, with claims marked', () => {
  expect(sealed(draft).body).toBe(
    '{"actor":{"client":{"name":"claude-code","self_reported":true,"transport":"stdio","version":"2.1"},' +
      '"id":"sales","kind":"agent","session":"s1","verified":true},"at":1700000000000,' +
      '"data":{"agent_token":"[redacted]","tool":"create_file"},"domain":"files","ids":{"call":"c1"},' +
      `"outcome":"done","prev":"${genesisHash}","seq":1,"subject":"notes/today.md","type":"call.started","v":1}`,
  )
})

test('L4 the leaf is the hash of the stored bytes', () => {
  const { body, leaf, entry } = sealed(draft)
  expect(leaf).toEqual(leafHash(Buffer.from(body)))
  expect(canonicalJson(entry)).toBe(body)
})

test('L4 a payload is stored separately under a salted digest, without secrets', () => {
  const { entry, payload } = sealed({ ...draft, payload: { path: 'a', password: 'hunter2' } })
  expect(payload?.body).toBe('{"password":"[redacted]","path":"a"}')
  expect(entry.payload).toBe(sha256Hex(`5a17:${payload?.body}`))
  expect(sealed(draft)).not.toHaveProperty('payload')
})

test('L3 any draft becomes a valid entry or is refused', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 })
  const optional = { requiredKeys: [] as never[] }
  const drafts = fc.record({
    actor: fc.record({ kind: fc.constantFrom('agent', 'human', 'system'), id: text }),
    subject: text,
    ids: fc.record(
      { call: text, proposal: text, approval: text, job: text, grant: text },
      optional,
    ),
    outcome: text,
    data: fc.dictionary(text, fc.jsonValue()),
    payload: fc.jsonValue(),
  })
  fc.assert(
    fc.property(drafts, (some) => {
      const { body } = sealed({ type: 'thing.done', ...some })
      expect(entrySchema.safeParse(JSON.parse(body)).error).toBe(undefined)
    }),
    { numRuns: 300 },
  )
})

test("L3 patterns of the owner cannot change cowork's own terms", () => {
  const all = createRedactor({ secrets: [], patterns: ['agent|client|call', '[0-9a-f]{8}'] })
  const { entry, payload } = sealed({ ...draft, payload: 'x' }, all)
  expect(entrySchema.safeParse(entry).success).toBe(true)
  expect(entry).toMatchObject({ type: 'call.started', actor: { kind: 'agent', id: 'sales' } })
  expect(entry.payload).toBe(payload?.digest)
})

test('L3 toActor takes only the recorded fields of a caller', () => {
  const caller = { ...draft.actor, scopes: ['read:*'], role: 'owner' }
  expect(sealed({ ...draft, actor: caller }).entry.actor).not.toHaveProperty('scopes')
})

test.each(['', 'call', 'call.', 'Call.done', 'call.done.twice', 'call done', 'call.done1', '1.x'])(
  'L3 "%s" is not an entry type',
  (type) => {
    expect(() => sealed({ ...draft, type })).toThrow('noun.past')
  },
)
