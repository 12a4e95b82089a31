import type { RouteAnswers } from '#wire'

type WireEntry = RouteAnswers['GET /api/ledger']['entries'][number]

/** The ledger as the API shows it; the words are those of the record itself (L3). */
export type Entry = Omit<WireEntry, 'data'> & {
  /** What is in it depends on the type of the entry. */
  readonly data?: Readonly<Record<string, unknown>>
}
export type Actor = Entry['actor']
export type EntryProof = RouteAnswers['GET /api/ledger/{seq}/proof']

/** Ids by which entries of one act find each other, the one that says most first. */
export const chainIds = ['proposal', 'call'] as const

/** The noun of an entry: `approval` of `approval.rejected`. */
export const entryNoun = ({ type }: Entry): string => type.slice(0, type.indexOf('.'))
