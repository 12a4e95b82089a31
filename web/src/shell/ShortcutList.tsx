import { shortcuts } from './shortcuts.ts'
import { Dialog } from '../shared/Dialog.tsx'
import { Keys } from '../shared/Keys.tsx'

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
              <Keys combo={combo} />
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  ))
