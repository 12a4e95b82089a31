import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { inboxFiltersOf } from './inbox/filters.ts'
import { filtersOf, parseSearch, stringifySearch } from './ledger/filters.ts'
import { Lost } from './parts/Lost.tsx'
import { Root } from './parts/Root.tsx'
import { Trouble } from './parts/States.tsx'
import { isSection } from './settings.ts'

const root = createRootRoute({ component: Root, notFoundComponent: Lost })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    redirect({ to: '/inbox', throw: true })
  },
})

const inbox = createRoute({
  getParentRoute: () => root,
  path: 'inbox',
  validateSearch: inboxFiltersOf,
  component: lazyRouteComponent(() => import('./pages/inbox/InboxPage.tsx'), 'InboxPage'),
})

/** The page reads the id itself: list and item share what is selected and asked. */
const item = createRoute({ getParentRoute: () => inbox, path: '$id' })

const audit = createRoute({
  getParentRoute: () => root,
  path: 'audit',
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import('./pages/audit/AuditPage.tsx'), 'AuditPage'),
})

const entry = createRoute({
  getParentRoute: () => audit,
  path: '$seq',
  beforeLoad: ({ params }) => {
    if (!/^\d{1,15}$/.test(params.seq)) redirect({ to: '/audit', throw: true })
  },
  component: lazyRouteComponent(() => import('./pages/audit/EntryDetail.tsx'), 'EntryDetail'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: 'settings',
  beforeLoad: ({ location }) => {
    if (/^\/settings\/?$/.test(location.pathname))
      redirect({ to: '/settings/$section', params: { section: 'people' }, throw: true })
  },
})

const section = createRoute({
  getParentRoute: () => settings,
  path: '$section',
  beforeLoad: ({ params }) => {
    if (!isSection(params.section))
      redirect({ to: '/settings/$section', params: { section: 'people' }, throw: true })
  },
  component: lazyRouteComponent(() => import('./pages/settings/SettingsPage.tsx'), 'SettingsPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    inbox.addChildren([item]),
    audit.addChildren([entry]),
    settings.addChildren([section]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error, reset }) => <Trouble error={error} retry={reset} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** Set when the keys moved the selection: the focus stays in the list. */
    keepFocus?: boolean
  }
}
