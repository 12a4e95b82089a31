import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { describeSelection } from '#base/selection-fields.ts'
import { call } from '../api/client.ts'
import { Button, IconButton } from '../shared/Button.tsx'
import { Chip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Menu } from '../shared/Menu.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { EmptyState, Hint, QueryContent } from '../shared/States.tsx'
import { agentsQuery } from '../agents/agent-queries.ts'
import type { Agent } from '../agents/agent-queries.ts'
import { formatAgo, formatTimeLeft } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { AddAgent, RotateAgent } from './AgentToken.tsx'
import { ConfirmDialog } from '../shared/Dialog.tsx'
import { useIsOwner } from './person.ts'
import { Item, List, SettingsSection } from './SettingsSection.tsx'

export function Agents() {
  const agents = useQuery(agentsQuery)
  const isOwner = useIsOwner()
  const [isAdding, setAdding] = useState(false)
  const add = isOwner && (
    <Button tone="primary" icon="plus" onClick={() => setAdding(true)}>
      Add agent
    </Button>
  )
  return (
    <SettingsSection
      title="Agents"
      lead={
        <Hint text="MCP clients, one agent each. In a terminal: `cowork connect claude-code`." />
      }
      action={(agents.data?.length ?? 0) > 0 && add}
    >
      <QueryContent query={agents} what="agents" rows={3}>
        {(all) =>
          all.length > 0 ? (
            <List label="Agents">
              {all
                .toSorted((a, b) => a.status.localeCompare(b.status) || a.id.localeCompare(b.id))
                .map((agent) => (
                  <AgentItem key={agent.id} agent={agent} canChange={isOwner} />
                ))}
            </List>
          ) : (
            <EmptyState icon="agent" title="Authentication off">
              <p>
                Any local program can connect without a token. Adding the first agent turns on
                authentication.
              </p>
              {add}
            </EmptyState>
          )
        }
      </QueryContent>
      {isAdding && <AddAgent onClose={() => setAdding(false)} />}
    </SettingsSection>
  )
}

const sources = {
  config: 'from cowork.yaml',
  environment: 'from the environment',
  store: undefined,
}

function AgentItem({ agent, canChange }: { agent: Agent; canChange: boolean }) {
  const now = useNow()
  const [dialog, setDialog] = useState<'rotate' | 'revoke'>()
  const close = () => setDialog(undefined)
  const { id, status, last_seen_at: seen } = agent
  const isActive = status === 'active'
  const ending = agent.credentials.find(({ expires_at: at }) => at !== undefined)?.expires_at
  const isEnding = ending !== undefined && Date.parse(ending) > now
  return (
    <Item
      icon={<Icon name="agent" />}
      title={
        <>
          <Link
            to="/audit"
            search={{ actor: id }}
            title={`Activity of ${id}`}
            className={`underline decoration-line underline-offset-3 hover:decoration-current ${isActive ? '' : 'text-soft'}`}
          >
            <SafeText text={id} />
          </Link>
          {!isActive && <Chip tone="plain">Revoked</Chip>}
          {isActive && isEnding && (
            <Chip tone="suggest" icon="info">
              Old token expires in {formatTimeLeft(Date.parse(ending), now)}
            </Chip>
          )}
        </>
      }
      detail={
        <>
          <span title="Format: effect:toolset">{formatScopes(agent)}</span>
          <span>Tools: {describeSelection(agent)}</span>
          <span>{seen ? `seen ${formatAgo(Date.parse(seen), now)}` : 'not seen since start'}</span>
          {sources[agent.source] && <span>{sources[agent.source]}</span>}
        </>
      }
    >
      {canChange && isActive && agent.source === 'store' && (
        <Menu
          trigger={<IconButton icon="more" label={`Actions for ${id}`} />}
          items={[
            { label: 'Rotate token', icon: 'key', act: () => setDialog('rotate') },
            { label: 'Revoke agent', icon: 'cross', danger: true, act: () => setDialog('revoke') },
          ]}
        />
      )}
      {dialog === 'rotate' && <RotateAgent id={id} onClose={close} />}
      {dialog === 'revoke' && (
        <ConfirmDialog
          title={`Revoke ${id}?`}
          action="Revoke agent"
          act={() => call('cowork_revoke_agent', { id })}
          done={`Revoked ${id}.`}
          onClose={close}
        >
          <p>Tokens and sessions end immediately. Ledger entries are kept.</p>
        </ConfirmDialog>
      )}
    </Item>
  )
}

const formatScopes = ({ scopes }: Agent) =>
  scopes.includes('*') ? 'All scopes' : `Scopes: ${scopes.join(', ')}`
