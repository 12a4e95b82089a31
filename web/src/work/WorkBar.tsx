import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { FindBox } from '../shared/FindBox.tsx'
import { useView } from './work-context.ts'

/** Finds in all of the project; beside it what the screen brings. */
export function WorkBar({ children }: { children?: ReactNode }) {
  const view = useView()
  const navigate = useNavigate()
  const { q: _, ...others } = view
  const find = (q: string) =>
    void navigate({ to: '.', search: { ...others, ...(q !== '' && { q }) }, replace: true })
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-5 py-2 max-md:px-4">
      <span className="flex min-w-28 flex-1 md:max-w-60">
        <FindBox what="the work" text={view.q} onFind={find} />
      </span>
      {children}
    </div>
  )
}
