import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { ToolName } from '#wire'
import { get, call } from '../api/client.ts'
import type { Entry } from '../api/entry.ts'
import { mergeParts } from './text-part.ts'
import { matchesStory } from './entry-match.ts'
import type {
  BacklogItem,
  BacklogWhole,
  Card,
  Conflict,
  ConflictBrief,
  Hit,
  Project,
  ProjectDetail,
  Sprint,
  Story,
} from './work.ts'

/** Files can be edited outside cowork, so refetch on focus; the read imports the edits. */
const alwaysRefetch = { staleTime: 0, refetchOnWindowFocus: 'always' } as const

type Paged = { readonly next_cursor?: string; readonly stale?: readonly string[] }
/** Replies are short (W23), so a list has up to this many pages; search finds the rest. */
const maxPages = 20

async function fetchPages<Page extends Paged>(
  tool: ToolName,
  args: object,
  limit = maxPages,
): Promise<readonly Page[]> {
  const pages: Page[] = []
  for (let cursor: string | undefined; pages.length < limit;) {
    const page = await callWork<Page>(tool, { ...args, ...(cursor !== undefined && { cursor }) })
    pages.push(page)
    cursor = page.next_cursor
    if (cursor === undefined) break
  }
  return pages
}

export const projectsQuery = queryOptions({
  ...alwaysRefetch,
  queryKey: ['work', 'projects'],
  queryFn: async () =>
    (await fetchPages<Paged & { projects: readonly Project[] }>('worksync_projects', {})).flatMap(
      ({ projects }) => projects,
    ),
})

/** All queries of a project share a key prefix. */
const workQuery = <Data>(
  project: string,
  key: readonly unknown[],
  queryFn: (context: { readonly signal: AbortSignal }) => Promise<Data>,
) => queryOptions({ ...alwaysRefetch, queryKey: ['work', 'of', project, ...key], queryFn })

export const projectQuery = (project: string) =>
  workQuery(project, ['project'], async () => {
    const args = { project }
    const found = await callWork<{ projects: readonly ProjectDetail[] }>('worksync_projects', args)
    return found.projects[0] ?? null
  })

type SearchPage = Paged & { readonly results: readonly Hit[]; readonly total: number }

const fetchList = (project: string, kind: Hit['kind']) =>
  fetchPages<SearchPage>('worksync_search', { project, kind, limit: 1000 })

export const sprintsQuery = (project: string) =>
  workQuery(project, ['sprints'], async (): Promise<readonly Sprint[]> =>
    (await fetchList(project, 'sprint'))
      .flatMap(({ results }) => results)
      .filter((hit) => hit.kind === 'sprint'),
  )

export const backlogQuery = (project: string) =>
  workQuery(project, ['backlog'], async () => {
    const pages = await fetchList(project, 'backlog')
    const items: readonly BacklogItem[] = pages
      .flatMap(({ results }) => results)
      .filter((hit) => hit.kind === 'backlog')
    return { items, isWhole: !pages.at(-1)?.next_cursor, isStale: isStale(pages) }
  })

/** More parts than the longest text can have. */
const maxParts = 200

/** Queries an item with its full text: editing a part would lose the rest. */
export const itemQuery = (project: string, id: string) =>
  workQuery(project, ['item', id], async (): Promise<BacklogWhole> => {
    const args = { project, item_id: id }
    const parts = await fetchPages<Paged & { item: BacklogWhole }>('worksync_get', args, maxParts)
    if (parts.at(-1)?.next_cursor !== undefined)
      throw new Error('The text is too long to show. Open its file instead.')
    return mergeParts(parts.map(({ item }) => item))
  })

export type BoardData = {
  readonly sprint: Sprint
  readonly stories: readonly Card[]
  /** False if there are more stories than shown. */
  readonly isWhole: boolean
  /** The file is invalid; this is its last valid version. */
  readonly isStale: boolean
}
type BoardPage = Paged & { readonly sprint: Sprint; readonly stories: readonly Card[] }

const isStale = (pages: readonly Paged[]) => pages.some(({ stale }) => stale !== undefined)

export const boardQuery = (project: string, sprint: string) =>
  workQuery(project, ['board', sprint], async (): Promise<BoardData> => {
    const args = { project, sprint_id: sprint, limit: 1000 }
    const pages = await fetchPages<BoardPage>('worksync_get', args)
    return {
      sprint: (pages[0] as BoardPage).sprint,
      stories: pages.flatMap(({ stories }) => stories),
      isWhole: !pages.at(-1)?.next_cursor,
      isStale: isStale(pages),
    }
  })

export const storyQuery = (project: string, id: string) =>
  workQuery(project, ['story', id], async () => {
    const args = { project, story_id: id }
    const parts = await fetchPages<Paged & { story: Story }>('worksync_get', args)
    return mergeParts(parts.map(({ story }) => story))
  })

const historyShown = 30

/** Queries the ledger entries about a story, newest first, including imported file edits. */
export const storyHistoryQuery = (project: string, id: string) =>
  workQuery(project, ['history', id], async ({ signal }): Promise<readonly Entry[]> => {
    // The JSON form at the end of a subject or in a list, so that STORY-1 does not match STORY-10.
    const q = JSON.stringify(id).slice(1)
    const query = { type: ['work.'], domain: 'work', newest: true, limit: 200, q }
    const { entries } = await get('/api/ledger', query, signal)
    return entries
      .filter((entry) => matchesStory(entry, project, id))
      .toReversed()
      .slice(0, historyShown)
  })

type Status = { readonly conflicts: readonly ConflictBrief[] }

export const conflictsQuery = (project: string) =>
  workQuery(project, ['conflicts'], async () => {
    const { projects } = await callWork<{ projects: readonly Status[] }>('worksync_status', {
      project,
    })
    return projects[0]?.conflicts ?? []
  })

type ConflictPart = Paged & {
  readonly conflict: Conflict
  /** The kind of the item; absent for the entire file. */
  readonly about?: 'story' | 'sprint' | 'backlog'
}

/** Both sides of a conflict are immutable. */
export const conflictQuery = (project: string, id: string) => ({
  ...workQuery(project, ['conflict', id], async () => {
    const parts = await fetchPages<ConflictPart>('worksync_get', { project, conflict_id: id })
    const conflict = mergeParts(parts.map((part) => part.conflict))
    return { conflict, about: parts[0]?.about }
  }),
  staleTime: Infinity,
  refetchOnWindowFocus: false,
})

export const findQuery = (project: string | undefined, q: string) =>
  infiniteQueryOptions({
    ...alwaysRefetch,
    queryKey: ['work', 'find', project, q],
    queryFn: ({ pageParam: cursor }) =>
      callWork<SearchPage>('worksync_search', {
        query: q,
        ...(project !== undefined && { project }),
        ...(cursor !== undefined && { cursor }),
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
  })

/** Calls a work tool. The output schemas are loose (FT9); `work.ts` has the item types. */
export const callWork = async <Output>(tool: ToolName, args: object): Promise<Output> =>
  (await call(tool, args)) as Output
