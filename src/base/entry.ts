/** Words of the record that every domain uses when it appends to the ledger. */

export type Client = {
  readonly name: string
  readonly version: string
  readonly transport: 'http' | 'stdio' | 'cli'
}

/** Who did it, as the door saw it. `client` is what the other side says of itself: shown, never trusted. */
export type Actor = {
  readonly kind: 'agent' | 'human' | 'system'
  readonly id: string
  readonly session?: string
  readonly verified?: boolean
  readonly client?: Client
}

export type EntryIds = {
  readonly call?: string
  readonly proposal?: string
  readonly approval?: string
  readonly job?: string
  readonly grant?: string
  readonly handoff?: string
}

/** What a domain appends; the ledger adds seq, time and the hash of the entry before (L3). */
export type EntryDraft = {
  /** `noun.past`, as in `agent.added` */
  readonly type: string
  readonly actor: Actor
  readonly domain?: string
  readonly subject?: string
  readonly ids?: EntryIds
  readonly outcome?: string
  readonly data?: Record<string, unknown>
  /** Large or personal content: kept beside the entry under a salted digest, so it can be erased (L8). */
  readonly payload?: unknown
  /** What a call does and the call itself are one entry: dispatch adds to it and writes no other (0014). */
  readonly isCall?: true
}

export const systemActor: Actor = { kind: 'system', id: 'cowork' }
