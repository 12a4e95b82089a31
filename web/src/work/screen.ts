import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import type { Screen } from '../shell/screen.ts'
import { entryText } from './entry-text.ts'
import { parseWorkView } from './view.ts'

const work = createRoute({
  getParentRoute: () => rootRoute,
  path: 'work',
  validateSearch: parseWorkView,
  component: lazyScreen(() => import('./WorkPage.tsx'), 'WorkPage'),
})

const board = createRoute({
  getParentRoute: () => work,
  path: '/',
  component: lazyScreen(() => import('./BoardPage.tsx'), 'BoardPage'),
})

const backlog = createRoute({
  getParentRoute: () => work,
  path: 'backlog',
  component: lazyScreen(() => import('./BacklogPage.tsx'), 'BacklogPage'),
})

const conflicts = createRoute({
  getParentRoute: () => work,
  path: 'conflicts',
  component: lazyScreen(() => import('./ConflictsPage.tsx'), 'ConflictsPage'),
})

export const workScreen = {
  to: '/work',
  title: 'Work',
  icon: 'work',
  key: 'w',
  routes: work.addChildren([board, backlog, conflicts]),
  shortcuts: [
    { keys: 'h', does: 'Previous column' },
    { keys: 'l', does: 'Next column' },
    { keys: 'Space', does: 'Pick up a story; arrows move it, Space drops it' },
    { keys: 'n', does: 'New story' },
  ],
  invalidates: {},
  entryText,
} as const satisfies Screen
