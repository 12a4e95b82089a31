import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import type { Screen } from '../shell/screen.ts'
import { entryText } from './entry-text.ts'
import { parseFilesView } from './view.ts'

const files = createRoute({
  getParentRoute: () => rootRoute,
  path: 'files',
  component: lazyScreen(() => import('./FilesPage.tsx'), 'FilesPage'),
})

const workspace = createRoute({
  getParentRoute: () => files,
  path: '/',
  validateSearch: parseFilesView,
  component: lazyScreen(() => import('./WorkspacePage.tsx'), 'WorkspacePage'),
})

const grants = createRoute({
  getParentRoute: () => files,
  path: 'grants',
  component: lazyScreen(() => import('./GrantsPage.tsx'), 'GrantsPage'),
})

const trash = createRoute({
  getParentRoute: () => files,
  path: 'trash',
  component: lazyScreen(() => import('./TrashPage.tsx'), 'TrashPage'),
})

const size = createRoute({
  getParentRoute: () => files,
  path: 'size',
  validateSearch: parseFilesView,
  component: lazyScreen(() => import('./SizePage.tsx'), 'SizePage'),
})

export const filesScreen = {
  to: '/files',
  title: 'Files',
  icon: 'folder',
  key: 'f',
  routes: files.addChildren([workspace, grants, trash, size]),
  shortcuts: [{ keys: 'u', does: 'Parent folder' }],
  invalidates: { grant: ['grants'] },
  entryText,
} as const satisfies Screen
