import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { Button, buttonClass } from '../shared/Button.tsx'
import { QueryState, EmptyState, Hint } from '../shared/States.tsx'
import { useCanAct } from '../settings/person.ts'
import { useRefetch } from '../api/use-entries.ts'
import { changesProjects } from './entry-match.ts'
import { withoutStory } from './view.ts'
import type { Project } from './work.ts'
import { SearchResults } from './SearchResults.tsx'
import { NewProject } from './NewProject.tsx'
import { StoryDetail } from './StoryDetail.tsx'
import { useView, Work } from './work-context.ts'
import { projectsQuery } from './work-queries.ts'
import { WorkTabs } from './WorkBar.tsx'

export function WorkPage() {
  const view = useView()
  const query = useQuery(projectsQuery)
  const { data: projects } = query
  const mayChange = useCanAct()
  useRefetch(changesProjects, projectsQuery)
  if (!projects) return <QueryState query={query} what="the work" rows={8} />
  if (projects.length === 0) return <NoProject mayChange={mayChange} />
  const shown = projects.find(({ project }) => project === (view.project ?? projects[0]?.project))
  return shown ? (
    <ProjectView project={shown} projects={projects} mayChange={mayChange} />
  ) : (
    <EmptyState icon="search" title="Project not found">
      <Link to="/work" className={buttonClass()}>
        Show first project
      </Link>
    </EmptyState>
  )
}

type Props = { project: Project; projects: readonly Project[]; mayChange: boolean }

function ProjectView({ project, projects, mayChange }: Props) {
  const view = useView()
  const navigate = useNavigate()
  const { project: name } = project
  const { story, q } = view
  useKeys(
    story === undefined
      ? {}
      : { Escape: () => void navigate({ to: '.', search: withoutStory(view) }) },
  )
  const context = useMemo(() => ({ project: name, mayChange }), [name, mayChange])
  return (
    <Work value={context}>
      <div className="flex h-full">
        <section
          aria-label="Work"
          className={`flex min-w-0 flex-1 flex-col ${story === undefined ? '' : 'max-md:hidden'}`}
        >
          <WorkTabs project={project} projects={projects} />
          {q === undefined ? (
            <Outlet />
          ) : (
            <SearchResults q={q} isEverywhere={view.project === undefined} />
          )}
        </section>
        {story !== undefined && <StoryDetail key={`${name}/${story}`} id={story} />}
      </div>
    </Work>
  )
}

function NoProject({ mayChange }: { mayChange: boolean }) {
  const [isAdding, setAdding] = useState(false)
  return (
    <EmptyState icon="work" title="No projects">
      <p>
        A project has sprints, stories and a backlog in a YAML file shared by agents and people.
      </p>
      <Hint as="p" text="Create one here, or let an agent call `worksync_register_project`." />
      {mayChange && (
        <Button icon="plus" onClick={() => setAdding(true)}>
          New project
        </Button>
      )}
      {isAdding && <NewProject onClose={() => setAdding(false)} />}
    </EmptyState>
  )
}
