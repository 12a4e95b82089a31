import type { Dialect, Reader } from '#base/db/port.ts'
import type { Entry } from './model.ts'
import { createLedgerStore } from './store.ts'
import type { AutonomousFilter, EntryRow } from './store.ts'

/** An act of long ago is no source of what is proposed today, and looking for it takes time from all. */
const maxSearched = 10_000

export type EntryLookup = ReturnType<typeof createEntryLookup>

/** Single entries, as a transaction sees them: for those who check what an agent says it did. */
export function createEntryLookup(dialect: Dialect) {
  const store = createLedgerStore(dialect)
  return {
    async entry(reader: Reader, seq: number): Promise<{ entry: Entry; hash: string } | undefined> {
      const row = await store.entry(reader, seq)
      return row && { entry: parseEntry(row), hash: row.hash }
    },
    call: async (reader: Reader, call: string): Promise<Entry[]> =>
      (await store.find(reader, { call, limit: 100 })).map(parseEntry),
    proposal: async (reader: Reader, proposal: string): Promise<Entry[]> =>
      (await store.find(reader, { proposal, limit: 100 })).map(parseEntry),
    /** What is kept beside an entry, unless it was erased. */
    async payload(reader: Reader, seq: number): Promise<unknown> {
      const row = await store.payload(reader, seq)
      return row && (JSON.parse(row.body) as unknown)
    },
    /** What this actor did lately because trust let it, the newest first. */
    listAutonomous: async (reader: Reader, wanted: AutonomousFilter) =>
      (await store.listAutonomous(reader, wanted)).map(parseEntry),
    /** Calls that somebody has ended well since, about a subject that starts so. */
    listCompletedSince: async (
      reader: Reader,
      subjectPrefix: string,
      after: number,
    ): Promise<Entry[]> =>
      (await store.find(reader, { types: ['call.done'], subjectPrefix, after, limit: 1000 })).map(
        parseEntry,
      ),
    listRecentOn: async (reader: Reader, actor: string, subjects: readonly string[]) =>
      subjects.length === 0
        ? []
        : (await store.listRecentOn(reader, actor, subjects, maxSearched)).map(parseEntry),
  }
}

const parseEntry = ({ body }: EntryRow) => JSON.parse(body) as Entry
