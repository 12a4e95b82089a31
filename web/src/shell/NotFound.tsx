import { Link } from '@tanstack/react-router'
import { buttonClass } from '../shared/Button.tsx'
import { EmptyState } from '../shared/States.tsx'

export const NotFound = () => (
  <EmptyState icon="search" title="There is no such page">
    <p>The link may be from another version, or has a typing error.</p>
    <Link to="/inbox" className={buttonClass()}>
      Go to the Inbox
    </Link>
  </EmptyState>
)
