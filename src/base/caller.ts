import type { Actor } from './entry.ts'
import type { ToolSelection } from './selection.ts'

export type Role = 'owner' | 'reviewer' | 'viewer'

/** The result of authentication (I1). Code behind the endpoints never reads tokens. */
export type Caller = Actor & {
  readonly session: string
  readonly verified: boolean
  /** Globs such as `read:*`. They come from the credential (I11). */
  readonly scopes: readonly string[]
  /** The tools that this agent or connection lists and may call (SV18). */
  readonly selection?: ToolSelection
  /** The COWORK protocol's `agent` under a shared key: an unverified claim, shown beside the principal (I5). */
  readonly claim?: string
  /** The role of a person. Agents have scopes instead. */
  readonly role?: Role
  /** The channel through which a person decides: derived from authentication, never from a header (A5). */
  readonly channel?: 'console' | 'cli' | 'telegram' | 'api'
  /** True if the session confirmed with its passkey within the last 5 minutes (I6). */
  readonly assured?: boolean
  /** The time at which a person added the agent. An earlier holder of the name was another agent (I4). */
  readonly since?: number
}

/** Returns whether the caller itself made a record under this id at this time. */
export const isOwnRecord = (
  { id, since = 0 }: Pick<Caller, 'id' | 'since'>,
  by: string,
  at: number,
): boolean => by === id && at >= since

/** Selects the fields of a caller that the ledger records. */
export function toActor(caller: Caller): Actor {
  const { kind, id, session, verified, client } = caller
  return { kind, id, session, verified, ...(client && { client }) }
}
