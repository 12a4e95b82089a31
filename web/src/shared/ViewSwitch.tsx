import { Link } from '@tanstack/react-router'
import type { LinkProps } from '@tanstack/react-router'

type View = {
  readonly name: string
  readonly isOn: boolean
  readonly search: NonNullable<LinkProps['search']>
}
type Props = {
  label: string
  views: readonly View[]
  to?: NonNullable<LinkProps['to']>
  /** Adds no entry to the browser history. */
  replace?: boolean
  className?: string
}

/** Switches between views of a page; the URL stores the view. */
export const ViewSwitch = ({ label, views, to = '.', replace = false, className = '' }: Props) => (
  <nav
    aria-label={label}
    className={`flex shrink-0 rounded border border-line bg-panel p-0.5 ${className}`}
  >
    {views.map(({ name, isOn, search }) => (
      <Link
        key={name}
        to={to}
        search={search}
        replace={replace}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isOn ? 'page' : undefined}
        className={`rounded-sm px-2 text-xs leading-5.5 whitespace-nowrap max-md:leading-8 ${
          isOn ? 'bg-raised font-[550] text-text' : 'text-soft hover:text-text'
        }`}
      >
        {name}
      </Link>
    ))}
  </nav>
)
