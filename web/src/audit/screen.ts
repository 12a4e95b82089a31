import { createRoute, redirect } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import type { Screen } from '../shell/screen.ts'
import { entryText } from './entry-text.ts'
import { parseFilters } from './filter.ts'

const audit = createRoute({
  getParentRoute: () => rootRoute,
  path: 'audit',
  validateSearch: parseFilters,
  component: lazyScreen(() => import('./AuditPage.tsx'), 'AuditPage'),
})

const entry = createRoute({
  getParentRoute: () => audit,
  path: '$seq',
  beforeLoad: ({ params }) => {
    if (!/^\d{1,15}$/.test(params.seq)) redirect({ to: '/audit', throw: true })
  },
  component: lazyScreen(() => import('./EntryDetail.tsx'), 'EntryDetail'),
})

export const auditScreen = {
  to: '/audit',
  title: 'Audit',
  icon: 'audit',
  key: 'a',
  routes: audit.addChildren([entry]),
  shortcuts: [
    { keys: 'v', does: 'Verify ledger' },
    { keys: 'f', does: 'Filters' },
    { keys: 't', does: 'Go to newest' },
  ],
  invalidates: {},
  entryText,
} as const satisfies Screen
