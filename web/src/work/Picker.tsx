import { useId } from 'react'
import type { ReactNode } from 'react'

type Props = {
  label: string
  value: string
  onPick: (value: string) => void
  children: ReactNode
}

export function Picker({ label, value, onPick, children }: Props) {
  const id = useId()
  return (
    <span className="flex min-w-0 shrink items-center">
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <select
        id={id}
        value={value}
        onChange={(event) => onPick(event.target.value)}
        className="h-7 max-w-50 min-w-0 truncate rounded border border-edge bg-panel px-1.5 text-xs text-text max-md:h-9 max-md:text-[16px]"
      >
        {children}
      </select>
    </span>
  )
}
