import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import type { Screen } from '../shell/screen.ts'
import { parseVersionPair } from './comparison.ts'
import { entryText } from './entry-text.ts'

const policies = createRoute({
  getParentRoute: () => rootRoute,
  path: 'policies',
  component: lazyScreen(() => import('./PoliciesPage.tsx'), 'PoliciesPage'),
})

const rules = createRoute({
  getParentRoute: () => policies,
  path: '/',
  component: lazyScreen(() => import('./RulesPage.tsx'), 'RulesPage'),
})

const edit = createRoute({
  getParentRoute: () => policies,
  path: 'edit',
  component: lazyScreen(() => import('./EditPage.tsx'), 'EditPage'),
})

const versions = createRoute({
  getParentRoute: () => policies,
  path: 'versions',
  validateSearch: parseVersionPair,
  component: lazyScreen(() => import('./VersionsPage.tsx'), 'VersionsPage'),
})

export const policiesScreen = {
  to: '/policies',
  title: 'Policies',
  icon: 'decision',
  key: 'p',
  routes: policies.addChildren([rules, edit, versions]),
  shortcuts: [{ keys: 'mod+enter', does: 'Simulate draft' }],
  invalidates: { policy: ['policies'] },
  entryText,
} as const satisfies Screen
