import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { createKey } from './checkpoint.ts'
import { formatReceipt, verifyReceipt } from './receipt.ts'

const agent = { kind: 'agent', id: 'sales' } as const
const person = { kind: 'human', id: 'ann' } as const

let open: TestLedger
beforeAll(async () => {
  open = await openTestLedger()
  const { ledger } = open
  const drafts = [
    { type: 'approval.requested', actor: agent, ids: { call: 'c1', approval: 'a1' } },
    {
      type: 'call.done',
      actor: agent,
      ids: { call: 'c2', approval: 'a1' },
      data: { tool: 'other' },
    },
    { type: 'approval.approved', actor: person, ids: { call: 'c3', approval: 'a1' } },
    { type: 'approval.approved', actor: person, ids: { call: 'c3', approval: 'a2' } },
    {
      type: 'call.started',
      actor: agent,
      ids: { call: 'c1', approval: 'a1' },
      subject: 'grüße \ufffd',
    },
    { type: 'call.done', actor: agent, ids: { call: 'c1' }, outcome: 'done' },
  ]
  for (const draft of drafts) await ledger.record(draft)
})
afterAll(() => open.close())

const createReceipt = async (call: string) =>
  Buffer.from(formatReceipt(await open.ledger.receipt(call)))

test('L16 a receipt has all entries and decisions of its call and verifies offline', async () => {
  const { entries, ...about } = verifyReceipt(await createReceipt('c1'), open.ledger.vkey)
  expect(about).toEqual({ call: 'c1', vkey: open.ledger.vkey, size: 6 })
  expect(entries.map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'approval.requested'],
    [3, 'approval.approved'],
    [5, 'call.started'],
    [6, 'call.done'],
  ])
  await expect(open.ledger.receipt('c9')).rejects.toMatchObject({ code: 'not_found' })
})

test('L16 a receipt of another ledger is refused', async () => {
  const file = await createReceipt('c1')
  expect(() => verifyReceipt(file, createKey().key.vkey)).toThrow('it names the key')
})

test('RS1 L16 a change of any byte of a receipt is detected', async () => {
  const file = await createReceipt('c1')
  fc.assert(
    fc.property(fc.nat(file.length - 1), fc.nat(7), fc.boolean(), (at, bit, hasKey) => {
      const changed = Buffer.from(file)
      changed[at] = (changed[at] ?? 0) ^ (1 << bit)
      expect(() => verifyReceipt(changed, hasKey ? open.ledger.vkey : undefined)).toThrow(/./)
    }),
    { numRuns: 2000 },
  )
})

test('RS1 L16 a receipt in another format is refused', async () => {
  const text = (await createReceipt('c1')).toString()
  const others = [
    `${text}\n`,
    `\ufeff${text}`,
    JSON.stringify(JSON.parse(text)),
    text.replace('  "call"', '\t"call"'),
    text.replace('  "call"', '  "call": "c9",\n  "call"'),
  ]
  for (const other of others)
    expect(() => verifyReceipt(Buffer.from(other), open.ledger.vkey)).toThrow(
      /is not|does not have/,
    )
})

test('L16 reordered or duplicate entries of a receipt are refused', async () => {
  const { ledger } = open
  const mine = await ledger.receipt('c1')
  for (const entries of [mine.entries.toReversed(), mine.entries.flatMap((one) => [one, one])])
    expect(() =>
      verifyReceipt(Buffer.from(formatReceipt({ ...mine, entries })), ledger.vkey),
    ).toThrow('not in the order of the ledger')
})

test('L16 a receipt with an entry of another call or without entries is refused', async () => {
  const { ledger } = open
  const [mine, other] = [await ledger.receipt('c1'), await ledger.receipt('c2')]
  const foreign = other.entries.filter(({ entry }) => entry.includes('"c2"'))
  const verified = (entries: typeof mine.entries) => () =>
    verifyReceipt(Buffer.from(formatReceipt({ ...mine, entries })), ledger.vkey)
  expect(verified([...mine.entries, ...foreign])).toThrow('entry 2 does not belong to call c1')
  expect(verified([])).toThrow('none of its entries')
})
