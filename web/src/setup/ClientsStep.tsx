import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../shared/Button.tsx'
import { CopyBox } from '../shared/Copy.tsx'
import { SelectField } from '../shared/Field.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Hint } from '../shared/States.tsx'
import { agentsQuery } from '../agents/agent-queries.ts'
import { meQuery } from '../api/queries.ts'
import { clients } from '../shared/snippet.ts'
import { formatAgo } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { commandLine } from './command.ts'
import { AddAgent } from '../settings/AgentToken.tsx'
import { Step } from './Step.tsx'
import type { StepProps } from './SetupPage.tsx'

/** Connects clients with a terminal command, because a web page cannot write their configuration. */
export function ClientsStep({ onNext }: StepProps) {
  const [client, setClient] = useState<string>(clients[0].id)
  const [isAdding, setAdding] = useState(false)
  const { data: me } = useQuery(meQuery)
  const agents = (useQuery(agentsQuery).data ?? []).filter(({ status }) => status === 'active')
  return (
    <Step
      title="Connect your MCP clients"
      lead="Run this command in a terminal. It previews and backs up the configuration, then tests the connection."
      actions={
        <>
          <Button tone="primary" onClick={onNext}>
            Continue
          </Button>
          <Button onClick={() => setAdding(true)}>Connect manually…</Button>
        </>
      }
    >
      <SelectField
        label="Client"
        value={client}
        onChange={(event) => setClient(event.target.value)}
        choices={clients.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <CopyBox text={commandLine(me?.command, 'connect', client)} what="command" />
      {agents.length > 0 ? (
        <Agents agents={agents} />
      ) : (
        <Hint
          as="p"
          className="text-soft"
          text="No clients connected. New clients appear here automatically."
        />
      )}
      {isAdding && <AddAgent onClose={() => setAdding(false)} />}
    </Step>
  )
}

function Agents({ agents }: { agents: readonly { id: string; last_seen_at?: string }[] }) {
  const now = useNow()
  return (
    <ul aria-label="Agents" className="border-t border-line">
      {agents.map(({ id, last_seen_at: at }) => (
        <li key={id} className="flex items-center gap-2.5 border-b border-line py-2">
          <Icon
            name={at === undefined ? 'clock' : 'check'}
            className={at === undefined ? 'text-faint' : 'text-act'}
          />
          <SafeText as="span" className="min-w-0 font-[550] break-all" text={id} />
          <span className="text-xs text-soft">
            {at === undefined
              ? 'added, not seen since start'
              : `seen ${formatAgo(Date.parse(at), now)}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
