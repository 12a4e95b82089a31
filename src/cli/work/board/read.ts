import type { Client } from '../../client.ts'
import { at, pages, readSprint } from '../asking.ts'
import type { Paged, SprintBrief, StoryBrief } from '../wire.ts'
import { usualSprint } from './state.ts'

export type BoardRead = {
  readonly project: string
  readonly sprint: string | undefined
  readonly sprints: readonly SprintBrief[]
  readonly stories: readonly StoryBrief[]
  readonly isStale: boolean
}

/** All sprints, and the stories of one: that which is asked for, or the one people work on. */
export async function readBoard(
  client: Client,
  project: string,
  asked: string | undefined,
): Promise<BoardRead> {
  const { all: sprints, stale } = await pages(
    (cursor) =>
      client.call<Paged & { results: SprintBrief[] }>('worksync_search', {
        project,
        kind: 'sprint',
        limit: 1000,
        ...at(cursor),
      }),
    (page) => page.results,
  )
  const sprint = asked ?? usualSprint(sprints)
  const stories = sprint === undefined ? [] : (await readSprint(client, project, sprint)).stories
  return { project, sprint, sprints, stories, isStale: stale.length > 0 }
}
