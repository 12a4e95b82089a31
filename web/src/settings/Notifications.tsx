import { useSyncExternalStore } from 'react'
import { notifying } from '../inbox/notification-switch.ts'
import type { Notifying } from '../inbox/notification-switch.ts'
import { Choices } from '../shared/Field.tsx'
import { Note } from '../shared/States.tsx'
import { toastProblem } from '../shared/toast.ts'
import { Setting } from './Appearance.tsx'
import { SettingsSection } from './SettingsSection.tsx'

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
