import { QueryClient, queryOptions } from '@tanstack/react-query'
import { call, get } from './client.ts'
import { live } from './live.ts'
import type { Listed } from '../policies/policy.ts'
import { session } from './session.ts'
import type { Me, Role } from './session.ts'

export type Halt = {
  readonly scope: string
  readonly reason: string
  readonly by: string
  readonly at: string
}
export type Status = {
  readonly version: string
  readonly auth: 'open' | 'closed'
  readonly halts: readonly Halt[]
  readonly ledger: { readonly size: number }
}

export type Agent = {
  readonly id: string
  readonly source: 'config' | 'store' | 'environment'
  readonly status: 'active' | 'revoked'
  readonly scopes: readonly string[]
  readonly tools?: readonly string[]
  readonly exclude?: readonly string[]
  readonly read_only?: boolean
  readonly created_at?: string
  readonly last_seen_at?: string
  readonly credentials: readonly { readonly hash_prefix: string; readonly expires_at?: string }[]
}

export type ListedPerson = {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly status: 'active' | 'removed'
  readonly joined_at: string
  readonly last_seen_at?: string
}
export type Invitation = {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly invited_by: string
  readonly expires_at: string
}
export type ListedSession = {
  readonly id: string
  readonly person: string
  readonly name: string
  readonly user_agent: string
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
  readonly current: boolean
}
export type Passkey = {
  readonly id: string
  readonly person: string
  readonly name: string
  readonly created_at: string
  readonly last_used_at?: string
}

export const meQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => get<Me>('/api/session', {}, signal),
})
export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: () => call<Status>('cowork_status'),
})
export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: async () => (await call<{ agents: readonly Agent[] }>('cowork_list_agents')).agents,
})
export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: () =>
    call<{ people: readonly ListedPerson[]; invitations: readonly Invitation[] }>(
      'cowork_list_people',
    ),
})
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async () =>
    (await call<{ sessions: readonly ListedSession[] }>('cowork_list_sessions')).sessions,
})
export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: async () =>
    (await call<{ passkeys: readonly Passkey[] }>('cowork_list_passkeys')).passkeys,
})
/** The policies in force, and who works under which. */
export const policiesQuery = queryOptions({
  queryKey: ['policies', 'listed'],
  queryFn: () => call<Listed>('cowork_list_policies'),
})

/**
 * What each noun of the ledger makes old. A read by tool is itself an entry, so nothing here may
 * follow `call`, and nothing is read again but for a reason.
 */
const touched: Record<string, readonly string[]> = {
  agent: ['agents'],
  person: ['people', 'sessions', 'session'],
  role: ['people', 'session'],
  invitation: ['people'],
  session: ['sessions'],
  passkey: ['passkeys', 'session'],
  halt: ['status'],
  permission: ['permissions'],
  grant: ['grants'],
  policy: ['policies'],
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: Infinity, refetchOnWindowFocus: false, retry: false },
    mutations: { retry: false },
  },
})

/** Feeds the caches from the stream, and forgets all when the person changes. */
export function startQueries(): void {
  live.onEntries((entries) => {
    const nouns = new Set(entries.map(({ type }) => type.split('.')[0] ?? ''))
    const keys = new Set([...nouns].flatMap((noun) => touched[noun] ?? []))
    for (const key of keys) void queries.invalidateQueries({ queryKey: [key] })
  })
  // What could not be read while the daemon was away.
  const isBroken = ({ state }: { state: { status: string } }) => state.status === 'error'
  live.state.subscribe(() => {
    if (live.state.get() === 'live') void queries.refetchQueries({ predicate: isBroken })
  })
  let token = session.token()
  session.subscribe(() => {
    if (session.token() === token) return
    token = session.token()
    queries.clear()
  })
}
