import { useMutation } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { ErrorNote, Note } from '../shared/States.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Sideways } from '../shared/Sideways.tsx'
import { toast } from '../shared/toast.ts'
import { conflictWords } from './text.ts'
import type { Conflict } from './work.ts'
import { useWork } from './work-context.ts'

/** The file and a tool said different things: both are shown, and one of them is chosen (W5). */
export function ConflictNote({ conflict }: { conflict: Conflict }) {
  const { project, mayChange } = useWork()
  const { title, says, sides } = conflictWords(conflict)
  const settle = useMutation({
    mutationFn: (take: 'ours' | 'theirs') =>
      call('worksync_resolve', { project, conflict_id: conflict.id, take }),
    onSuccess: () => toast('The conflict is settled.'),
  })
  return (
    <section aria-label="Conflict">
      <Note tone="suggest" icon="warn">
        <div className="grid gap-2.5">
          <p>
            <Plain as="b" text={title} />{' '}
            <Plain as="span" className="break-words text-soft" text={says} />
          </p>
          <ul className="grid gap-2.5">
            {sides.map(({ take, label, says: value }) => (
              <li key={take} className="grid gap-1.5">
                {value !== undefined && (
                  <Sideways
                    as="pre"
                    label={take === 'ours' ? 'What stands' : 'What the file said'}
                    className="max-h-40 rounded border border-line bg-panel px-2.5 py-1.5 font-mono text-code whitespace-pre-wrap [overflow-wrap:anywhere]"
                  >
                    <Plain text={value} lines />
                  </Sideways>
                )}
                {mayChange && (
                  <Button
                    size="sm"
                    className="justify-self-start"
                    disabled={settle.isPending}
                    onClick={() => settle.mutate(take)}
                  >
                    {label}
                  </Button>
                )}
              </li>
            ))}
          </ul>
          <ErrorNote error={settle.error} />
        </div>
      </Note>
    </section>
  )
}
