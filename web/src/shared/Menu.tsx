import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { Icon } from './Icon.tsx'
import type { IconName } from './Icon.tsx'

export type MenuItem = {
  /** The key of the item if labels are not unique. */
  readonly id?: string
  readonly label: string
  readonly icon?: IconName
  readonly danger?: boolean
  readonly act: () => void
}

/** Not modal: a modal menu locks scrolling with a style element, which the CSP forbids. */
export const Menu = ({ trigger, items }: { trigger: ReactNode; items: readonly MenuItem[] }) => (
  <DropdownMenu.Root modal={false}>
    <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
    <DropdownMenu.Portal container={document.getElementById('main')}>
      <DropdownMenu.Content
        align="end"
        sideOffset={4}
        collisionPadding={8}
        className="z-20 max-w-[calc(100vw-16px)] min-w-44 rounded-lg"
      >
        {/* Animates an inner element: while the content itself animates, Radix keeps a closed menu and its Escape handler. */}
        <div className="settle rounded-lg border border-line bg-panel p-1 shadow-raised">
          {items.map(({ id, label, icon, danger = false, act }) => (
            <DropdownMenu.Item
              key={id ?? label}
              onSelect={act}
              className={`flex h-8 cursor-pointer items-center gap-2 rounded px-2 outline-none select-none data-highlighted:bg-raised max-md:h-11 ${danger ? 'text-escalate' : ''}`}
            >
              {icon && <Icon name={icon} />}
              <span className="min-w-0 truncate">{label}</span>
            </DropdownMenu.Item>
          ))}
        </div>
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  </DropdownMenu.Root>
)
