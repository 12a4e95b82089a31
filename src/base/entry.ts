export type Client = {
  readonly name: string
  readonly version: string
  readonly transport: 'http' | 'stdio' | 'cli'
}

/** The authenticated origin of an action. `client` is reported by the client itself: shown, never trusted. */
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

/** An entry as modules append it. The ledger adds seq, time and the hash of the previous entry (L3). */
export type EntryDraft = {
  /** `noun.past`, as in `agent.added` */
  readonly type: string
  readonly actor: Actor
  readonly domain?: string
  readonly subject?: string
  readonly ids?: EntryIds
  readonly outcome?: string
  readonly data?: Record<string, unknown>
  /** Large or personal content. Stored separately under a salted digest, so that it can be erased (L8). */
  readonly payload?: unknown
  /** True if the entry also records its call: dispatch adds to the entry and appends no other (0014). */
  readonly isCall?: true
}

export const systemActor: Actor = { kind: 'system', id: 'cowork' }
