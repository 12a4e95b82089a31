import type { ReactNode } from 'react'

type Props = { label: string; as?: 'div' | 'pre'; className?: string; children: ReactNode }

/** Scrolls wide content inside its container, by keyboard too (WCAG 2.1.1). */
export const HorizontalScroll = ({ label, as: Tag = 'div', className = '', children }: Props) => (
  <Tag
    role="group"
    aria-label={label}
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    tabIndex={0}
    // `relative` keeps text for screen readers from widening the page.
    className={`scroll-thin relative overflow-auto ${className}`}
  >
    {children}
  </Tag>
)

type TableProps = {
  label: string
  heads: readonly string[]
  className?: string
  children: ReactNode
}

/** The table twin of a chart (C11). */
export const AsTable = ({ label, heads, className = '', children }: TableProps) => (
  <details>
    <summary className="w-fit text-xs text-soft">Show as table</summary>
    <HorizontalScroll label={label} className={`mt-1 ${className}`}>
      <table className="w-full text-left text-xs [&_td]:border-t [&_td]:border-line [&_td]:py-0.5 [&_td]:pr-4 [&_th]:py-0.5 [&_th]:pr-4">
        <thead className="text-faint">
          <tr>
            {heads.map((head) => (
              <th key={head} className="font-semibold">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </HorizontalScroll>
  </details>
)
