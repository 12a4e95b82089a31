import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ToolResults } from '#wire'
import { call } from '../api/client.ts'
import { meQuery } from '../api/queries.ts'
import type { Role } from '../api/session.ts'

type People = ToolResults['cowork_list_people']
export type ListedPerson = People['people'][number]
export type Invitation = People['invitations'][number]
export type ListedSession = ToolResults['cowork_list_sessions']['sessions'][number]
export type Passkey = ToolResults['cowork_list_passkeys']['passkeys'][number]

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: () => call('cowork_list_people'),
})
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async () => (await call('cowork_list_sessions')).sessions,
})
export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: async () => (await call('cowork_list_passkeys')).passkeys,
})

export const roles: readonly { value: Role; label: string; may: string }[] = [
  { value: 'owner', label: 'Owner', may: 'full access' },
  { value: 'reviewer', label: 'Reviewer', may: 'decides requests, halts agents' },
  { value: 'viewer', label: 'Viewer', may: 'read only' },
]

export const roleLabel = (role: Role): string =>
  roles.find(({ value }) => value === role)?.label ?? role

export const useIsOwner = (): boolean => useQuery(meQuery).data?.person.role === 'owner'

/** Whether this person can decide and change things; viewers only read. */
export function useCanAct(): boolean {
  const role = useQuery(meQuery).data?.person.role
  return role !== undefined && role !== 'viewer'
}
