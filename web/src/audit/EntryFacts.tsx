import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Entry } from '../api/entry.ts'
import type { Filters } from './filter.ts'
import { getOutcome } from './outcome.ts'
import { ActorChip, Chip, OutcomeChip, actorKinds } from '../shared/Chips.tsx'
import { CopyIcon, CopyButton } from '../shared/Copy.tsx'
import { Code, Fact, FactList, Section } from '../shared/Section.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { formatClient } from '../shared/client-name.ts'
import { fullTime, formatDuration } from '../shared/time.ts'
import { HorizontalScroll } from '../shared/HorizontalScroll.tsx'
import { Note } from '../shared/States.tsx'

export function Facts({ entry }: { entry: Entry }) {
  const { actor, domain, subject, data = {}, ids = {} } = entry
  const outcome = getOutcome(entry)
  const { tool, effect, ms } = data
  return (
    <FactList>
      <Fact name="Actor">
        <FilterLink filters={{ actor: actor.id }}>
          <ActorChip actor={actor} />
        </FilterLink>
        {actor.verified === false ? (
          <Chip tone="suggest" icon="info">
            Unverified
          </Chip>
        ) : (
          <span className="text-soft">{actorKinds[actor.kind].toLowerCase()}</span>
        )}
      </Fact>
      {actor.client && (
        <Fact name="Client">
          <SafeText text={formatClient(actor.client)} />
          <span className="text-faint">reported by the client</span>
        </Fact>
      )}
      <Fact name="Time">{fullTime(entry.at)}</Fact>
      {domain !== undefined && (
        <Fact name="Domain">
          <FilterLink filters={{ domain }}>
            <Code text={domain} />
          </FilterLink>
        </Fact>
      )}
      {subject !== undefined && (
        <Fact name="Subject">
          <Code text={subject} />
        </Fact>
      )}
      {typeof tool === 'string' && (
        <Fact name="Tool">
          <Code text={tool} />
          {typeof effect === 'string' && <span className="text-soft">{effect}</span>}
        </Fact>
      )}
      {outcome && (
        <Fact name="Outcome">
          <OutcomeChip outcome={outcome} />
          {entry.outcome !== outcome && entry.outcome && <Code text={entry.outcome} />}
          {typeof ms === 'number' && <span className="text-soft">in {formatDuration(ms)}</span>}
        </Fact>
      )}
      <Fact name="Type">
        <FilterLink filters={{ type: entry.type }}>
          <Code text={entry.type} />
        </FilterLink>
      </Fact>
      {actor.session !== undefined && <IdFact name="Session" id={actor.session} />}
      {Object.entries(ids).map(([name, id]) => (
        <IdFact key={name} name={name.charAt(0).toUpperCase() + name.slice(1)} id={id} />
      ))}
    </FactList>
  )
}

const IdFact = ({ name, id }: { name: string; id: string }) => (
  <Fact name={name}>
    <span className="flex min-w-0 items-center gap-1">
      <SafeText as="code" className="min-w-0 font-mono text-xs break-all" text={id} />
      <CopyIcon text={id} what={`${name.toLowerCase()} id`} />
    </span>
  </Fact>
)

const FilterLink = ({ filters, children }: { filters: Filters; children: ReactNode }) => (
  <Link
    to="/audit"
    search={filters}
    title="Filter by this value"
    className="min-w-0 underline decoration-line underline-offset-3 hover:decoration-current"
  >
    {children}
  </Link>
)

/** Fields that `Facts` shows. */
const shownFields = new Set(['tool', 'effect', 'ms', 'message', 'claim'])

/** The data of an entry and its erasable content (L8). */
export function EntryContent({ entry, payload }: { entry: Entry; payload: unknown }) {
  const rest = Object.fromEntries(
    Object.entries(entry.data ?? {}).filter(([name]) => !shownFields.has(name)),
  )
  const label = entry.type.startsWith('call.') ? 'Arguments' : 'Content'
  const says = entry.actor.kind === 'agent' ? 'the agent says' : undefined
  return (
    <>
      {payload !== undefined && <Json title={label} says={says} value={payload} />}
      {entry.payload !== undefined && payload === undefined && (
        <Section title={label}>
          <Note tone="plain" icon="info">
            Content erased. The entry keeps its digest, so the proof remains valid.
          </Note>
        </Section>
      )}
      {Object.keys(rest).length > 0 && <Json title="Data" says={says} value={rest} />}
    </>
  )
}

function Json({ title, says, value }: { title: string; says: string | undefined; value: unknown }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <Section title={title} aside={<CopyButton text={text} what="JSON" />} says={says}>
      <HorizontalScroll
        as="pre"
        label={title}
        className="max-h-80 rounded border border-line bg-panel px-3 py-2 font-mono text-code"
      >
        <SafeText text={text} lines />
      </HorizontalScroll>
    </Section>
  )
}
