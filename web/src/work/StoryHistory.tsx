import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Entry } from '../api/entry.ts'
import { Ago } from '../shared/Ago.tsx'
import { ActorChip } from '../shared/Chips.tsx'
import { Section } from '../shared/Section.tsx'
import { Sentence } from '../audit/Sentence.tsx'
import { Awaited } from '../shared/States.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { isAbout } from './entry-match.ts'
import { useWork } from './work-context.ts'
import { storyHistoryQuery } from './work-queries.ts'

/** What was done to it, by whom: out of the ledger, each line with its entry. */
export function StoryHistory({ id }: { id: string }) {
  const { project } = useWork()
  const query = storyHistoryQuery(project, id)
  const listed = useQuery(query)
  const { data: entries } = listed
  useRefetch((entry) => isAbout(entry, project, id), query)
  return (
    <Section title="History">
      {entries ? (
        entries.length > 0 ? (
          <ol aria-label="History, newest first" className="grid gap-1.5">
            {entries.map((entry) => (
              <Line key={entry.seq} entry={entry} />
            ))}
          </ol>
        ) : (
          <p className="text-soft">It came with the file, and nobody has touched it since.</p>
        )
      ) : (
        <Awaited query={listed} what="its history" rows={2} />
      )}
    </Section>
  )
}

const Line = ({ entry }: { entry: Entry }) => (
  <li className="flex flex-wrap items-baseline gap-x-2.5 text-soft">
    <Ago at={entry.at} className="w-20 shrink-0 text-xs text-faint" />
    <Link
      to="/audit/$seq"
      params={{ seq: String(entry.seq) }}
      className="min-w-0 flex-1 break-words hover:underline [&_b]:font-normal"
    >
      <Sentence entry={entry} />
    </Link>
    <span className="max-w-36 text-xs">
      <ActorChip actor={entry.actor} />
    </span>
  </li>
)
