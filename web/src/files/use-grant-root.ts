import { useQuery } from '@tanstack/react-query'
import { isAbsolute, liesIn } from './path.ts'
import { grantsQuery } from './file-queries.ts'

/** Where the way to a folder begins: the workspace, or the widest grant that it lies under. */
export function useGrantRoot(path: string): string {
  const { data = [] } = useQuery({ ...grantsQuery, enabled: isAbsolute(path) })
  if (!isAbsolute(path)) return ''
  const [widest = path] = data
    .filter((grant) => grant.permission !== 'deny' && liesIn(path, grant.path))
    .map((grant) => grant.path)
    .toSorted((a, b) => a.length - b.length)
  return widest
}
