import { useSyncExternalStore } from 'react'
import { look } from '../shared/appearance.ts'
import { Choices } from '../shared/Field.tsx'
import { ShortcutList } from '../shell/ShortcutList.tsx'
import { Setting } from './Appearance.tsx'
import { SettingsSection } from './SettingsSection.tsx'

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
