import { useNavigate, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useState, useId } from 'react'
import { useQuery } from '@tanstack/react-query'
import { SearchBox } from '../shared/FindBox.tsx'
import { useView, useWork } from './work-context.ts'
import { IconButton } from '../shared/Button.tsx'
import { Menu } from '../shared/Menu.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import type { Project } from './work.ts'
import { NewProject } from './NewProject.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Note } from '../shared/States.tsx'
import { projectQuery } from './work-queries.ts'

/** The search box of the project, with the controls of the screen. */
export function WorkBar({ children }: { children?: ReactNode }) {
  const view = useView()
  const navigate = useNavigate()
  const { q: _, ...others } = view
  const find = (q: string) =>
    void navigate({ to: '.', search: { ...others, ...(q !== '' && { q }) }, replace: true })
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-5 py-2 max-md:px-4">
      <span className="flex min-w-28 flex-1 md:max-w-60">
        <SearchBox what="the work" text={view.q} onFind={find} />
      </span>
      {children}
    </div>
  )
}

const tabs = [
  { to: '/work', name: 'Board' },
  { to: '/work/backlog', name: 'Backlog' },
  { to: '/work/conflicts', name: 'Conflicts' },
] as const

type Props = { project: Project; projects: readonly Project[] }

export function WorkTabs({ project, projects }: Props) {
  const { q: _, story: __, ...view } = useView()
  const { mayChange } = useWork()
  const navigate = useNavigate()
  const [isAdding, setAdding] = useState(false)
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-5 max-md:gap-y-0 max-md:px-2 max-md:pb-1.5">
      <nav
        aria-label="Work"
        className="flex min-w-0 flex-1 gap-1 overflow-x-auto [scrollbar-width:none] max-md:basis-full"
      >
        {tabs.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            search={view}
            activeOptions={{ exact: true, includeSearch: false }}
            className="flex h-10 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-soft -outline-offset-2 hover:text-text aria-[current=page]:border-text aria-[current=page]:font-[550] aria-[current=page]:text-text max-md:h-11"
          >
            {name}
            {to === '/work/conflicts' && project.conflicts > 0 && (
              <span className="text-xs font-[550] text-escalate">{project.conflicts}</span>
            )}
          </Link>
        ))}
      </nav>
      <Picker
        label="Project"
        value={project.project}
        onPick={(name) => void navigate({ to: '.', search: { project: name } })}
      >
        {projects.map(({ project: name }) => (
          <option key={name} value={name}>
            {sanitizeText(name)}
          </option>
        ))}
      </Picker>
      {mayChange && (
        <Menu
          trigger={<IconButton icon="more" label="Project actions" />}
          items={[{ label: 'New project', icon: 'plus', act: () => setAdding(true) }]}
        />
      )}
      {isAdding && <NewProject onClose={() => setAdding(false)} />}
    </div>
  )
}

type PickerProps = {
  label: string
  value: string
  onPick: (value: string) => void
  children: ReactNode
}

export function Picker({ label, value, onPick, children }: PickerProps) {
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

/**
 * Tells that the file is invalid, so that its last valid version is shown and changes are refused
 * (W6).
 */
export function StaleNote() {
  const { project } = useWork()
  const known = useQuery(projectQuery(project)).data
  const [problem] = known?.broken ?? []
  return (
    <div role="status" className="px-5 pt-3 max-md:px-4">
      <Note tone="escalate" icon="warn">
        <p>The file of this project is invalid. This is the last valid version.</p>
        {known && problem && (
          <p className="text-soft">
            <SafeText as="span" className="break-all" text={`${known.folder}/work-index.yaml`} />,
            line {problem.line}, column {problem.column}: <SafeText text={problem.message} />. Fix
            the file to enable changes.
          </p>
        )}
      </Note>
    </div>
  )
}
