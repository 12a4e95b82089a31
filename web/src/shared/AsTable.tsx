import type { ReactNode } from 'react'
import { Sideways } from './Sideways.tsx'

type Props = { label: string; heads: readonly string[]; className?: string; children: ReactNode }

/** The numbers of a picture for those who do not see it (C11). */
export const AsTable = ({ label, heads, className = '', children }: Props) => (
  <details>
    <summary className="w-fit text-xs text-soft">As a table</summary>
    <Sideways label={label} className={`mt-1 ${className}`}>
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
    </Sideways>
  </details>
)
