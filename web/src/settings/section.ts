import type { IconName } from '../shared/Icon.tsx'

export const sections = {
  people: { title: 'People', icon: 'people' },
  sessions: { title: 'Sessions', icon: 'device' },
  passkeys: { title: 'Passkeys', icon: 'key' },
  agents: { title: 'Agents', icon: 'agent' },
  notifications: { title: 'Notifications', icon: 'bell' },
  appearance: { title: 'Appearance', icon: 'look' },
  shortcuts: { title: 'Shortcuts', icon: 'keyboard' },
} as const satisfies Record<string, { title: string; icon: IconName }>

export type Section = keyof typeof sections
export const isSection = (name: string): name is Section => Object.hasOwn(sections, name)
