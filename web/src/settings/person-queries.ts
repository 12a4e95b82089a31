import { queryOptions } from '@tanstack/react-query'
import type { ToolResults } from '#wire'
import { call } from '../api/client.ts'

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
