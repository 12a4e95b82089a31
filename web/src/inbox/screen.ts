import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../shell/lazy-screen.ts'
import { rootRoute } from '../shell/root-route.ts'
import type { Screen } from '../shell/screen.ts'
import { entryText } from './entry-text.ts'
import { parseInboxFilters } from './filter.ts'
import { followEntries } from './queue.ts'

const inbox = createRoute({
  getParentRoute: () => rootRoute,
  path: 'inbox',
  validateSearch: parseInboxFilters,
  component: lazyScreen(() => import('./InboxPage.tsx'), 'InboxPage'),
})

/** Has no component: the page reads the id, because list and item share their state. */
const item = createRoute({ getParentRoute: () => inbox, path: '$id' })

export const inboxScreen = {
  to: '/inbox',
  title: 'Inbox',
  icon: 'inbox',
  key: 'i',
  routes: inbox.addChildren([item]),
  shortcuts: [
    { keys: 'a', does: 'Approve, confirm or resolve' },
    { keys: 'd', does: 'Reject or mark as wrong' },
    { keys: 'e', does: 'Edit and approve' },
    {
      keys: 'r',
      does: 'Hand back; check: I would have done it differently',
    },
    { keys: 's', does: 'Snooze' },
    { keys: 'x', does: 'Select' },
    { keys: 'shift+j', does: 'Extend selection down' },
    { keys: 'shift+k', does: 'Extend selection up' },
    { keys: 'z', does: 'Undo last decision' },
    { keys: 't', does: 'Go to newest' },
  ],
  invalidates: {},
  onEntries: followEntries,
  entryText,
} as const satisfies Screen
