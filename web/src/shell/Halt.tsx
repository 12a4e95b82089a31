import { useMutation, useQuery } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { sanitizeText } from '../shared/sanitize.ts'
import { statusQuery } from '../api/queries.ts'
import type { Halt } from '../api/queries.ts'
import { formatAgo } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { Button } from '../shared/Button.tsx'
import { TextField, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/Dialog.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'

export function HaltDialog({ agent, onClose }: { agent?: string; onClose: () => void }) {
  const reason = useField()
  const name = agent === undefined ? undefined : sanitizeText(agent)
  const scope = agent === undefined ? 'all' : `agent:${agent}`
  const action = name === undefined ? 'Halt all agents' : `Halt ${name}`
  return (
    <FormDialog
      title={`${action}?`}
      action={action}
      tone="danger"
      icon="halt"
      act={() => call('cowork_halt', { scope, reason: reason.value.trim() })}
      done={name === undefined ? 'Halted all agents.' : `Halted ${name}.`}
      onClose={onClose}
    >
      <p className="text-soft">
        New calls of {name === undefined ? 'all agents' : 'this agent'} are refused until someone
        resumes. Running calls finish.
      </p>
      <TextField
        label="Reason"
        hint="Optional. Visible to people and agents."
        maxLength={500}
        data-autofocus
        {...reason}
      />
    </FormDialog>
  )
}

export function HaltBanner({ mayResume }: { mayResume: boolean }) {
  const halts = useQuery(statusQuery).data?.halts ?? []
  if (halts.length === 0) return null
  return (
    <section
      aria-label="Halted"
      className="row-start-1 border-b border-line bg-escalate-bg md:col-start-2"
    >
      {halts.map((halt) => (
        <HaltRow key={halt.scope} halt={halt} mayResume={mayResume} />
      ))}
    </section>
  )
}

function HaltRow({ halt, mayResume }: { halt: Halt; mayResume: boolean }) {
  const now = useNow()
  const resume = useMutation({
    mutationFn: () => call('cowork_resume', { scope: halt.scope }),
    onSuccess: () => toast(halt.scope === 'all' ? 'Resumed all agents.' : `Resumed ${halt.scope}.`),
    onError: toastProblem,
  })
  return (
    <div role="alert" className="flex items-center gap-2.5 px-5 py-2 max-md:px-4">
      <Icon name="halt" className="text-escalate" />
      <p className="min-w-0 flex-1">
        <b>{formatHalt(halt.scope)}</b>
        {halt.reason && (
          <>
            : <SafeText text={halt.reason} />
          </>
        )}{' '}
        <span className="text-soft">
          by <SafeText text={halt.by} />, {formatAgo(Date.parse(halt.at), now)}
        </span>
      </p>
      {mayResume && (
        <Button size="sm" icon="resume" disabled={resume.isPending} onClick={() => resume.mutate()}>
          Resume
        </Button>
      )}
    </div>
  )
}

function formatHalt(scope: string) {
  if (scope === 'all') return 'All agents halted'
  const [kind, ...name] = scope.split(':')
  return (
    <>
      {kind === 'agent' ? 'Agent' : kind === 'domain' ? 'Domain' : 'Server'}{' '}
      <SafeText text={name.join(':')} /> halted
    </>
  )
}
