import { Link } from '@tanstack/react-router'
import { formatClient } from '../../shared/client-name.ts'
import type { Detail, PastDecision } from '../approval.ts'
import {
  formatHandoffMode,
  formatPercent,
  formatAge,
  formatPastDecision,
  formatSigned,
} from '../text.ts'
import { Ago } from '../../shared/Ago.tsx'
import { Chip } from '../../shared/Chips.tsx'
import { CopyIcon } from '../../shared/Copy.tsx'
import { Code, Fact, FactList, Section } from '../../shared/Section.tsx'
import { textLink } from '../../shared/Button.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { fullTime, formatTimeLeft } from '../../shared/time.ts'
import { useNow } from '../../shared/use-now.ts'
import { usePersonName } from '../use-person-name.ts'

export function ItemFacts({ detail }: { detail: Detail }) {
  const { approvers, client } = detail
  const who = usePersonName(...approvers.given)
  return (
    <FactList>
      <Fact name="Agent">
        <span>
          <SafeText text={detail.requester} />
          {client && (
            <span className="text-soft" title="Reported by the client">
              , <SafeText text={formatClient(client)} />
            </span>
          )}
        </span>
      </Fact>
      <Fact name="Domain">
        <Code text={detail.domain} />
      </Fact>
      {detail.kind === 'call' && (
        <Fact name="Tool">
          <Code text={detail.action} />
        </Fact>
      )}
      {detail.handoff && (
        <Fact name="Handoff">
          <span>{formatHandoffMode(detail.handoff.handoff_mode)}</span>
          {detail.handoff.overdue && (
            <Chip tone="escalate" icon="clock">
              Overdue
            </Chip>
          )}
        </Fact>
      )}
      {!detail.handoff && detail.target !== detail.domain && (
        <Fact name="Target">
          <Code text={detail.target} />
        </Fact>
      )}
      {detail.confidence !== null && (
        <Fact name="Confidence">
          <span>
            {formatPercent(detail.confidence)}
            <span className="text-soft">, the agent says</span>
          </span>
        </Fact>
      )}
      {approvers.needed > 1 && (
        <Fact name="Approvals">
          <span>
            {approvers.given.length} of {approvers.needed}
            {approvers.given.length > 0 && (
              <span className="text-soft">
                {' '}
                by <SafeText text={approvers.given.map(who).join(', ')} />
              </span>
            )}
          </span>
        </Fact>
      )}
    </FactList>
  )
}

/** The facts that bind the decision: request time, expiry and digest (A1). */
export function DecisionRecord({ detail }: { detail: Detail }) {
  const now = useNow()
  const { id, kind, status, digest, action, expires_at: expires } = detail
  const filters = kind === 'proposal' ? { proposal: id } : { actor: detail.requester }
  return (
    <Section title="Record">
      <FactList>
        {(kind === 'proposal' || kind === 'spot_check') && (
          <Fact name="Action">
            <Code text={action} />
          </Fact>
        )}
        <Fact name="Requested">
          <Ago at={detail.created_at} />
          {status === 'pending' && expires !== null && (
            <span className="text-soft" title={fullTime(Date.parse(expires))}>
              expires in {formatTimeLeft(Date.parse(expires), now)}
            </span>
          )}
        </Fact>
        <Fact name="Digest">
          <span className="flex items-center gap-1">
            <code title={digest} className="font-mono text-xs">
              {digest.slice(0, 12)}…
            </code>
            <CopyIcon text={digest} what="digest" />
          </span>
        </Fact>
        <Fact name="Ledger">
          <Link to="/audit" search={filters} className={textLink}>
            {kind === 'proposal' ? 'All entries' : 'Activity of this agent'}
          </Link>
        </Fact>
      </FactList>
    </Section>
  )
}

/** The last decisions on the same target. */
export const History = ({ detail: { history, target } }: { detail: Detail }) =>
  history.length === 0 ? null : (
    <Section
      title={
        <>
          Previous decisions on <SafeText text={target} />
        </>
      }
    >
      <ol className="grid gap-1.5">
        {history.map((past) => (
          <PastLine key={`${past.id} ${past.at}`} past={past} />
        ))}
      </ol>
    </Section>
  )

function PastLine({ past }: { past: PastDecision }) {
  const who = usePersonName(past.decided_by ?? undefined)
  const decision = formatPastDecision(past, capitalize(who(past.decided_by ?? undefined)))
  const change = past.trust_change
  return (
    <li className="flex gap-2.5 text-soft">
      <Ago at={past.at} format={formatAge} className="w-18 shrink-0 text-faint" />
      <p className="min-w-0 break-words">
        <SafeText text={decision} />:{' '}
        <Link to="/inbox/$id" params={{ id: past.id }} search={true} className={textLink}>
          <SafeText text={past.summary} />
        </Link>
        {past.reason && (
          <>
            , <SafeText text={past.reason} />
          </>
        )}
        {change !== null && change !== 0 && <span> ({formatSigned(change)})</span>}
      </p>
    </li>
  )
}

const capitalize = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)
