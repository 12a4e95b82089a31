import type { Dialect, Reader } from '#base/db/port.ts'
import type { Entry } from './model.ts'
import { createLedgerStore } from './store.ts'
import type { AutonomousFilter, EntryRow } from './store.ts'

/** Limits the search: older entries are not valid sources of a proposal, and the search delays other calls. */
const maxSearched = 10_000

export type EntryLookup = ReturnType<typeof createEntryLookup>

/** Reads single entries inside a transaction, to check the sources that an agent names. */
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
    /** Returns the payload of an entry, unless it was erased. */
    async payload(reader: Reader, seq: number): Promise<unknown> {
      const row = await store.payload(reader, seq)
      return row && (JSON.parse(row.body) as unknown)
    },
    /** Lists the recent autonomous actions of an actor, newest first. */
    listAutonomous: async (reader: Reader, wanted: AutonomousFilter) =>
      (await store.listAutonomous(reader, wanted)).map(parseEntry),
    /** Lists calls that completed after `after` with this subject prefix. */
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
