import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { pluralize } from '../files/byte-size.ts'
import { buttonClass } from '../shared/Button.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShowMore } from '../shared/ListParts.tsx'
import { QueryState, EmptyState } from '../shared/States.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { matchesProject } from './entry-match.ts'
import type { Hit } from './work.ts'
import { BacklogChip, SprintChip, StatusChip } from './StatusChips.tsx'
import { useView, useWork } from './work-context.ts'
import { findQuery } from './work-queries.ts'
import { WorkBar } from './WorkBar.tsx'

/** Lists the stories, backlog items and sprints that match, in this project or in all. */
export function SearchResults({ q, isEverywhere }: { q: string; isEverywhere: boolean }) {
  const { project } = useWork()
  const scope = isEverywhere ? undefined : project
  const query = findQuery(scope, q)
  const results = useInfiniteQuery(query)
  const { data } = results
  useRefetch((entry) => matchesProject(entry, scope), query)
  const hits = data?.pages.flatMap(({ results }) => results)
  return (
    <>
      <WorkBar />
      {!hits ? (
        <QueryState query={results} what="search results" />
      ) : hits.length === 0 ? (
        <NoMatch q={q} />
      ) : (
        <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
          <p role="status" className="px-5 py-2 text-xs text-faint max-md:px-4">
            {pluralize(data?.pages[0]?.total ?? hits.length, 'match', 'matches')}
          </p>
          <ul aria-label="Search results" className="border-t border-line">
            {hits.map((hit) => (
              <ResultRow
                key={`${hit.project ?? ''} ${hit.kind} ${hit.id}`}
                hit={hit}
                project={hit.project ?? project}
              />
            ))}
          </ul>
          <ShowMore query={results} />
        </div>
      )}
    </>
  )
}

function NoMatch({ q }: { q: string }) {
  const { q: _, ...view } = useView()
  return (
    <EmptyState icon="search" title="No matches">
      <p>
        No story, sprint or backlog item contains “<SafeText text={q} />
        ”.
      </p>
      <Link to="." search={view} className={buttonClass()}>
        Show all
      </Link>
    </EmptyState>
  )
}

function ResultRow({ hit, project }: { hit: Hit; project: string }) {
  const view = useView()
  const isOpen = hit.kind === 'story' && view.story === hit.id
  const { q: _, story: __, ...others } = view
  const target =
    hit.kind === 'story'
      ? ({ to: '.', search: { ...view, project, story: hit.id } } as const)
      : hit.kind === 'sprint'
        ? ({ to: '/work', search: { ...others, project, sprint: hit.id } } as const)
        : ({ to: '/work/backlog', search: { ...others, project } } as const)
  return (
    <li>
      <Link
        {...target}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isOpen ? 'true' : undefined}
        className={`flex flex-wrap items-center gap-x-2.5 gap-y-1 border-b border-line px-5 py-2 -outline-offset-2 max-md:px-4 ${
          isOpen ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
        }`}
      >
        <HitChip hit={hit} />
        <SafeText as="span" className="font-mono text-xs break-all text-soft" text={hit.id} />
        <SafeText
          as="span"
          className="min-w-0 flex-1 truncate max-md:basis-full"
          text={hit.kind === 'backlog' ? hit.summary : (hit.title ?? '')}
        />
        <span className="text-xs text-faint">
          {hit.project !== undefined && <SafeText text={`${hit.project}, `} />}
          {hit.kind === 'story' ? <SafeText text={hit.sprint_id} /> : hit.kind}
        </span>
      </Link>
    </li>
  )
}

function HitChip({ hit }: { hit: Hit }) {
  if (hit.kind === 'story') return <StatusChip status={hit.status} />
  return hit.kind === 'backlog' ? (
    <BacklogChip status={hit.status} />
  ) : (
    <SprintChip status={hit.status} />
  )
}
