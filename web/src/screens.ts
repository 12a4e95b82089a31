import type { IconName } from './shared/Icon.tsx'

export type Screen = {
  readonly to: '/inbox' | '/agents' | '/policies' | '/files' | '/work' | '/audit' | '/settings'
  readonly title: string
  readonly icon: IconName
  /** Second letter of the chord that goes there: `g a`. */
  readonly key: string
}

/** What the rail, the palette and the keys know. A new screen is one more line, in the order of C1. */
export const screens: readonly Screen[] = [
  { to: '/inbox', title: 'Inbox', icon: 'inbox', key: 'i' },
  { to: '/agents', title: 'Agents', icon: 'agent', key: 'e' },
  { to: '/policies', title: 'Policies', icon: 'decision', key: 'p' },
  { to: '/files', title: 'Files', icon: 'folder', key: 'f' },
  { to: '/work', title: 'Work', icon: 'work', key: 'w' },
  { to: '/audit', title: 'Audit', icon: 'audit', key: 'a' },
  { to: '/settings', title: 'Settings', icon: 'settings', key: 's' },
]
