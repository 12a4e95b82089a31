import { useQuery } from '@tanstack/react-query'
import { endApart, fromHome } from '../files/path.ts'
import type { Access } from './grant.ts'
import { Plain } from '../shared/Plain.tsx'
import { plainString } from '../shared/plain.ts'
import { meQuery } from '../api/queries.ts'

/** A request for access in one line. Paths differ at their end, so that stays in sight: the beginning is cut (C2). */
export function AccessLine({ says, path }: Access) {
  const home = useQuery(meQuery).data?.home
  const { head, end } = endApart(fromHome(path, home))
  return (
    <span title={plainString(path)} className="flex min-w-0 whitespace-pre">
      <span className="shrink-0">{says} </span>
      <span className="flex min-w-0">
        <span className="min-w-0 truncate">
          <Plain text={head} />
        </span>
        {/* What overflows from right to left is cut at the left; the path in it runs as ever. */}
        <span className="max-w-full shrink-0 truncate [direction:rtl]">
          <Plain text={end} />
        </span>
      </span>
    </span>
  )
}
