import { useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Note, ErrorNote } from '../shared/States.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { formatAgo, fullTime } from '../shared/time.ts'
import { useNow, useSecond } from '../shared/use-now.ts'
import { formatLease, describeConflict } from './text.ts'
import type { Lease, Story, Conflict } from './work.ts'
import { ConfirmDialog } from '../shared/Dialog.tsx'
import { useWork } from './work-context.ts'
import { HorizontalScroll } from '../shared/HorizontalScroll.tsx'
import { toast } from '../shared/toast.ts'

export function ClaimNote({ story, lease }: { story: Story; lease: Lease }) {
  const { project, mayChange } = useWork()
  const now = useNow()
  const [isConfirming, setConfirming] = useState(false)
  return (
    <Note tone="plain" icon="agent">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <p className="min-w-0 flex-1">
          <SafeText as="b" text={lease.agent} /> claimed this story{' '}
          <span className="text-soft">
            {formatAgo(Date.parse(lease.since), now)}
            {', '}
            <time dateTime={lease.until} title={fullTime(Date.parse(lease.until))}>
              {formatLease(lease.until, useSecond())}
            </time>
          </span>
        </p>
        {mayChange && (
          <Button size="sm" onClick={() => setConfirming(true)}>
            Release
          </Button>
        )}
      </div>
      {isConfirming && (
        <ConfirmDialog
          title={`Release ${sanitizeText(story.id)}?`}
          action="Release"
          act={() => call('worksync_release', { project, story_id: story.id })}
          done={`Released ${sanitizeText(story.id)}.`}
          onClose={() => setConfirming(false)}
        >
          <p>
            <SafeText text={lease.agent} /> may still work on the story. Its changes are refused
            once another agent claims the story.
          </p>
        </ConfirmDialog>
      )}
    </Note>
  )
}

/** Shows both values of a conflict between the file and a tool, and the choices (W5). */
export function ConflictNote({ conflict }: { conflict: Conflict }) {
  const { project, mayChange } = useWork()
  const { title, says, sides } = describeConflict(conflict)
  const resolve = useMutation({
    mutationFn: (take: 'ours' | 'theirs') =>
      call('worksync_resolve', { project, conflict_id: conflict.id, take }),
    onSuccess: () => toast('Resolved the conflict.'),
  })
  return (
    <section aria-label="Conflict">
      <Note tone="suggest" icon="warn">
        <div className="grid gap-2.5">
          <p>
            <SafeText as="b" text={title} />{' '}
            <SafeText as="span" className="break-words text-soft" text={says} />
          </p>
          <ul className="grid gap-2.5">
            {sides.map(({ take, label, says: value }) => (
              <li key={take} className="grid gap-1.5">
                {value !== undefined && (
                  <HorizontalScroll
                    as="pre"
                    label={take === 'ours' ? 'Current' : 'File version'}
                    className="max-h-40 rounded border border-line bg-panel px-2.5 py-1.5 font-mono text-code whitespace-pre-wrap [overflow-wrap:anywhere]"
                  >
                    <SafeText text={value} lines />
                  </HorizontalScroll>
                )}
                {mayChange && (
                  <Button
                    size="sm"
                    className="justify-self-start"
                    disabled={resolve.isPending}
                    onClick={() => resolve.mutate(take)}
                  >
                    {label}
                  </Button>
                )}
              </li>
            ))}
          </ul>
          <ErrorNote error={resolve.error} />
        </div>
      </Note>
    </section>
  )
}
