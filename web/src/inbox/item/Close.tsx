import { Link } from '@tanstack/react-router'
import { Icon } from '../../shared/Icon.tsx'

export const Close = ({ label, icon }: { label: string; icon: 'back' | 'cross' }) => (
  <Link
    to="/inbox"
    search={true}
    aria-label={label}
    title={label}
    className="grid size-8 shrink-0 place-items-center rounded text-soft hover:bg-raised hover:text-text max-md:size-11"
  >
    <Icon name={icon} />
  </Link>
)
