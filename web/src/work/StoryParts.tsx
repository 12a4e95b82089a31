import { useQuery, useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ago } from '../shared/Ago.tsx'
import { Fact, FactList, Section } from '../shared/Section.tsx'
import { textLink } from '../shared/Button.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sprintTitle } from './text.ts'
import type { Story, BacklogWhole } from './work.ts'
import { PriorityChip, StatusChip } from './StatusChips.tsx'
import { useActorName, useView, useWork } from './work-context.ts'
import { sprintsQuery, storyHistoryQuery } from './work-queries.ts'
import { call } from '../api/client.ts'
import { toastProblem } from '../shared/toast.ts'
import type { Entry } from '../api/entry.ts'
import { ActorChip } from '../shared/Chips.tsx'
import { EntrySentence } from '../audit/Sentence.tsx'
import { QueryContent } from '../shared/States.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { matchesStory } from './entry-match.ts'

export function StoryFacts({ story }: { story: Story }) {
  const { project } = useWork()
  const view = useView()
  const formatActor = useActorName()
  const sprint = useQuery(sprintsQuery(project)).data?.find(({ id }) => id === story.sprint_id)
  const { paths = [], updated, by } = story
  return (
    <FactList>
      <Fact name="Sprint">
        <Link to="/work" search={{ ...view, sprint: story.sprint_id }} className={textLink}>
          <SafeText text={sprint ? sprintTitle(sprint) : story.sprint_id} />
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
          <SafeText text={story.from_backlog} />
        </Fact>
      )}
      {paths.length > 0 && (
        <Fact name="Paths">
          <SafeText as="span" className="font-mono text-code break-all" text={paths.join(', ')} />
        </Fact>
      )}
      {updated !== undefined && (
        <Fact name="Changed">
          <Ago at={updated} />
          {by !== undefined && (
            <span className="text-soft">
              by <SafeText text={formatActor(by)} />
            </span>
          )}
        </Fact>
      )}
    </FactList>
  )
}

export function StoryDependencies({ story: { needs, needed_by: neededBy } }: { story: Story }) {
  if (needs.length === 0 && neededBy.length === 0) return null
  return (
    <Section title="Dependencies">
      {needs.length > 0 && (
        <ul aria-label="Depends on" className="grid gap-1.5">
          {needs.map(({ id, title, status }) => (
            <li key={id} className="flex items-center gap-2">
              {status === 'gone' ? (
                <span className="text-xs text-faint">deleted</span>
              ) : (
                <StatusChip status={status} />
              )}
              <span className="min-w-0 truncate">
                <StoryLink id={id} />
                {title !== undefined && (
                  <span className="text-soft">
                    {' '}
                    <SafeText text={title} />
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {neededBy.length > 0 && (
        <p className="flex flex-wrap gap-x-2 text-soft">
          Blocks
          {neededBy.map((id) => (
            <StoryLink key={id} id={id} />
          ))}
        </p>
      )}
    </Section>
  )
}

function StoryLink({ id }: { id: string }) {
  const view = useView()
  return (
    <Link
      to="."
      search={{ ...view, story: id }}
      className="font-mono text-code underline decoration-line underline-offset-3 hover:decoration-current"
    >
      <SafeText text={id} />
    </Link>
  )
}

export function Acceptance({ story }: { story: Story }) {
  const { project, mayChange } = useWork()
  const { acceptance = [] } = story
  const tick = useMutation({
    mutationFn: (at: number) =>
      call('worksync_update_story', {
        project,
        story_id: story.id,
        expect_rev: story.rev,
        // The tool accepts only these keys; people can add others in the file.
        acceptance: acceptance.map(({ text, done = false }, index) => ({
          text,
          done: index === at ? !done : done,
        })),
      }),
    onError: toastProblem,
  })
  if (acceptance.length === 0) return null
  const metCount = acceptance.filter(({ done }) => done === true).length
  return (
    <Section title="Acceptance criteria" says={`${metCount} of ${acceptance.length}`}>
      <ul aria-label="Acceptance criteria" className="grid gap-1">
        {acceptance.map(({ text, done = false }, at) => (
          // Criteria have no id. oxlint-disable-next-line react/no-array-index-key
          <li key={at}>
            <label className="flex items-start gap-2.5 rounded py-0.5 max-md:py-2">
              <input
                type="checkbox"
                className="mt-0.75 size-3.5 shrink-0 accent-accent max-md:size-5"
                checked={tick.isPending && tick.variables === at ? !done : done}
                disabled={!mayChange || tick.isPending}
                onChange={() => tick.mutate(at)}
              />
              <SafeText
                as="span"
                className={`min-w-0 break-words ${done ? 'text-soft' : ''}`}
                text={text}
              />
            </label>
          </li>
        ))}
      </ul>
    </Section>
  )
}

export function StoryHistory({ id }: { id: string }) {
  const { project } = useWork()
  const query = storyHistoryQuery(project, id)
  const history = useQuery(query)
  useRefetch((entry) => matchesStory(entry, project, id), query)
  return (
    <Section title="History">
      <QueryContent query={history} what="the history" rows={2}>
        {(entries) =>
          entries.length > 0 ? (
            <ol aria-label="History, newest first" className="grid gap-1.5">
              {entries.map((entry) => (
                <HistoryRow key={entry.seq} entry={entry} />
              ))}
            </ol>
          ) : (
            <p className="text-soft">Imported from the file. No changes since.</p>
          )
        }
      </QueryContent>
    </Section>
  )
}

const HistoryRow = ({ entry }: { entry: Entry }) => (
  <li className="flex flex-wrap items-baseline gap-x-2.5 text-soft">
    <Ago at={entry.at} className="w-20 shrink-0 text-xs text-faint" />
    <Link
      to="/audit/$seq"
      params={{ seq: String(entry.seq) }}
      className="min-w-0 flex-1 break-words hover:underline [&_b]:font-normal"
    >
      <EntrySentence entry={entry} />
    </Link>
    <span className="max-w-36 text-xs">
      <ActorChip actor={entry.actor} />
    </span>
  </li>
)

type Props = { item: Pick<BacklogWhole, 'text' | 'text_note'>; says?: string }

/** Shows the text of a backlog item verbatim: markup is not rendered (A13). */
export function BacklogText({ item: { text, text_note: note }, says }: Props) {
  if (text === undefined && note === undefined) return null
  return (
    <Section title="Text" says={says}>
      {note === undefined ? (
        <SafeText as="p" className="break-words whitespace-pre-wrap" text={text ?? ''} lines />
      ) : (
        <SafeText as="p" className="break-words text-soft" text={note} />
      )}
    </Section>
  )
}
