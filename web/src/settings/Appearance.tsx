import { useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { look } from '../shared/appearance.ts'
import { Choices } from '../shared/Field.tsx'
import { SettingsSection } from './SettingsSection.tsx'

export function Appearance() {
  const { theme, density, motion } = useSyncExternalStore(look.subscribe, look.get)
  return (
    <SettingsSection title="Appearance" lead="Kept in this browser.">
      <div className="border-t border-line">
        <Setting name="Theme" detail="Light, dark, or as the system is.">
          <Choices
            label="Theme"
            value={theme}
            choices={[
              { value: 'system', label: 'System' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
            onChoose={(value) => look.change({ theme: value })}
          />
        </Setting>
        <Setting name="Density" detail="How much stands in a list at once.">
          <Choices
            label="Density"
            value={density}
            choices={[
              { value: 'calm', label: 'Calm' },
              { value: 'compact', label: 'Compact' },
            ]}
            onChoose={(value) => look.change({ density: value })}
          />
        </Setting>
        <Setting name="Motion" detail="Short, and off where the system asks for less.">
          <Choices
            label="Motion"
            value={motion}
            choices={[
              { value: 'system', label: 'System' },
              { value: 'off', label: 'Off' },
            ]}
            onChoose={(value) => look.change({ motion: value })}
          />
        </Setting>
      </div>
    </SettingsSection>
  )
}

export const Setting = ({
  name,
  detail,
  children,
}: {
  name: string
  detail: string
  children: ReactNode
}) => (
  <div className="flex flex-wrap items-center gap-x-6 gap-y-2 border-b border-line py-3">
    <div className="min-w-48 flex-1">
      <p className="font-[550]">{name}</p>
      <p className="text-xs text-soft">{detail}</p>
    </div>
    {children}
  </div>
)
