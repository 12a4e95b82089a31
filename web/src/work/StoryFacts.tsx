import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ago } from '../shared/Ago.tsx'
import { Fact, FactList } from '../shared/Facts.tsx'
import { Plain } from '../shared/Plain.tsx'
import { titleOf } from './text.ts'
import type { Story } from './work.ts'
import { PriorityChip } from './Looks.tsx'
import { useNames } from './use-names.ts'
import { useView, useWork } from './work-context.ts'
import { sprintsQuery } from './work-queries.ts'

/** Where it belongs and how much it is. */
export function StoryFacts({ story }: { story: Story }) {
  const { project } = useWork()
  const view = useView()
  const nameOf = useNames()
  const sprint = useQuery(sprintsQuery(project)).data?.find(({ id }) => id === story.sprint_id)
  const { paths = [], updated, by } = story
  return (
    <FactList>
      <Fact name="Sprint">
        <Link
          to="/work"
          search={{ ...view, sprint: story.sprint_id }}
          className="underline decoration-line underline-offset-3 hover:decoration-current"
        >
          <Plain text={sprint ? titleOf(sprint) : story.sprint_id} />
        </Link>
      </Fact>
      {story.priority && (
        <Fact name="Priority">
          <PriorityChip priority={story.priority} />
        </Fact>
      )}
      {story.estimate !== undefined && <Fact name="Estimate">{story.estimate}</Fact>}
      {story.from_backlog !== undefined && (
        <Fact name="Backlog">
          <Plain text={story.from_backlog} />
        </Fact>
      )}
      {paths.length > 0 && (
        <Fact name="Paths">
          <span className="font-mono text-code break-all">
            <Plain text={paths.join(', ')} />
          </span>
        </Fact>
      )}
      {updated !== undefined && (
        <Fact name="Changed">
          <Ago at={updated} />
          {by !== undefined && (
            <span className="text-soft">
              by <Plain text={nameOf(by)} />
            </span>
          )}
        </Fact>
      )}
    </FactList>
  )
}
