import { useMutation } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { Plain } from '../shared/Plain.tsx'
import { Section } from '../shared/Section.tsx'
import { toastProblem } from '../shared/toast.ts'
import type { Story } from './work.ts'
import { useWork } from './work-context.ts'

/** When it is done, criterion by criterion; a person ticks what they have seen. */
export function Acceptance({ story }: { story: Story }) {
  const { project, mayChange } = useWork()
  const { acceptance = [] } = story
  const tick = useMutation({
    mutationFn: (at: number) =>
      call('worksync_update_story', {
        project,
        story_id: story.id,
        expect_rev: story.rev,
        // The tool takes nothing else, whatever a person wrote beside it in the file.
        acceptance: acceptance.map(({ text, done = false }, place) => ({
          text,
          done: place === at ? !done : done,
        })),
      }),
    onError: toastProblem,
  })
  if (acceptance.length === 0) return null
  const met = acceptance.filter(({ done }) => done === true).length
  return (
    <Section title="Done when" says={`${met} of ${acceptance.length}`}>
      <ul aria-label="Done when" className="grid gap-1">
        {acceptance.map(({ text, done = false }, at) => (
          // Criteria have no name but their place.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={at}>
            <label className="flex items-start gap-2.5 rounded py-0.5 max-md:py-2">
              <input
                type="checkbox"
                className="mt-0.75 size-3.5 shrink-0 accent-accent max-md:size-5"
                checked={tick.isPending && tick.variables === at ? !done : done}
                disabled={!mayChange || tick.isPending}
                onChange={() => tick.mutate(at)}
              />
              <span className={`min-w-0 break-words ${done ? 'text-soft' : ''}`}>
                <Plain text={text} />
              </span>
            </label>
          </li>
        ))}
      </ul>
    </Section>
  )
}
