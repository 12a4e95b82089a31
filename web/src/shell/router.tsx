import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { agentFiltersOf } from '../agents/standing.ts'
import { filesViewOf } from '../files/view.ts'
import { inboxFiltersOf } from '../inbox/filter.ts'
import { filtersOf, parseSearch, stringifySearch } from '../audit/filter.ts'
import { lateScreen } from './late-screen.ts'
import { comparedOf } from '../policies/comparison.ts'
import { Lost } from './Lost.tsx'
import { Root } from './Root.tsx'
import { ScreenTrouble } from './ScreenTrouble.tsx'
import { isSection } from '../settings/section.ts'
import { welcomeViewOf } from '../welcome/welcome.ts'
import { workViewOf } from '../work/view.ts'

const root = createRootRoute({ component: Root, notFoundComponent: Lost })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lateScreen(() => import('../welcome/Home.tsx'), 'Home'),
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: 'welcome',
  validateSearch: welcomeViewOf,
  component: lateScreen(() => import('../welcome/WelcomePage.tsx'), 'WelcomePage'),
})

const inbox = createRoute({
  getParentRoute: () => root,
  path: 'inbox',
  validateSearch: inboxFiltersOf,
  component: lateScreen(() => import('../inbox/InboxPage.tsx'), 'InboxPage'),
})

/** The page reads the id itself: list and item share what is selected and asked. */
const item = createRoute({ getParentRoute: () => inbox, path: '$id' })

const agents = createRoute({
  getParentRoute: () => root,
  path: 'agents',
  validateSearch: agentFiltersOf,
  component: lateScreen(() => import('../agents/AgentsPage.tsx'), 'AgentsPage'),
})

/** The page reads the name itself: the table marks the agent that is open. */
const agent = createRoute({ getParentRoute: () => agents, path: '$agent' })

const policies = createRoute({
  getParentRoute: () => root,
  path: 'policies',
  component: lateScreen(() => import('../policies/PoliciesPage.tsx'), 'PoliciesPage'),
})

const rules = createRoute({
  getParentRoute: () => policies,
  path: '/',
  component: lateScreen(() => import('../policies/RulesPage.tsx'), 'RulesPage'),
})

const edit = createRoute({
  getParentRoute: () => policies,
  path: 'edit',
  component: lateScreen(() => import('../policies/EditPage.tsx'), 'EditPage'),
})

const versions = createRoute({
  getParentRoute: () => policies,
  path: 'versions',
  validateSearch: comparedOf,
  component: lateScreen(() => import('../policies/VersionsPage.tsx'), 'VersionsPage'),
})

const files = createRoute({
  getParentRoute: () => root,
  path: 'files',
  component: lateScreen(() => import('../files/FilesPage.tsx'), 'FilesPage'),
})

const workspace = createRoute({
  getParentRoute: () => files,
  path: '/',
  validateSearch: filesViewOf,
  component: lateScreen(() => import('../files/WorkspacePage.tsx'), 'WorkspacePage'),
})

const grants = createRoute({
  getParentRoute: () => files,
  path: 'grants',
  component: lateScreen(() => import('../files/GrantsPage.tsx'), 'GrantsPage'),
})

const trash = createRoute({
  getParentRoute: () => files,
  path: 'trash',
  component: lateScreen(() => import('../files/TrashPage.tsx'), 'TrashPage'),
})

const size = createRoute({
  getParentRoute: () => files,
  path: 'size',
  validateSearch: filesViewOf,
  component: lateScreen(() => import('../files/SizePage.tsx'), 'SizePage'),
})

const work = createRoute({
  getParentRoute: () => root,
  path: 'work',
  validateSearch: workViewOf,
  component: lateScreen(() => import('../work/WorkPage.tsx'), 'WorkPage'),
})

const board = createRoute({
  getParentRoute: () => work,
  path: '/',
  component: lateScreen(() => import('../work/BoardPage.tsx'), 'BoardPage'),
})

const backlog = createRoute({
  getParentRoute: () => work,
  path: 'backlog',
  component: lateScreen(() => import('../work/BacklogPage.tsx'), 'BacklogPage'),
})

const conflicts = createRoute({
  getParentRoute: () => work,
  path: 'conflicts',
  component: lateScreen(() => import('../work/ConflictsPage.tsx'), 'ConflictsPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: 'audit',
  validateSearch: filtersOf,
  component: lateScreen(() => import('../audit/AuditPage.tsx'), 'AuditPage'),
})

const entry = createRoute({
  getParentRoute: () => audit,
  path: '$seq',
  beforeLoad: ({ params }) => {
    if (!/^\d{1,15}$/.test(params.seq)) redirect({ to: '/audit', throw: true })
  },
  component: lateScreen(() => import('../audit/EntryDetail.tsx'), 'EntryDetail'),
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
  component: lateScreen(() => import('../settings/SettingsPage.tsx'), 'SettingsPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    welcome,
    inbox.addChildren([item]),
    agents.addChildren([agent]),
    policies.addChildren([rules, edit, versions]),
    files.addChildren([workspace, grants, trash, size]),
    work.addChildren([board, backlog, conflicts]),
    audit.addChildren([entry]),
    settings.addChildren([section]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenTrouble,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** Set when the keys moved the selection: the focus stays in the list. */
    keepFocus?: boolean
    /** The row of the file list that the focus goes to; the first one where it is not there. */
    row?: string
  }
}
