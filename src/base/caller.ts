import type { Actor } from './entry.ts'
import type { ToolSelection } from './selection.ts'

export type Role = 'owner' | 'reviewer' | 'viewer'

/** The one thing every door makes of a credential (I1). Nothing behind the doors reads tokens. */
export type Caller = Actor & {
  readonly session: string
  readonly verified: boolean
  /** Globs such as `read:*`; they belong to the credential (I11). */
  readonly scopes: readonly string[]
  /** The tools that this agent or connection lists, and those it may not call (SV18). */
  readonly selection?: ToolSelection
  /** Seed 003's `agent` under a shared key: a claim shown beside the principal (I5). */
  readonly claim?: string
  /** A person's; agents have scopes instead. */
  readonly role?: Role
  /** Where a person decides: taken from how they authenticated, never from a header (A5). */
  readonly channel?: 'console' | 'cli' | 'telegram' | 'api'
  /** This session showed its passkey within the last 5 minutes (I6). */
  readonly assured?: boolean
  /** Of an agent that a person added: when. Whoever had its name before that was another (I4). */
  readonly since?: number
}

/** Whether what an agent of that name made at that time is this caller's own. */
export const isOwnRecord = (
  { id, since = 0 }: Pick<Caller, 'id' | 'since'>,
  by: string,
  at: number,
): boolean => by === id && at >= since

/** What the ledger keeps of a caller. */
export function toActor(caller: Caller): Actor {
  const { kind, id, session, verified, client } = caller
  return { kind, id, session, verified, ...(client && { client }) }
}
