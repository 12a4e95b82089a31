import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../api/queries.ts'
import { byFile } from './text.ts'

/** How those who did something are called here; ids of people are made of their names. */
export function useNames(): (id: string) => string {
  const me = useQuery(meQuery).data?.person.id
  return (id) => (id === byFile ? 'an edit of the file' : id === me ? 'you' : id)
}
