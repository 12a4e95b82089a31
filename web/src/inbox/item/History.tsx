import { Link } from '@tanstack/react-router'
import type { Detail, Past } from '../approval.ts'
import { age, pastText, signed } from '../text.ts'
import { Ago } from '../../shared/Ago.tsx'
import { Plain } from '../../shared/Plain.tsx'
import { Section } from '../../shared/Section.tsx'
import { useWho } from '../use-who.ts'

/** The last decisions on the same target: what people here thought of it before. */
export const History = ({ detail: { history, target } }: { detail: Detail }) =>
  history.length === 0 ? null : (
    <Section
      title={
        <>
          Before, on <Plain text={target} />
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

function PastLine({ past }: { past: Past }) {
  const who = useWho(past.decided_by ?? undefined)
  const said = pastText(past, capital(who(past.decided_by ?? undefined)))
  const change = past.trust_change
  return (
    <li className="flex gap-2.5 text-soft">
      <Ago at={past.at} format={age} className="w-18 shrink-0 text-faint" />
      <p className="min-w-0 break-words">
        <Plain text={said} />:{' '}
        <Link
          to="/inbox/$id"
          params={{ id: past.id }}
          search={true}
          className="underline decoration-line underline-offset-3 hover:decoration-current"
        >
          <Plain text={past.summary} />
        </Link>
        {past.reason && (
          <>
            , <Plain text={past.reason} />
          </>
        )}
        {change !== null && change !== 0 && <span> ({signed(change)})</span>}
      </p>
    </li>
  )
}

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)
