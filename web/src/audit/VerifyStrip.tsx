import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button, IconButton } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import type { IconName } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Hint } from '../shared/States.tsx'
import { formatDuration } from '../shared/time.ts'
import { formatError } from '../shared/toast.ts'
import type { EntryProblem, Verification, Verify } from './use-verify.ts'

const formatCount = (n: number) => n.toLocaleString()
const formatEntryCount = (n: number) => `${formatCount(n)} ${n === 1 ? 'entry' : 'entries'}`

export function VerifyStrip({ verify: { state, start, stop } }: { verify: Verify }) {
  if (state.status === 'idle') return null
  if (state.status === 'running')
    return (
      <Strip tone="bg-raised" icon="decision" onClose={stop} closeLabel="Cancel verification">
        <p>
          Verifying hashes and signatures… {formatCount(state.entries)}
          {state.total > 0 && ` of ${formatEntryCount(state.total)}`}
        </p>
        <progress
          aria-label="Verification progress"
          className="mt-1.5 block h-1 w-full max-w-90 appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
          value={state.entries}
          max={Math.max(state.total, 1)}
        />
      </Strip>
    )
  if (state.status === 'failed')
    return (
      <Strip tone="bg-suggest-bg" ink="text-suggest" icon="warn" onClose={stop}>
        <p>
          <b>Verification did not finish.</b> <Hint text={formatError(state.error)} />
        </p>
        <Button size="sm" onClick={start} className="mt-2">
          Try again
        </Button>
      </Strip>
    )
  return <Outcome result={state.result} onClose={stop} />
}

function Outcome({ result, onClose }: { result: Verification; onClose: () => void }) {
  const time = formatDuration(Math.round(result.seconds * 1000))
  const bad = result.first_bad
  if (bad)
    return (
      <Strip tone="bg-escalate-bg" ink="text-escalate" icon="warn" onClose={onClose}>
        <p>
          <b>
            {result.acceptable
              ? 'Entries without a proof.'
              : 'Verification failed: the ledger was modified.'}
          </b>{' '}
          First invalid entry: <EntryLink seq={bad.seq} />, <SafeText text={bad.why} />.{' '}
          {formatEntryCount(result.entries)} checked in {time}.
        </p>
        <Problems faults={result.problems.slice(1)} more="Other invalid entries" />
        <Hint
          as="p"
          className="text-soft"
          text="Copy the state directory and compare it with a backup. To verify without the console, run `cowork audit verify`."
        />
      </Strip>
    )
  const [finding] = result.findings
  if (finding)
    return (
      <Strip tone="bg-suggest-bg" ink="text-suggest" icon="warn" onClose={onClose}>
        <p>
          <b>The ledger is unmodified but records actions that were not allowed.</b>{' '}
          {formatEntryCount(result.entries)} verified. Entry <EntryLink seq={finding.seq} />:{' '}
          <SafeText text={finding.why} />.
        </p>
        <Problems faults={result.findings.slice(1)} more="More findings" />
      </Strip>
    )
  return (
    <Strip tone="bg-act-bg" ink="text-act" icon="check" onClose={onClose}>
      <p>
        <b>{formatEntryCount(result.entries)} verified.</b> {formatCount(result.checkpoints)} signed{' '}
        {result.checkpoints === 1 ? 'checkpoint' : 'checkpoints'}, {time}.
        {result.unsigned &&
          ` Signed up to entry ${formatCount(result.signed)}; newer entries are intact but not signed yet.`}
      </p>
      <Problems
        faults={result.accepted.map(({ seq, from, to, reason }) => ({
          seq,
          why: `accepts entries ${from}–${to} without a proof: ${reason}`,
        }))}
        more="Accepted"
      />
    </Strip>
  )
}

const Problems = ({ faults, more }: { faults: readonly EntryProblem[]; more: string }) =>
  faults.length > 0 && (
    <details className="my-1">
      <summary className="text-soft">
        {more}: {faults.length}
      </summary>
      <ul>
        {faults.map(({ seq, why }) => (
          <li key={`${seq} ${why}`}>
            <EntryLink seq={seq} /> <SafeText text={why} />
          </li>
        ))}
      </ul>
    </details>
  )

const EntryLink = ({ seq }: { seq: number }) => (
  <Link
    to="/audit/$seq"
    params={{ seq: String(seq) }}
    search={true}
    className="text-accent underline"
  >
    {seq}
  </Link>
)

type StripProps = {
  tone: string
  ink?: string
  icon: IconName
  onClose: () => void
  closeLabel?: string
  children: ReactNode
}

const Strip = ({
  tone,
  ink = 'text-soft',
  icon,
  onClose,
  closeLabel = 'Dismiss',
  children,
}: StripProps) => (
  <div
    role="status"
    className={`settle flex gap-2.5 border-b border-line py-1.5 pr-2 pl-4 ${tone}`}
  >
    <Icon name={icon} className={`mt-2 ${ink}`} />
    <div className="min-w-0 flex-1 self-center py-1">{children}</div>
    <IconButton icon="cross" label={closeLabel} onClick={onClose} />
  </div>
)
