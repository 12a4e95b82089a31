import { createRoute, redirect } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import type { Screen } from '../shell/screen.ts'
import { entryText } from './entry-text.ts'
import { isSection } from './section.ts'

const settings = createRoute({
  getParentRoute: () => rootRoute,
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
  component: lazyScreen(() => import('./SettingsPage.tsx'), 'SettingsPage'),
})

export const settingsScreen = {
  to: '/settings',
  title: 'Settings',
  icon: 'settings',
  key: 's',
  routes: settings.addChildren([section]),
  shortcuts: [],
  invalidates: {
    person: ['people', 'sessions', 'session'],
    role: ['people', 'session'],
    invitation: ['people'],
    session: ['sessions'],
    passkey: ['passkeys', 'session'],
  },
  entryText,
} as const satisfies Screen
