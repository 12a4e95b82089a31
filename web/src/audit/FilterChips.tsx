import { Link } from '@tanstack/react-router'
import { filterNames, without } from './filter.ts'
import type { FilterName, Filters } from './filter.ts'
import { Icon } from '../shared/Icon.tsx'
import { Plain } from '../shared/Plain.tsx'

const names: Record<Exclude<FilterName, 'kind'>, string> = {
  q: 'text',
  type: 'type',
  outcome: 'outcome',
  actor: 'who',
  domain: 'domain',
  subject: 'subject',
  from: 'from',
  to: 'to',
  call: 'call',
  proposal: 'proposal',
}

/** What narrows the list, each with a way out. */
export function FilterChips({ filters }: { filters: Filters }) {
  const set = filterNames
    .filter((name) => name !== 'kind')
    .filter((name) => filters[name] !== undefined)
  if (set.length === 0) return null
  return (
    <ul
      aria-label="Filters that are set"
      className="flex flex-wrap gap-1.5 border-b border-line px-4 py-2"
    >
      {set.map((name) => (
        <li key={name} className="max-w-full">
          <Link
            to="/audit"
            search={without(filters, name)}
            aria-label={`Remove the filter ${names[name]} ${filters[name]}`}
            className="flex h-6 max-w-full items-center gap-1.5 rounded-full bg-accent-bg pr-1.5 pl-2.5 text-xs text-accent max-md:h-8"
          >
            <span className="truncate">
              {names[name]} <b>{<Plain text={filters[name] ?? ''} />}</b>
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
