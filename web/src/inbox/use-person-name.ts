import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../api/queries.ts'
import { peopleQuery } from '../settings/person.ts'

/**
 * Returns the name of a person: `you`, the name, or the id while the names are unknown. The names are read only for
 * other people, because each read writes a ledger entry.
 */
export function usePersonName(
  ...ids: readonly (string | undefined)[]
): (id: string | undefined) => string {
  const me = useQuery(meQuery).data?.person.id
  const isOther = (id: string | undefined) => id !== undefined && id !== me && id !== 'trust'
  const enabled = me !== undefined && ids.some(isOther)
  const people = useQuery({ ...peopleQuery, enabled }).data?.people
  return (id = 'nobody') =>
    id === me ? 'you' : (people?.find((person) => person.id === id)?.name ?? id)
}
