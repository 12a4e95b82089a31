import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { countChanges } from './diff.ts'
import { replay } from './review.ts'
import type { DraftReview } from './review.ts'
import { DiffView } from '../shared/DiffView.tsx'
import { ErrorNote, Note } from '../shared/States.tsx'
import { RadioGroup } from '../shared/Field.tsx'
import { Section } from '../shared/Section.tsx'
import { TryProposal, OutcomeChip } from './TryProposal.tsx'
import type { ReplayResult } from './policy.ts'
import { Icon } from '../shared/Icon.tsx'
import { textLink } from '../shared/Button.tsx'
import { SafeText } from '../shared/SafeText.tsx'

type Props = {
  text: string
  review: DraftReview | undefined
  /** The text is valid YAML. */
  isFit: boolean
}

/** The effect of a draft: diff, replay of the history, and simulation of one proposal. */
export const DraftPreview = ({ text, review, isFit }: Props) => (
  <section
    aria-label="Draft preview"
    className="scroll-thin grid min-h-0 min-w-0 content-start gap-6 px-7 pt-5 pb-10 max-md:px-4 lg:overflow-y-auto"
  >
    {review ? (
      <Reviewed key={review.text} review={review} isOld={review.text !== text} />
    ) : (
      <Note tone="plain" icon="info">
        Simulate replays recent proposals and calls against this draft and lists what would change.
        Nothing applies until you save.
      </Note>
    )}
    <TryProposal text={text} isFit={isFit} />
  </section>
)

const periods = ['7', '30', '90', '365'] as const

function Reviewed({ review, isOld }: { review: DraftReview; isOld: boolean }) {
  const { more, less } = countChanges(review.lines)
  const rerun = useMutation({ mutationFn: (days: number) => replay(review.text, days) })
  const replayed = rerun.data ?? review.replayed
  const days = String(rerun.variables ?? review.replayed.days)
  return (
    <>
      {isOld && (
        <Note tone="suggest" icon="info">
          The draft changed. Simulate again before you save.
        </Note>
      )}
      <Section
        title={`Simulation, last ${replayed.days} days`}
        aside={
          <RadioGroup
            label="Days"
            value={periods.find((each) => each === days) ?? '30'}
            choices={periods.map((value) => ({ value, label: value }))}
            onChoose={(value) => rerun.mutate(Number(value))}
          />
        }
      >
        <ErrorNote error={rerun.error} />
        <ReplayTable replayed={replayed} />
      </Section>
      {review.lines.length > 0 ? (
        <Section title={`Changes: ${more} added, ${less} removed`}>
          <DiffView label="Changes" lines={review.lines} />
        </Section>
      ) : (
        <p className="text-soft">No changes to the active version</p>
      )}
    </>
  )
}

const number = new Intl.NumberFormat()

/** The changed outcomes of a replay, with examples (Y6). */
function ReplayTable({ replayed: it }: { replayed: ReplayResult }) {
  return (
    <div className="grid gap-2">
      <p role="status">
        {it.table.length === 0 ? (
          <>
            <b>No changes</b>
            <span className="text-soft">
              {it.replayed === 0
                ? ': no records in this period.'
                : ` in ${number.format(it.replayed)} records.`}
            </span>
          </>
        ) : (
          <>
            <b>{it.summary}</b>
            <span className="text-soft">
              ; {number.format(it.unchanged)} of {number.format(it.replayed)} unchanged.
            </span>
          </>
        )}
      </p>
      {it.table.length > 0 && (
        <table className="w-full text-left [&_td]:border-t [&_td]:border-line [&_td]:py-2 [&_td]:pr-3 [&_td]:align-top [&_th]:pr-3">
          <thead className="text-xs text-faint">
            <tr>
              <th className="font-semibold">Before and after</th>
              <th className="font-semibold">Count</th>
              <th className="font-semibold">Examples</th>
            </tr>
          </thead>
          <tbody>
            {it.table.map((row) => (
              <tr key={`${row.from} ${row.to}`}>
                <td>
                  <span className="flex flex-wrap items-center gap-1">
                    <OutcomeChip outcome={row.from} />
                    <Icon name="call" size={12} className="text-faint" />
                    <span className="sr-only">becomes</span>
                    <OutcomeChip outcome={row.to} />
                  </span>
                </td>
                <td>{number.format(row.count)}</td>
                <td>
                  <ul className="grid gap-0.5 text-xs">
                    {row.examples.map((example) => (
                      <li key={`${example.approval_id} ${example.seq}`}>
                        <Example example={example} />
                      </li>
                    ))}
                  </ul>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {it.skipped > 0 && (
        <p className="text-xs text-soft">
          {number.format(it.skipped)} skipped: their arguments or trust are no longer recorded.
        </p>
      )}
      {it.truncated && (
        <Note tone="suggest" icon="info">
          Too many records: some were not replayed. Choose fewer days.
        </Note>
      )}
    </div>
  )
}

function Example({ example }: { example: ReplayResult['table'][number]['examples'][number] }) {
  const { approval_id: id, seq, agent_id: agent, domain, action } = example
  const label = (
    <>
      <SafeText text={agent} />: <SafeText text={action || example.kind} /> in{' '}
      <SafeText text={domain} />
    </>
  )
  if (id !== null)
    return (
      <Link to="/inbox/$id" params={{ id }} className={textLink}>
        {label}
      </Link>
    )
  return seq === null ? (
    label
  ) : (
    <Link to="/audit/$seq" params={{ seq: String(seq) }} className={textLink}>
      {label}
    </Link>
  )
}
