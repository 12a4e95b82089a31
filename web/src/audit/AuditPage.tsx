import { getRouteApi, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { FilterChips } from './Filters.tsx'
import { Timeline } from './Timeline.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useVerify } from './use-verify.ts'
import { VerifyStrip } from './VerifyStrip.tsx'

const route = getRouteApi('/audit')

export function AuditPage() {
  const filters = route.useSearch()
  const { seq } = useParams({ strict: false })
  const navigate = useNavigate()
  const { hash } = useLocation()
  const verify = useVerify()
  const [isFilterOpen, setFilterOpen] = useState(false)
  const { start } = verify
  useEffect(() => {
    if (hash !== 'verify') return
    // The palette requests verification through the hash, which is then removed.
    start()
    void navigate({ to: '/audit', search: true, replace: true })
  }, [hash, navigate, start])
  useKeys({
    v: start,
    f: () => setFilterOpen(true),
    ...(seq !== undefined && { Escape: () => void navigate({ to: '/audit', search: true }) }),
  })
  return (
    <div className="flex h-full">
      <section
        aria-label="Entries"
        className={`@container flex min-w-0 flex-col ${
          seq === undefined
            ? 'flex-1'
            : 'w-[42%] min-w-90 shrink-0 border-r border-line max-md:hidden'
        }`}
      >
        <Toolbar
          filters={filters}
          verify={verify}
          isFilterOpen={isFilterOpen}
          onFilterOpen={setFilterOpen}
        />
        <FilterChips filters={filters} />
        <VerifyStrip verify={verify} />
        <Timeline filters={filters} selected={seq === undefined ? undefined : Number(seq)} />
      </section>
      <Outlet />
    </div>
  )
}
