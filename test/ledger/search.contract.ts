import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { migrate } from '#base/db/migrate.ts'
import type { Db, Sealer } from '#base/db/port.ts'
import type { EntryDraft } from '#base/entry.ts'
import { createKey } from '../../src/ledger/checkpoint.ts'
import { ledgerMigrations } from '../../src/ledger/migrations.ts'
import type { PreparedEntry } from '../../src/ledger/model.ts'
import { createRedactor } from '../../src/ledger/redact.ts'
import { createSealer } from '../../src/ledger/sealer.ts'
import { matches, search } from '../../src/ledger/search.ts'
import { createLedgerStore } from '../../src/ledger/store.ts'
import type { EntryFilter } from '../../src/ledger/store.ts'

const firstTime = 1_700_000_000_000
const words = ['a', 'ab', 'Ab', 'É', 'é', '%', '_', "'", '\u0000', 'ÅNGSTRÖM', 'ångström', '']
const word = fc.constantFrom(...words)
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined, freq: 2 })
const type = fc.constantFrom('call.done', 'call.failed', 'grant.made', 'grants.made')

const draft: fc.Arbitrary<EntryDraft> = fc.record({
  type,
  actor: fc.record({
    kind: fc.constantFrom('agent', 'human', 'system'),
    id: fc.constantFrom('ada', 'bob'),
  }),
  domain: fc.constantFrom('files', 'work'),
  subject: word,
  ids: fc.record({ call: word, proposal: word }),
  data: fc.record({
    tool: word,
    note: word,
    files: fc.array(fc.record({ path: word }), { maxLength: 2 }),
  }),
})

const filter: fc.Arbitrary<EntryFilter> = fc.record({
  after: maybe(fc.nat(50)),
  before: maybe(fc.nat(50)),
  since: maybe(fc.nat(30).map((n) => firstTime + n)),
  until: maybe(fc.nat(30).map((n) => firstTime + n)),
  actor: maybe(fc.constantFrom('ada', 'bob')),
  actorKind: maybe(fc.constantFrom('agent', 'human')),
  domain: maybe(fc.constantFrom('files', 'work', 'none')),
  types: maybe(fc.array(fc.oneof(type, fc.constantFrom('call.', 'grant.')), { minLength: 1 })),
  subjectPrefix: maybe(word),
  pathPrefix: maybe(word),
  toolPrefix: maybe(word),
  call: maybe(word),
  proposal: maybe(word),
  text: maybe(fc.constantFrom(...words, 'ADA', '"kind":"agent"')),
  limit: fc.nat(60),
  newestFirst: fc.boolean(),
})

/** Tests of filters on both engines. */
export function searchContract(
  dialect: 'sqlite' | 'postgres',
  open: (sealer: Sealer<PreparedEntry>) => Promise<Db>,
): void {
  test('L10 L11 a filter finds exactly the matching entries in order, with any stride', async () => {
    let time = firstTime
    const redact = createRedactor({ secrets: [], patterns: [] })
    const sealer = createSealer(dialect, redact, () => time)
    sealer.useKey(createKey().key)
    const db = await open(sealer)
    await migrate(db, ledgerMigrations, time)
    const store = createLedgerStore(dialect)
    for (const one of fc.sample(draft, { numRuns: 40, seed: 1 })) {
      // Some entries have the same time.
      if (one.subject !== 'a') time += 1
      await db.transact(async (tx) => tx.append(one))
    }
    const all = await search(db, store, { limit: 1000 })
    expect(all).toHaveLength(40)
    await fc.assert(
      fc.asyncProperty(filter, fc.integer({ min: 1, max: 50 }), async (asked, stride) => {
        const fitting = all.filter((recorded) => matches(asked, recorded))
        const expected = (asked.newestFirst ? fitting.toReversed() : fitting).slice(0, asked.limit)
        expect(await search(db, store, asked, stride)).toEqual(expected)
      }),
      { numRuns: 300 },
    )
    await db.close()
  })
}
