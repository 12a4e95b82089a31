import { Link } from '@tanstack/react-router'
import type { LinkProps } from '@tanstack/react-router'
import { Icon } from './Icon.tsx'

type Props = Pick<LinkProps, 'to' | 'search'> & {
  label: string
  icon: 'back' | 'cross'
  className?: string
}

export const CloseLink = ({ label, icon, className = '', ...target }: Props) => (
  <Link
    {...target}
    aria-label={label}
    title={label}
    className={`grid size-8 shrink-0 place-items-center rounded text-soft hover:bg-raised hover:text-text max-md:size-11 ${className}`}
  >
    <Icon name={icon} />
  </Link>
)
