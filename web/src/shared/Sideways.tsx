import type { ReactNode } from 'react'

type Props = { label: string; as?: 'div' | 'pre'; className?: string; children: ReactNode }

/** What may be wider than its place scrolls there, by keyboard too (WCAG 2.1.1). */
export const Sideways = ({ label, as: Tag = 'div', className = '', children }: Props) => (
  <Tag
    role="group"
    aria-label={label}
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    tabIndex={0}
    // Words for readers only are placed too, and must not widen the page.
    className={`scroll-thin relative overflow-auto ${className}`}
  >
    {children}
  </Tag>
)
