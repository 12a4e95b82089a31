import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { TrustStanding } from './trust-rows.ts'
import { call } from '../api/client.ts'
import { Button, buttonClass } from '../shared/Button.tsx'
import { HaltDialog } from '../shell/Halt.tsx'
import { Icon } from '../shared/Icon.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { agentsQuery } from './agent-queries.ts'
import { useIsOwner, useCanAct } from '../settings/person.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { RotateAgent } from '../settings/AgentToken.tsx'
import { SetTrust } from './TrustDialogs.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Note } from '../shared/States.tsx'
import { statusQuery } from '../api/queries.ts'
import type { Halt } from '../api/queries.ts'
import { formatAgo } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'

export function AgentActions({
  agent,
  standing,
}: {
  agent: string
  standing: TrustStanding | undefined
}) {
  const [dialog, setDialog] = useState<'trust' | 'pause' | 'rotate'>()
  const isOwner = useIsOwner()
  const registered = useQuery(agentsQuery).data?.find(({ id }) => id === agent)
  const halt = useHalt(agent)
  const close = () => setDialog(undefined)
  const canAct = useCanAct()
  const canRotate = isOwner && registered?.source === 'store' && registered.status === 'active'
  const resume = useMutation({
    mutationFn: () => call('cowork_resume', { scope: `agent:${agent}` }),
    onSuccess: () => toast(`Resumed ${sanitizeText(agent)}.`),
    onError: toastProblem,
  })
  return (
    <footer className="sticky bottom-0 mt-auto flex flex-wrap items-center gap-2 border-t border-line bg-bg/90 px-7 py-3 backdrop-blur-sm max-md:static max-md:grid max-md:grid-cols-2 max-md:px-4">
      {canAct && standing && (
        <Button tone="primary" onClick={() => setDialog('trust')}>
          Set trust
        </Button>
      )}
      {canAct &&
        (halt ? (
          <Button icon="resume" disabled={resume.isPending} onClick={() => resume.mutate()}>
            Resume
          </Button>
        ) : (
          <Button icon="halt" onClick={() => setDialog('pause')}>
            Halt agent
          </Button>
        ))}
      {canRotate && (
        <Button icon="key" onClick={() => setDialog('rotate')}>
          Rotate token
        </Button>
      )}
      <Link
        to="/audit"
        search={{ actor: agent, ...(standing && { domain: standing.domain }) }}
        className={buttonClass('quiet')}
      >
        <Icon name="audit" />
        Activity
      </Link>
      {dialog === 'trust' && standing && <SetTrust standing={standing} onClose={close} />}
      {dialog === 'pause' && <HaltDialog agent={agent} onClose={close} />}
      {dialog === 'rotate' && <RotateAgent id={agent} onClose={close} />}
    </footer>
  )
}

const useHalt = (agent: string): Halt | undefined =>
  useQuery(statusQuery).data?.halts.find(({ scope }) => scope === `agent:${agent}`)

export function HaltedNote({ agent }: { agent: string }) {
  const halt = useHalt(agent)
  const now = useNow()
  if (!halt) return null
  return (
    <Note tone="escalate" icon="halt">
      <b>Halted</b>
      {halt.reason && (
        <>
          : <SafeText text={halt.reason} />
        </>
      )}{' '}
      <span className="text-soft">
        by <SafeText text={halt.by} />, {formatAgo(Date.parse(halt.at), now)}. Calls are refused.
      </span>
    </Note>
  )
}
