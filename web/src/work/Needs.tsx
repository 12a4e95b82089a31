import { Link } from '@tanstack/react-router'
import { Plain } from '../shared/Plain.tsx'
import { Section } from '../shared/Section.tsx'
import type { Story } from './work.ts'
import { StatusChip } from './Looks.tsx'
import { useView } from './work-context.ts'

/** What comes before it, and what waits for it. */
export function Needs({ story: { needs, needed_by: neededBy } }: { story: Story }) {
  if (needs.length === 0 && neededBy.length === 0) return null
  return (
    <Section title="Dependencies">
      {needs.length > 0 && (
        <ul aria-label="Depends on" className="grid gap-1.5">
          {needs.map(({ id, title, status }) => (
            <li key={id} className="flex items-center gap-2">
              {status === 'gone' ? (
                <span className="text-xs text-faint">not there any more</span>
              ) : (
                <StatusChip status={status} />
              )}
              <span className="min-w-0 truncate">
                <ToStory id={id} />
                {title !== undefined && (
                  <span className="text-soft">
                    {' '}
                    <Plain text={title} />
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {neededBy.length > 0 && (
        <p className="flex flex-wrap gap-x-2 text-soft">
          Needed by
          {neededBy.map((id) => (
            <ToStory key={id} id={id} />
          ))}
        </p>
      )}
    </Section>
  )
}

function ToStory({ id }: { id: string }) {
  const view = useView()
  return (
    <Link
      to="."
      search={{ ...view, story: id }}
      className="font-mono text-code underline decoration-line underline-offset-3 hover:decoration-current"
    >
      <Plain text={id} />
    </Link>
  )
}
