import { createRoute } from '@tanstack/react-router'
import { lateScreen } from '../shell/late-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import { welcomeViewOf } from './welcome.ts'

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lateScreen(() => import('./Home.tsx'), 'Home'),
})

export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'welcome',
  validateSearch: welcomeViewOf,
  component: lateScreen(() => import('./WelcomePage.tsx'), 'WelcomePage'),
})
