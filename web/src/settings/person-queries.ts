import { queryOptions } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import type { Role } from '../api/session.ts'

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
