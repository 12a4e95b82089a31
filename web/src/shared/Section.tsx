import type { ReactNode } from 'react'

type Props = {
  title: ReactNode
  says?: string | undefined
  aside?: ReactNode
  children: ReactNode
}

export const Section = ({ title, says, aside, children }: Props) => (
  <section className="grid min-w-0 gap-2">
    <header className="flex min-h-7 items-center gap-2">
      <h3 className="text-xs font-semibold text-faint">{title}</h3>
      {says && <span className="text-xs text-faint">· {says}</span>}
      <span className="ml-auto">{aside}</span>
    </header>
    {children}
  </section>
)
