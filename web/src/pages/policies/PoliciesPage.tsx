import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { draft } from '../../policies/draft.ts'
import { policiesQuery } from '../../queries.ts'
import { useEntries } from '../../use-entries.ts'

const tabs = [
  { to: '/policies', name: 'Rules' },
  { to: '/policies/edit', name: 'Edit and simulate' },
  { to: '/policies/versions', name: 'Versions' },
] as const

/** What agents may do where: read it, try another, look back. */
export function PoliciesPage() {
  const client = useQueryClient()
  const hasDraft = useSyncExternalStore(draft.subscribe, draft.get) !== undefined
  // A permission that is approved in the inbox is a mapping too.
  useEntries(
    ({ type, data }) => type === 'approval.approved' && data?.['kind'] === 'permission',
    () => void client.invalidateQueries(policiesQuery),
  )
  return (
    <div className="flex h-full flex-col">
      <nav
        aria-label="Policies"
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-5 [scrollbar-width:none] max-md:px-2"
      >
        {tabs.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            className="flex h-10 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-soft -outline-offset-2 hover:text-text aria-[current=page]:border-text aria-[current=page]:font-[550] aria-[current=page]:text-text max-md:h-11"
          >
            {name}
            {to === '/policies/edit' && hasDraft && (
              <span className="text-xs font-normal text-suggest">draft</span>
            )}
          </Link>
        ))}
      </nav>
      <Outlet />
    </div>
  )
}
