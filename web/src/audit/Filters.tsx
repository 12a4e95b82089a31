import { useQuery } from '@tanstack/react-query'
import { useNavigate, Link } from '@tanstack/react-router'
import { Popover } from 'radix-ui'
import { useId } from 'react'
import { formCount, outcomes, filterNames, removeFilters } from './filter.ts'
import type { Filters, FilterName } from './filter.ts'
import { outcomeLabels } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { Button } from '../shared/Button.tsx'
import { SelectField, TextField } from '../shared/Field.tsx'
import { agentsQuery } from '../agents/agent-queries.ts'
import { peopleQuery } from '../settings/person.ts'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'

type Props = { filters: Filters; isOpen: boolean; onOpen: (isOpen: boolean) => void }

export function FilterPopover({ filters, isOpen, onOpen }: Props) {
  const count = formCount(filters)
  return (
    <Popover.Root open={isOpen} onOpenChange={onOpen}>
      <Popover.Trigger asChild>
        <Button size="sm" icon="filter">
          <span className="sr-only @3xl:not-sr-only">Filters</span>
          {count > 0 && <span className="font-semibold">{count}</span>}
        </Button>
      </Popover.Trigger>
      <Popover.Portal container={document.getElementById('main')}>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={12}
          aria-label="Filters"
          className="settle scroll-thin z-20 max-h-(--radix-popover-content-available-height) w-90 max-w-[calc(100vw-24px)] overflow-y-auto rounded-lg border border-line bg-panel p-4 shadow-raised"
        >
          <FilterForm filters={filters} onDone={() => onOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

const anyOutcome = { value: '', label: 'Any' }

function FilterForm({ filters, onDone }: { filters: Filters; onDone: () => void }) {
  const navigate = useNavigate()
  const actors = useActors()
  const list = useId()
  const apply = (form: FormData) => {
    const { kind, q, call, proposal } = filters
    const filled = [...form.entries()].filter(
      ([, value]) => typeof value === 'string' && value !== '',
    )
    void navigate({
      to: '/audit',
      search: {
        ...(kind && { kind }),
        ...(q && { q }),
        ...(call && { call }),
        ...(proposal && { proposal }),
        ...Object.fromEntries(filled),
      },
    })
    onDone()
  }
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        apply(new FormData(event.currentTarget))
      }}
    >
      <TextField
        name="actor"
        label="Actor"
        placeholder="Agent or person"
        list={list}
        defaultValue={filters.actor}
      />
      <datalist id={list}>
        {actors.map((id) => (
          <option key={id}>{id}</option>
        ))}
      </datalist>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          name="domain"
          label="Domain"
          placeholder="crm.deals"
          defaultValue={filters.domain}
        />
        <SelectField
          name="outcome"
          label="Outcome"
          defaultValue={filters.outcome}
          choices={[
            anyOutcome,
            ...(Object.keys(outcomes) as Outcome[]).map((value) => ({
              value,
              label: outcomeLabels[value],
            })),
          ]}
        />
      </div>
      <TextField
        name="subject"
        label="Subject starts with"
        placeholder="deal_ or /home/…"
        defaultValue={filters.subject}
      />
      <TextField
        name="type"
        label="Type"
        placeholder="call.done or call."
        pattern="[a-z][a-z_]*\.([a-z][a-z_]*)?"
        title="For example halt.set, or halt. for all halt entries"
        defaultValue={filters.type}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField type="date" name="from" label="From" defaultValue={filters.from} />
        <TextField type="date" name="to" label="To" defaultValue={filters.to} />
      </div>
      <div className="flex justify-end gap-2 pt-1">
        <Button
          onClick={() => {
            void navigate({ to: '/audit', search: {} })
            onDone()
          }}
        >
          Clear all
        </Button>
        <Button tone="primary" type="submit">
          Apply
        </Button>
      </div>
    </form>
  )
}

function useActors(): string[] {
  const agents = useQuery(agentsQuery).data ?? []
  const people = useQuery(peopleQuery).data?.people ?? []
  return [...new Set([...agents, ...people].map(({ id }) => id)), 'cowork']
}

const names: Record<Exclude<FilterName, 'kind'>, string> = {
  q: 'text',
  type: 'type',
  outcome: 'outcome',
  actor: 'actor',
  domain: 'domain',
  subject: 'subject',
  from: 'from',
  to: 'to',
  call: 'call',
  proposal: 'proposal',
}

export function FilterChips({ filters }: { filters: Filters }) {
  const set = filterNames
    .filter((name) => name !== 'kind')
    .filter((name) => filters[name] !== undefined)
  if (set.length === 0) return null
  return (
    <ul
      aria-label="Active filters"
      className="flex flex-wrap gap-1.5 border-b border-line px-4 py-2"
    >
      {set.map((name) => (
        <li key={name} className="max-w-full">
          <Link
            to="/audit"
            search={removeFilters(filters, name)}
            aria-label={`Remove filter ${names[name]} ${filters[name]}`}
            className="flex h-6 max-w-full items-center gap-1.5 rounded-full bg-accent-bg pr-1.5 pl-2.5 text-xs text-accent max-md:h-8"
          >
            <span className="truncate">
              {names[name]} <b>{<SafeText text={filters[name] ?? ''} />}</b>
            </span>
            <Icon name="cross" size={12} />
          </Link>
        </li>
      ))}
      <li>
        <Link
          to="/audit"
          search={{}}
          className="flex h-6 items-center px-1.5 text-xs text-soft underline max-md:h-8"
        >
          Clear all
        </Link>
      </li>
    </ul>
  )
}
