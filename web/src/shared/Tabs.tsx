import { Link } from '@tanstack/react-router'
import type { LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'

type Tab = {
  readonly to: NonNullable<LinkProps['to']>
  readonly name: string
  /** A mark after the name, such as `draft`. */
  readonly mark?: ReactNode
}

export const Tabs = ({ label, tabs }: { label: string; tabs: readonly Tab[] }) => (
  <nav
    aria-label={label}
    className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-5 [scrollbar-width:none] max-md:px-2"
  >
    {tabs.map(({ to, name, mark }) => (
      <Link
        key={to}
        to={to}
        activeOptions={{ exact: true, includeSearch: false }}
        className="flex h-10 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-soft -outline-offset-2 hover:text-text aria-[current=page]:border-text aria-[current=page]:font-[550] aria-[current=page]:text-text max-md:h-11"
      >
        {name}
        {mark}
      </Link>
    ))}
  </nav>
)
