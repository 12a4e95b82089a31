import { Outlet } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { Tabs } from '../shared/Tabs.tsx'
import { draft } from './draft.ts'
import { policiesQuery } from './policy-queries.ts'
import { useRefetch } from '../api/use-entries.ts'

const draftMark = <span className="text-xs font-normal text-suggest">draft</span>

export function PoliciesPage() {
  const hasDraft = useSyncExternalStore(draft.subscribe, draft.get) !== undefined
  // Approving a new domain in the inbox adds a mapping.
  useRefetch(
    ({ type, data }) => type === 'approval.approved' && data?.['kind'] === 'permission',
    policiesQuery,
  )
  return (
    <div className="flex h-full flex-col">
      <Tabs
        label="Policies"
        tabs={[
          { to: '/policies', name: 'Rules' },
          { to: '/policies/edit', name: 'Edit and simulate', mark: hasDraft && draftMark },
          { to: '/policies/versions', name: 'Versions' },
        ]}
      />
      <Outlet />
    </div>
  )
}
