import type { ReactNode } from 'react'

type Props = { title: string; lead?: ReactNode; children: ReactNode; actions: ReactNode }

export const Step = ({ title, lead, children, actions }: Props) => (
  <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
    <div className="grid max-w-170 gap-5 px-7 pt-7 pb-12 max-md:px-4">
      <header className="grid gap-1">
        <h2 className="text-lg font-[620] tracking-[-.01em] text-balance">{title}</h2>
        {lead && <p className="text-pretty text-soft">{lead}</p>}
      </header>
      {children}
      <div className="flex flex-wrap gap-2 max-md:grid">{actions}</div>
    </div>
  </div>
)
