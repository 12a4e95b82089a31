import { Dialog } from '../shared/Dialog.tsx'
import { KeyHint } from '../shared/Keys.tsx'
import { screens } from '../screens.ts'
import type { Screen, Shortcut } from './screen.ts'

export const ShortcutsDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <ShortcutList />
  </Dialog>
)

export const ShortcutList = () =>
  shortcuts.map(({ title, keys }) => (
    <section key={title}>
      <h3 className="pb-1 text-xs font-semibold text-faint">{title}</h3>
      <dl>
        {keys.map(({ keys: combo, does }) => (
          <div
            key={combo}
            className="flex items-center justify-between gap-4 border-b border-line py-1.5 last:border-0"
          >
            <dt className="order-last">
              <KeyHint combo={combo} />
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  ))

type ShortcutGroup = { readonly title: string; readonly keys: readonly Shortcut[] }

const shortcuts: readonly ShortcutGroup[] = [
  {
    title: 'Global',
    keys: [
      { keys: 'mod+k', does: 'Search or jump to' },
      { keys: '/', does: 'Search this screen' },
      ...screens.map(({ key, title }) => ({ keys: `g ${key}`, does: `Go to ${title}` })),
      { keys: '?', does: 'Show shortcuts' },
    ],
  },
  {
    title: 'Lists',
    keys: [
      { keys: 'j', does: 'Next' },
      { keys: 'k', does: 'Previous' },
      { keys: 'Enter', does: 'Open' },
      { keys: 'Escape', does: 'Close' },
    ],
  },
  ...screens.flatMap((screen: Screen) =>
    screen.shortcuts ? [{ title: screen.title, keys: screen.shortcuts }] : [],
  ),
]
