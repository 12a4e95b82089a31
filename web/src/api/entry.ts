/** The ledger as the API shows it; the words are those of the record itself (L3). */

export type ActorKind = 'agent' | 'human' | 'system'

export type Actor = {
  readonly kind: ActorKind
  readonly id: string
  readonly session?: string
  readonly verified?: boolean
  readonly client?: { readonly name: string; readonly version: string; readonly transport: string }
}

export type Entry = {
  readonly v: 1
  readonly seq: number
  readonly at: number
  readonly prev: string
  readonly type: string
  readonly actor: Actor
  readonly domain?: string
  readonly subject?: string
  readonly ids?: Readonly<Record<string, string>>
  readonly outcome?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly payload?: string
}

export type LedgerPage = { readonly size: number; readonly entries: readonly Entry[] }

export type EntryProof = {
  readonly seq: number
  /** The canonical text that was hashed. */
  readonly entry: string
  readonly index: number
  readonly size: number
  readonly path: readonly string[]
  readonly checkpoint: string
  readonly vkey: string
}

/** Ids by which entries of one act find each other, the one that says most first. */
export const chainIds = ['proposal', 'call'] as const

/** The noun of an entry: `approval` of `approval.rejected`. */
export const nounOf = ({ type }: Entry): string => type.slice(0, type.indexOf('.'))
