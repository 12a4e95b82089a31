import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Icon } from '../shared/Icon.tsx'
import { isSection, sections } from './section.ts'
import type { Section } from './section.ts'
import { Agents } from './Agents.tsx'
import { AppearanceSettings, Shortcuts, Notifications } from './Preferences.tsx'
import { Passkeys } from './Passkeys.tsx'
import { People } from './People.tsx'
import { Sessions } from './Sessions.tsx'

const route = getRouteApi('/settings/$section')

const pages: Record<Section, () => React.ReactNode> = {
  people: People,
  sessions: Sessions,
  passkeys: Passkeys,
  agents: Agents,
  notifications: Notifications,
  appearance: AppearanceSettings,
  shortcuts: Shortcuts,
}

export function SettingsPage() {
  const { section } = route.useParams()
  const Page = pages[isSection(section) ? section : 'people']
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a phone the sections scroll horizontally.
    const current = nav.current?.querySelector('[aria-current=page]')
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [section])
  return (
    <div className="flex h-full max-md:flex-col">
      <nav
        ref={nav}
        aria-label="Settings"
        className="scroll-thin flex w-48 shrink-0 flex-col gap-0.5 border-r border-line p-2 pt-3 max-md:w-auto max-md:flex-row max-md:overflow-x-auto max-md:[scrollbar-width:none] max-md:border-r-0 max-md:border-b max-md:p-2"
      >
        {(Object.keys(sections) as Section[]).map((name) => (
          <Link
            key={name}
            to="/settings/$section"
            params={{ section: name }}
            className="flex h-8 shrink-0 items-center gap-2.5 rounded px-2.5 text-soft transition-colors hover:text-text aria-[current=page]:bg-raised aria-[current=page]:font-[550] aria-[current=page]:text-text max-md:h-9"
          >
            <Icon name={sections[name].icon} />
            {sections[name].title}
          </Link>
        ))}
        <Link
          to="/welcome"
          className="flex h-8 shrink-0 items-center gap-2.5 rounded px-2.5 text-soft transition-colors hover:text-text max-md:h-9"
        >
          <Icon name="resume" />
          Setup
        </Link>
      </nav>
      <div className="scroll-thin min-w-0 flex-1 overflow-y-auto">
        <div className="max-w-195 px-7 pt-5 pb-12 max-md:px-4">
          <Page />
        </div>
      </div>
    </div>
  )
}
