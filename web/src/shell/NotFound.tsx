import { Link } from '@tanstack/react-router'
import { buttonClass } from '../shared/Button.tsx'
import { EmptyState } from '../shared/States.tsx'

export const NotFound = () => (
  <EmptyState icon="search" title="Page not found">
    <p>The link may be outdated or mistyped.</p>
    <Link to="/inbox" className={buttonClass()}>
      Open Inbox
    </Link>
  </EmptyState>
)
