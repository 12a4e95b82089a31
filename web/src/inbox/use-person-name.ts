import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../api/queries.ts'
import { peopleQuery } from '../settings/person.ts'

/**
 * How these people are called here: you, by name, or by id while the names are not known. Names are
 * asked for only where somebody else is meant: reading them is an entry of the ledger.
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
