import { useQuery } from '@tanstack/react-query'
import { CloseLink } from '../shared/CloseLink.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { QueryState } from '../shared/States.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { useRefetch } from '../api/use-entries.ts'
import { affectsKind } from './entry-match.ts'
import { withoutStory } from './view.ts'
import type { Story } from './work.ts'
import { useFocusOnOpen } from '../shared/use-focus-on-open.ts'
import { useTitle } from '../shared/use-title.ts'
import {
  Acceptance,
  StoryDependencies,
  StoryFacts,
  StoryHistory,
  BacklogText,
} from './StoryParts.tsx'
import { Comments } from './Comments.tsx'
import { ConflictNote, ClaimNote } from './StoryNotes.tsx'
import { StatusChip } from './StatusChips.tsx'
import { StoryActions } from './StoryActions.tsx'
import { useView, useWork } from './work-context.ts'
import { storyQuery } from './work-queries.ts'

export function StoryDetail({ id }: { id: string }) {
  const { project, mayChange } = useWork()
  const view = useView()
  const query = useQuery(storyQuery(project, id))
  const { data: story } = query
  useRefetch(
    (entry) =>
      affectsKind(entry, project, 'story') ||
      (story?.from_backlog !== undefined && affectsKind(entry, project, 'backlog')),
    storyQuery(project, id),
  )
  useTitle(id, 'Work')
  return (
    <section
      aria-label="Story"
      className="scroll-thin flex w-[46%] max-w-170 min-w-90 shrink-0 flex-col overflow-y-auto border-l border-line [scroll-padding-block:48px_80px] max-md:w-full max-md:min-w-0 max-md:border-0"
    >
      <header className="sticky top-0 z-10 flex h-12 shrink-0 items-center border-b border-line bg-bg px-1 md:hidden">
        <CloseLink to="." search={withoutStory(view)} label="Back to the board" icon="back" />
      </header>
      {story ? (
        <>
          <article className="grid w-full gap-5 px-6 pt-5 pb-7 max-md:px-4">
            <Heading story={story} />
            {story.conflicts.map((conflict) => (
              <ConflictNote key={conflict.id} conflict={conflict} />
            ))}
            {story.lease && <ClaimNote story={story} lease={story.lease} />}
            <StoryFacts story={story} />
            {story.notes && (
              <Section title="Notes">
                <SafeText
                  as="p"
                  className="break-words whitespace-pre-wrap"
                  text={story.notes}
                  lines
                />
              </Section>
            )}
            <BacklogText item={story} says={`from ${sanitizeText(story.from_backlog ?? '')}`} />
            <Acceptance story={story} />
            <StoryDependencies story={story} />
            <Comments story={story} />
            <StoryHistory id={id} />
          </article>
          {mayChange && <StoryActions story={story} />}
        </>
      ) : (
        <QueryState query={query} what="the story" />
      )}
    </section>
  )
}

function Heading({ story: { id, title, status, ready } }: { story: Story }) {
  const ref = useFocusOnOpen()
  const view = useView()
  return (
    <header className="flex items-start gap-3">
      <div className="grid min-w-0 flex-1 gap-1.5">
        <h2
          ref={ref}
          tabIndex={-1}
          className="text-lg font-[620] tracking-[-.01em] break-words outline-none"
        >
          <SafeText text={title ?? id} />
        </h2>
        <p className="flex flex-wrap items-center gap-2 text-soft">
          <SafeText as="span" className="font-mono text-code break-all" text={id} />
          <StatusChip status={status} />
          {ready && <span className="text-xs">Ready</span>}
        </p>
      </div>
      <CloseLink
        to="."
        search={withoutStory(view)}
        label="Close"
        icon="cross"
        className="max-md:hidden"
      />
    </header>
  )
}
