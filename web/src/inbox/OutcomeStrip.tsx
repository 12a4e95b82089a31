import { Link } from '@tanstack/react-router'
import type { Item, Outcome } from './approval.ts'
import { useQueue } from './queue.ts'
import { formatDecision, formatOutcome, formatSince } from './text.ts'
import { IconButton } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { useSecond } from '../shared/use-now.ts'
import type { Report } from './use-actions.ts'
import { usePersonName } from './use-person-name.ts'

type Props = { report: Report; onClose: () => void }

/** The results of a bulk decision: a summary and each outcome (B2). */
export function ResultSummary({ report: { items, outcomes, verdict }, onClose }: Props) {
  const known = useQueue().items
  const isUndone = ({ id, status }: Outcome) => {
    const item = known.get(id)
    return status === 'held' && item?.status === 'pending' && !item.held
  }
  if (outcomes.every(isUndone)) return null
  const failed = outcomes.filter(({ error }) => error)
  const done = outcomes.length - failed.length
  const word = verdict === 'approve' ? 'approved' : 'rejected'
  return (
    <section
      aria-label="Results"
      className="flex items-start gap-1 border-b border-line bg-panel py-1.5 pr-2 pl-4"
    >
      <details open={failed.length > 0} className="group/out min-w-0 flex-1">
        <summary className="flex list-none items-center gap-2 leading-6 [&::-webkit-details-marker]:hidden">
          <Icon
            name={failed.length > 0 ? 'warn' : 'check'}
            className={failed.length > 0 ? 'text-escalate' : 'text-act'}
          />
          <span role="status" className="min-w-0 flex-1">
            {done} {word}
            {failed.length > 0 && `, ${failed.length} failed`}
          </span>
          <span className="flex items-center gap-1 text-xs text-soft">
            Details
            <Icon name="right" size={12} className="group-open/out:rotate-90" />
          </span>
        </summary>
        <ol className="scroll-thin max-h-44 overflow-y-auto pt-0.5 pb-1 text-xs">
          {[...failed, ...outcomes.filter(({ error }) => !error)].slice(0, 200).map((outcome) => (
            <Line
              key={outcome.id}
              outcome={outcome}
              item={items.find(({ id }) => id === outcome.id)}
            />
          ))}
        </ol>
      </details>
      <IconButton icon="cross" label="Dismiss" small onClick={onClose} />
    </section>
  )
}

function Line({ outcome, item }: { outcome: Outcome; item: Item | undefined }) {
  const now = useQueue().items.get(outcome.id)
  return (
    <li className="flex gap-3 py-0.5">
      <Link
        to="/inbox/$id"
        params={{ id: outcome.id }}
        search={true}
        className="min-w-0 flex-1 truncate hover:underline"
      >
        <SafeText text={item?.summary ?? outcome.id} />
      </Link>
      <span className={`shrink-0 ${outcome.error ? 'text-escalate' : 'text-soft'}`}>
        {outcome.error && now?.decided_at !== undefined ? (
          <LateOutcome item={now} at={now.decided_at} />
        ) : outcome.status === 'held' && now?.status !== 'pending' ? (
          'Done.'
        ) : (
          formatOutcome(outcome)
        )}
      </span>
    </li>
  )
}

function LateOutcome({ item, at }: { item: Item; at: string }) {
  const who = usePersonName(item.decided_by)
  const now = useSecond()
  return formatDecision(item, who(item.decided_by), formatSince(Date.parse(at), now))
}
