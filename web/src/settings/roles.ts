import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../api/queries.ts'
import type { Role } from '../api/session.ts'

export const roles: readonly { value: Role; label: string; may: string }[] = [
  { value: 'owner', label: 'Owner', may: 'everything, people and agents too' },
  { value: 'reviewer', label: 'Reviewer', may: 'decides and halts' },
  { value: 'viewer', label: 'Viewer', may: 'reads only' },
]

export const roleLabel = (role: Role): string =>
  roles.find(({ value }) => value === role)?.label ?? role

export const useIsOwner = (): boolean => useQuery(meQuery).data?.person.role === 'owner'

/** Whether this person decides and changes things: viewers only read. */
export function useMayAct(): boolean {
  const role = useQuery(meQuery).data?.person.role
  return role !== undefined && role !== 'viewer'
}
