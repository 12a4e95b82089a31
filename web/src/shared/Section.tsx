import type { ReactNode } from 'react'
import { SafeText } from './SafeText.tsx'

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

export const FactList = ({ children }: { children: ReactNode }) => (
  <dl className="grid grid-cols-[96px_minmax(0,1fr)] gap-x-3 gap-y-1.5">{children}</dl>
)

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-faint">{name}</dt>
    <dd className="flex min-w-0 flex-wrap items-center gap-x-2.5 break-words">{children}</dd>
  </>
)

export const Code = ({ text }: { text: string }) => (
  <SafeText as="code" className="min-w-0 font-mono text-code break-all" text={text} />
)
