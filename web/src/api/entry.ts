import type { RouteAnswers } from '#wire'

type WireEntry = RouteAnswers['GET /api/ledger']['entries'][number]

/** A ledger entry as the API returns it (L3). */
export type Entry = Omit<WireEntry, 'data'> & {
  /** The fields depend on the type of the entry. */
  readonly data?: Readonly<Record<string, unknown>>
}
export type Actor = Entry['actor']
export type EntryProof = RouteAnswers['GET /api/ledger/{seq}/proof']

/** Ids that connect the entries of one action, the most specific first. */
export const chainIds = ['proposal', 'call'] as const

/** Returns the noun of an entry type: `approval` of `approval.rejected`. */
export const entryNoun = ({ type }: Entry): string => type.slice(0, type.indexOf('.'))
