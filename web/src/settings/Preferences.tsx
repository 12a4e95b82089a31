import { useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { appearance } from '../shared/appearance.ts'
import type { Appearance } from '../shared/appearance.ts'
import { RadioGroup } from '../shared/Field.tsx'
import { SettingsSection } from './SettingsSection.tsx'
import { ShortcutList } from '../shell/ShortcutList.tsx'
import { notificationSetting } from '../inbox/notification-switch.ts'
import type { NotificationState } from '../inbox/notification-switch.ts'
import { Note } from '../shared/States.tsx'
import { toastProblem } from '../shared/toast.ts'

export const AppearanceSettings = () => (
  <SettingsSection title="Appearance" lead="Stored in this browser.">
    <div className="border-t border-line">
      <AppearanceSetting
        of="theme"
        name="Theme"
        detail="Light, dark, or the system setting."
        values={['system', 'light', 'dark']}
      />
      <AppearanceSetting
        of="density"
        name="Density"
        detail="Height of list rows."
        values={['calm', 'compact']}
      />
      <AppearanceSetting
        of="motion"
        name="Motion"
        detail="Animations; System follows the reduced-motion setting."
        values={['system', 'off']}
      />
    </div>
  </SettingsSection>
)

export const Shortcuts = () => (
  <SettingsSection title="Shortcuts" lead="Every action is available by keyboard.">
    <div className="border-t border-line">
      <AppearanceSetting
        of="keys"
        name="Single keys"
        detail="Turn off for dictation, or to avoid accidental actions."
        values={['on', 'off']}
      />
    </div>
    <div className="grid gap-5 pt-5">
      <ShortcutList />
    </div>
  </SettingsSection>
)

const toChoices = <T extends string>(values: readonly T[]) =>
  values.map((value) => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) }))

type AppearanceSettingProps<Name extends keyof Appearance> = {
  of: Name
  name: string
  detail: string
  values: readonly Appearance[Name][]
}

function AppearanceSetting<Name extends keyof Appearance>({
  of,
  name,
  detail,
  values,
}: AppearanceSettingProps<Name>) {
  const current = useSyncExternalStore(appearance.subscribe, appearance.get)
  return (
    <Setting name={name} detail={detail}>
      <RadioGroup
        label={name}
        value={current[of]}
        choices={toChoices(values)}
        onChoose={(value) => appearance.change({ [of]: value })}
      />
    </Setting>
  )
}

type SettingProps = { name: string; detail: string; children: ReactNode }

const Setting = ({ name, detail, children }: SettingProps) => (
  <div className="flex flex-wrap items-center gap-x-6 gap-y-2 border-b border-line py-3">
    <div className="min-w-48 flex-1">
      <p className="font-[550]">{name}</p>
      <p className="text-xs text-soft">{detail}</p>
    </div>
    {children}
  </div>
)

const stateTexts: Partial<Record<NotificationState, string>> = {
  blocked: 'The browser blocks notifications from this page. Allow them in the site settings.',
  unsupported: 'Notifications require localhost or HTTPS, and a browser that supports them.',
}

export const Notifications = () => (
  <SettingsSection title="Notifications" lead="Desktop notifications, stored in this browser.">
    <DesktopNotificationSetting />
  </SettingsSection>
)

export function DesktopNotificationSetting() {
  const state = useSyncExternalStore(notificationSetting.subscribe, notificationSetting.get)
  return (
    <div>
      <div className="border-t border-line">
        <Setting
          name="Desktop notifications"
          detail="High-risk requests, while the console is open in a background tab."
        >
          {stateTexts[state] === undefined && (
            <RadioGroup
              label="Desktop notifications"
              value={state === 'on' ? 'on' : 'off'}
              choices={toChoices(['on', 'off'] as const)}
              onChoose={(choice) => void notificationSetting.turn(choice).catch(toastProblem)}
            />
          )}
        </Setting>
      </div>
      {stateTexts[state] !== undefined && (
        <div className="pt-4">
          <Note tone="plain" icon="info">
            {stateTexts[state]}
          </Note>
        </div>
      )}
    </div>
  )
}
