import { Link } from '@tanstack/react-router'
import type { Replayed } from './policy.ts'
import { Icon } from '../shared/Icon.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { OutcomeChip } from './OutcomeChip.tsx'

const number = new Intl.NumberFormat()

/** What would have come out differently, with examples to look at (Y6). */
export function ReplayTable({ replayed: it }: { replayed: Replayed }) {
  return (
    <div className="grid gap-2">
      <p role="status">
        {it.table.length === 0 ? (
          <>
            <b>Nothing would change</b>
            <span className="text-soft">
              {it.replayed === 0
                ? ': nothing is on record for this time.'
                : ` of ${number.format(it.replayed)} on record.`}
            </span>
          </>
        ) : (
          <>
            <b>{it.summary}</b>
            <span className="text-soft">
              ; {number.format(it.unchanged)} of {number.format(it.replayed)} stay as they were.
            </span>
          </>
        )}
      </p>
      {it.table.length > 0 && (
        <table className="w-full text-left [&_td]:border-t [&_td]:border-line [&_td]:py-2 [&_td]:pr-3 [&_td]:align-top [&_th]:pr-3">
          <thead className="text-xs text-faint">
            <tr>
              <th className="font-semibold">Was, would be</th>
              <th className="font-semibold">Count</th>
              <th className="font-semibold">For example</th>
            </tr>
          </thead>
          <tbody>
            {it.table.map((row) => (
              <tr key={`${row.from} ${row.to}`}>
                <td>
                  <span className="flex flex-wrap items-center gap-1">
                    <OutcomeChip outcome={row.from} />
                    <span className="text-faint">
                      <Icon name="call" size={12} />
                    </span>
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
          {number.format(it.skipped)} could not be judged again: their arguments or their trust are
          no longer on record.
        </p>
      )}
      {it.truncated && (
        <Note tone="suggest" icon="info">
          There is more on record than was looked at. Choose fewer days.
        </Note>
      )}
    </div>
  )
}

const link = 'underline decoration-line underline-offset-3 hover:decoration-current'

function Example({ example }: { example: Replayed['table'][number]['examples'][number] }) {
  const { approval_id: id, seq, agent_id: agent, domain, action } = example
  const said = (
    <>
      <Plain text={agent} />: <Plain text={action || example.kind} /> in <Plain text={domain} />
    </>
  )
  if (id !== null)
    return (
      <Link to="/inbox/$id" params={{ id }} className={link}>
        {said}
      </Link>
    )
  return seq === null ? (
    said
  ) : (
    <Link to="/audit/$seq" params={{ seq: String(seq) }} className={link}>
      {said}
    </Link>
  )
}
