import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import { parseSetupView } from './setup.ts'

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyScreen(() => import('./Home.tsx'), 'Home'),
})

export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'welcome',
  validateSearch: parseSetupView,
  component: lazyScreen(() => import('./SetupPage.tsx'), 'SetupPage'),
})
