import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import type { Screen } from '../shell/screen.ts'
import { entryText } from './entry-text.ts'
import { parseAgentFilters } from './trust-rows.ts'

const agents = createRoute({
  getParentRoute: () => rootRoute,
  path: 'agents',
  validateSearch: parseAgentFilters,
  component: lazyScreen(() => import('./AgentsPage.tsx'), 'AgentsPage'),
})

/** Has no component: the page reads the name, because the table marks the open agent. */
const agent = createRoute({ getParentRoute: () => agents, path: '$agent' })

export const agentsScreen = {
  to: '/agents',
  title: 'Agents',
  icon: 'agent',
  key: 'e',
  routes: agents.addChildren([agent]),
  invalidates: { agent: ['agents'], permission: ['permissions'], halt: ['status'] },
  entryText,
} as const satisfies Screen
