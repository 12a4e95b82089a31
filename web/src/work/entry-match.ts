import type { Entry } from '../api/entry.ts'

/** Whether an entry is a change in this project, or in any if none is given. */
export const matchesProject = ({ type, subject }: Entry, project: string | undefined): boolean =>
  type.startsWith('work.') &&
  (project === undefined || subject === project || subject?.startsWith(`${project}/`) === true)

type What = 'story' | 'sprint' | 'backlog'

/** Whether items of this kind may have changed; an entry about several items has no kind. */
export function affectsKind(entry: Entry, project: string, what: What): boolean {
  const kind = entry.data?.['kind']
  return matchesProject(entry, project) && (kind === undefined || kind === what)
}

const aboutFile = new Set(['work.merged', 'work.conflict_resolved'])

export const changesProjects = ({ type }: Entry): boolean =>
  aboutFile.has(type) || type.startsWith('work.project_')

/** Whether an entry is about this story, by subject or in its list of items. */
export function matchesStory(entry: Entry, project: string, id: string): boolean {
  if (entry.subject === `${project}/${id}`) return true
  const items: unknown = entry.data?.['items']
  return matchesProject(entry, project) && Array.isArray(items) && items.includes(id)
}
