import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ago } from '../shared/Ago.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { QueryState, EmptyState, QueryContent } from '../shared/States.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { changesProjects } from './entry-match.ts'
import type { ConflictBrief } from './work.ts'
import { ConflictNote } from './StoryNotes.tsx'
import { useView, useWork } from './work-context.ts'
import { conflictQuery, conflictsQuery } from './work-queries.ts'

export function ConflictsPage() {
  const { project } = useWork()
  const query = useQuery(conflictsQuery(project))
  const { data: conflicts } = query
  useRefetch(changesProjects, conflictsQuery(project))
  if (!conflicts) return <QueryState query={query} what="conflicts" rows={4} />
  return conflicts.length === 0 ? (
    <EmptyState icon="check" title="No conflicts">
      <p>If the file and a tool change the same field, both values appear here.</p>
    </EmptyState>
  ) : (
    <ul
      aria-label="Conflicts"
      className="scroll-thin grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-5 py-4 max-md:px-4"
    >
      {conflicts.map((conflict) => (
        <ConflictRow key={conflict.id} conflict={conflict} />
      ))}
    </ul>
  )
}

function ConflictRow({ conflict: { id, item, at } }: { conflict: ConflictBrief }) {
  const { project } = useWork()
  const view = useView()
  const query = useQuery(conflictQuery(project, id))
  return (
    <li className="grid max-w-195 gap-2">
      <p className="flex flex-wrap gap-x-2.5">
        {query.data?.about === 'story' ? (
          <Link
            to="."
            search={{ ...view, story: item }}
            className="font-mono text-code underline decoration-line underline-offset-3 hover:decoration-current"
          >
            <SafeText text={item} />
          </Link>
        ) : (
          <SafeText
            as="span"
            className="font-mono text-code"
            text={item === '*' ? 'Entire file' : item}
          />
        )}
        <Ago at={at} className="text-soft" />
      </p>
      <QueryContent query={query} what="the conflict" rows={2}>
        {({ conflict }) => <ConflictNote conflict={conflict} />}
      </QueryContent>
    </li>
  )
}
