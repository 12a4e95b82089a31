import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useIsOwner } from '../settings/person.ts'
import { Icon } from '../shared/Icon.tsx'
import { setupSeen } from './setup-visit.ts'
import { nextStep, steps } from './setup.ts'
import type { StepId } from './setup.ts'
import { ClientsStep } from './ClientsStep.tsx'
import { FoldersStep } from './FoldersStep.tsx'
import { NotificationsStep } from './NotificationsStep.tsx'
import { PracticeStep } from './PracticeStep.tsx'
import { WorkspaceStep } from './WorkspaceStep.tsx'

const route = getRouteApi('/welcome')

export type StepProps = { readonly onNext: () => void }

const pages: Record<StepId, (props: StepProps) => React.ReactNode> = {
  workspace: WorkspaceStep,
  folders: FoldersStep,
  clients: ClientsStep,
  notices: NotificationsStep,
  practice: PracticeStep,
}

/** Five setup steps that can be skipped and repeated (C9). */
export function SetupPage() {
  const { step = 'workspace' } = route.useSearch()
  const navigate = useNavigate()
  const isOwner = useIsOwner()
  const heading = useRef<HTMLParagraphElement>(null)
  const at = steps.findIndex(({ id }) => id === step)
  const Page = pages[step]
  useEffect(() => {
    setupSeen.set()
    heading.current?.focus()
  }, [step])
  const next = () => {
    const after = nextStep(step)
    void (after === undefined
      ? navigate({ to: '/inbox' })
      : navigate({ to: '/welcome', search: { step: after } }))
  }
  return (
    <section aria-label="Setup" className="flex h-full flex-col">
      <header className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-7 py-2.5 max-md:px-4">
        <p ref={heading} tabIndex={-1} className="text-xs text-faint outline-none">
          Step {at + 1} of {steps.length}
        </p>
        <Progress />
        <Link
          to="/inbox"
          className="ml-auto rounded px-2 py-1 text-xs text-soft hover:bg-raised hover:text-text"
        >
          Exit
        </Link>
      </header>
      {isOwner || step === 'notices' ? (
        <Page onNext={next} />
      ) : (
        <p className="px-7 py-6 text-soft">Only owners can change this setup.</p>
      )}
    </section>
  )
}

const Progress = () => (
  <nav aria-label="Steps" className="max-md:order-last max-md:basis-full">
    <ol className="flex flex-wrap items-center gap-x-1 text-xs">
      {steps.map(({ id, name }, place) => (
        <li key={id} className="flex items-center gap-1">
          {place > 0 && <Icon name="right" size={12} className="text-faint" />}
          <Link
            to="/welcome"
            search={id === 'workspace' ? {} : { step: id }}
            activeOptions={{ exact: true, includeSearch: true }}
            className="rounded-sm py-1 text-soft hover:text-text aria-[current=page]:font-[550] aria-[current=page]:text-text"
          >
            {name}
          </Link>
        </li>
      ))}
    </ol>
  </nav>
)
