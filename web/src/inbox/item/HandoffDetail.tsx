import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Detail, Handoff, HandoffTurn } from '../approval.ts'
import { toLines } from '../change.ts'
import { formatAge, formatEndState } from '../text.ts'
import { Ago } from '../../shared/Ago.tsx'
import { Chip, ModeChip } from '../../shared/Chips.tsx'
import { CopyButton } from '../../shared/Copy.tsx'
import { textLink } from '../../shared/Button.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { Section } from '../../shared/Section.tsx'
import { approvalQuery, useRefreshItem } from '../approval-queries.ts'
import { DiffLines } from './DiffLines.tsx'
import { Reasoning } from './ApprovalReason.tsx'

type Props = { detail: Detail; handoff: Handoff }

/** The packet of a handoff (H1, H5, H6). */
export function HandoffDetail({ detail: { id, requester, summary }, handoff }: Props) {
  const { thread, reason } = handoff
  const hasThread = thread.length > 1 || thread.some(({ resolution }) => resolution !== undefined)
  return (
    <>
      {hasThread ? (
        <Thread id={id} thread={thread} requester={requester} />
      ) : (
        // The heading already shows a reason of one line.
        reason !== summary && <Reasoning text={reason} title="Reason" />
      )}
      <Attempts attempts={handoff.attempted_actions} />
      <Context context={handoff.context} />
      {handoff.proposal_id !== null && <NamedProposal id={handoff.proposal_id} />}
      <Recent recent={handoff.packet.recent} />
    </>
  )
}

const Attempts = ({ attempts }: { attempts: readonly unknown[] }) => (
  <Section title="Attempts" says={attempts.length > 0 ? 'the agent says' : undefined}>
    {attempts.length === 0 ? (
      <p className="text-soft">No attempts</p>
    ) : (
      <ol className="grid gap-1.5">
        {attempts.map((attempt, at) => (
          // Attempts have no id.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={at} className="grid grid-cols-[20px_minmax(0,1fr)]">
            <span className="text-faint">{at + 1}</span>
            {typeof attempt === 'string' ? (
              <SafeText
                as="span"
                className="break-words whitespace-pre-wrap"
                text={attempt}
                lines
              />
            ) : (
              <DiffLines label={`Attempt ${at + 1}`} lines={toLines(attempt)} />
            )}
          </li>
        ))}
      </ol>
    )}
  </Section>
)

function Context({ context }: { context: unknown }) {
  const lines = toLines(context)
  if (context === null || lines.length === 0) return null
  return (
    <Section
      title="Context"
      says="the agent says"
      aside={<CopyButton text={JSON.stringify(context, null, 2)} what="JSON" />}
    >
      <DiffLines label="Context" lines={lines} />
    </Section>
  )
}

function NamedProposal({ id }: { id: string }) {
  const { data } = useQuery(approvalQuery(id))
  useRefreshItem(id, data)
  if (!data) return null
  return (
    <Section title="Related proposal">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <Link
          to="/inbox/$id"
          params={{ id }}
          search={true}
          className="min-w-0 break-words underline decoration-line underline-offset-3 hover:decoration-current"
        >
          <SafeText text={data.summary} />
        </Link>
        {data.status === 'pending' ? (
          <ModeChip mode={data.mode} trust={data.trust_level} />
        ) : (
          <Chip tone="plain">{formatEndState(data)}</Chip>
        )}
      </p>
    </Section>
  )
}

function Recent({ recent }: { recent: Handoff['packet']['recent'] }) {
  if (recent.length === 0) return null
  return (
    <Section title="Recent activity">
      <ol className="border-t border-line text-xs">
        {recent.toReversed().map(({ seq, at, type, action, subject, outcome }) => (
          <li key={seq} className="border-b border-line">
            <Link
              to="/audit/$seq"
              params={{ seq: String(seq) }}
              className="flex items-baseline gap-2.5 py-1 hover:bg-raised"
            >
              <Ago at={at} format={formatAge} className="w-16 shrink-0 text-faint" />
              <span className="min-w-0 flex-1 truncate">
                {type.replace('.', ' ').replaceAll('_', ' ')}
                {action !== undefined && (
                  <b>
                    {' '}
                    <SafeText text={action} />
                  </b>
                )}
                {subject !== undefined && (
                  <span className="text-soft">
                    {' '}
                    <SafeText text={subject} />
                  </span>
                )}
              </span>
              {outcome !== undefined && (
                <SafeText
                  as="span"
                  className="shrink-0 text-soft"
                  text={outcome.replaceAll('_', ' ')}
                />
              )}
            </Link>
          </li>
        ))}
      </ol>
    </Section>
  )
}

type ThreadProps = { id: string; thread: readonly HandoffTurn[]; requester: string }

const Thread = ({ id, thread, requester }: ThreadProps) => (
  <Section title="Thread">
    <ol className="grid gap-3">
      {thread.map((turn) => (
        <TurnLines
          key={turn.handoff_id}
          turn={turn}
          isOpen={turn.handoff_id === id}
          requester={requester}
        />
      ))}
    </ol>
  </Section>
)

type TurnProps = { turn: HandoffTurn; isOpen: boolean; requester: string }

function TurnLines({ turn, isOpen, requester }: TurnProps) {
  return (
    <li
      aria-current={isOpen || undefined}
      className={`grid gap-1.5 border-l-2 pl-3 ${isOpen ? 'border-accent' : 'border-line'}`}
    >
      <div>
        <p className="flex gap-2 text-xs text-faint">
          <SafeText as="b" className="text-soft" text={requester} />
          <Ago at={turn.at} format={formatAge} />
          {!isOpen && (
            <Link
              to="/inbox/$id"
              params={{ id: turn.handoff_id }}
              search={true}
              className={textLink}
            >
              Open
            </Link>
          )}
        </p>
        <SafeText as="p" className="break-words whitespace-pre-wrap" text={turn.reason} lines />
      </div>
      {turn.resolution !== undefined && (
        <div>
          <p className="text-xs text-faint">
            {turn.hand_back ? 'Resolved and handed back' : 'Resolved'}
          </p>
          <SafeText
            as="p"
            className="break-words whitespace-pre-wrap"
            text={turn.resolution}
            lines
          />
          {turn.instructions !== undefined && (
            <p className="break-words whitespace-pre-wrap text-soft">
              Instructions: <SafeText text={turn.instructions} lines />
            </p>
          )}
        </div>
      )}
    </li>
  )
}
