import type { ReactNode } from 'react'

type Props = { title: string; lead: ReactNode; action?: ReactNode; children: ReactNode }

export const SettingsSection = ({ title, lead, action, children }: Props) => (
  <section aria-label={title}>
    <header className="flex flex-wrap items-start gap-x-4 gap-y-3 pb-4">
      <div className="min-w-60 flex-1">
        <h2 className="text-lg font-[620] tracking-[-.01em]">{title}</h2>
        <p className="max-w-130 text-pretty text-soft">{lead}</p>
      </div>
      {action}
    </header>
    {children}
  </section>
)

export const List = ({ label, children }: { label: string; children: ReactNode }) => (
  <ul aria-label={label} className="border-t border-line">
    {children}
  </ul>
)

type ItemProps = { icon: ReactNode; title: ReactNode; detail: ReactNode; children?: ReactNode }

export const Item = ({ icon, title, detail, children }: ItemProps) => (
  <li className="flex items-center gap-3 border-b border-line py-2.5">
    <span className="self-start pt-0.5 text-soft">{icon}</span>
    <div className="min-w-0 flex-1">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5 font-[550] break-words">
        {title}
      </p>
      <p className="flex flex-wrap gap-x-3 text-xs text-soft">{detail}</p>
    </div>
    {children}
  </li>
)
