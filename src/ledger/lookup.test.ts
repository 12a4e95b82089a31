import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { createEntryLookup } from './lookup.ts'

const lookup = createEntryLookup('sqlite')
const did = (agent: string, subject: string, call: string) => ({
  type: 'call.done',
  actor: { kind: 'agent', id: agent } as const,
  subject,
  ids: { call },
})

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
  for (const draft of [
    did('sales', 'a.md', 'c1'),
    did('sales', 'b.md', 'c2'),
    did('support', 'a.md', 'c3'),
    did('sales', 'a.md', 'c4'),
  ])
    await ledger.ledger.record(draft)
})
afterAll(() => ledger.close())

test('R2 an entry is found by seq, with its hash', async () => {
  const [first] = await ledger.entries()
  const found = await lookup.entry(ledger.db, first?.seq ?? 0)
  expect(found?.entry).toEqual(first)
  expect(found?.hash).toBe((await ledger.ledger.entry(first?.seq ?? 0))?.hash)
  expect(await lookup.entry(ledger.db, 999)).toBeUndefined()
})

test('R2 a call is found by its id, also inside a transaction', async () => {
  const found = await ledger.ledger.transact((tx) => lookup.call(tx, 'c2'))
  expect(found.map(({ subject }) => subject)).toEqual(['b.md'])
  expect(await lookup.call(ledger.db, 'none')).toEqual([])
})

test("R2 an actor's entries about a subject are found newest first", async () => {
  const calls = async (subjects: string[]) =>
    (await lookup.listRecentOn(ledger.db, 'sales', subjects)).map(({ ids }) => ids?.call)
  expect(await calls(['a.md'])).toEqual(['c4', 'c1'])
  expect(await calls(['a.md', 'b.md'])).toEqual(['c4', 'c2', 'c1'])
  expect(await calls(['c.md'])).toEqual([])
  expect(await calls([])).toEqual([])
})
