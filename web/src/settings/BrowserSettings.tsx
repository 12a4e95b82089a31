import { useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { look } from '../shared/appearance.ts'
import { Choices } from '../shared/Field.tsx'
import { SettingsSection } from './SettingsSection.tsx'
import { ShortcutList } from '../shell/ShortcutList.tsx'
import { notifying } from '../inbox/notification-switch.ts'
import type { Notifying } from '../inbox/notification-switch.ts'
import { Note } from '../shared/States.tsx'
import { toastProblem } from '../shared/toast.ts'

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

const Setting = ({
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

export function Shortcuts() {
  const { keys } = useSyncExternalStore(look.subscribe, look.get)
  return (
    <SettingsSection title="Shortcuts" lead="Everything here works by keyboard.">
      <div className="border-t border-line">
        <Setting
          name="Single keys"
          detail="Switch them off if you dictate, or type them by accident."
        >
          <Choices
            label="Single keys"
            value={keys}
            choices={[
              { value: 'on', label: 'On' },
              { value: 'off', label: 'Off' },
            ]}
            onChoose={(value) => look.change({ keys: value })}
          />
        </Setting>
      </div>
      <div className="grid gap-5 pt-5">
        <ShortcutList />
      </div>
    </SettingsSection>
  )
}

const why: Partial<Record<Notifying, string>> = {
  blocked:
    'This browser blocks notifications of this page. Allow them in its settings for the site.',
  unsupported: 'Notifications work on localhost or over HTTPS, in browsers that have them.',
}

export const Notifications = () => (
  <SettingsSection title="Notifications" lead="How this browser tells you. Kept here.">
    <DesktopNotices />
  </SettingsSection>
)

export function DesktopNotices() {
  const state = useSyncExternalStore(notifying.subscribe, notifying.get)
  return (
    <div>
      <div className="border-t border-line">
        <Setting
          name="On this desktop"
          detail="Escalations and high risk, while a console is open in a tab you do not look at."
        >
          {why[state] === undefined && (
            <Choices
              label="On this desktop"
              value={state === 'on' ? 'on' : 'off'}
              choices={[
                { value: 'on', label: 'On' },
                { value: 'off', label: 'Off' },
              ]}
              onChoose={(choice) => void notifying.turn(choice).catch(toastProblem)}
            />
          )}
        </Setting>
      </div>
      {why[state] !== undefined && (
        <div className="pt-4">
          <Note tone="plain" icon="info">
            {why[state]}
          </Note>
        </div>
      )}
    </div>
  )
}
