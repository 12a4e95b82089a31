import type { ToolResults } from '#wire'
import type { Client } from '../../client.ts'
import { pages } from '../../pages.ts'
import { readSprint } from '../asking.ts'
import type { SprintBrief, StoryBrief } from '../wire.ts'
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
  const named = { project, kind: 'sprint', limit: 1000 }
  const of = ({ results }: ToolResults['worksync_search']) => results as SprintBrief[]
  const { all: sprints, last } = await pages(client, 'worksync_search', named, of)
  const sprint = asked ?? usualSprint(sprints)
  const stories = sprint === undefined ? [] : (await readSprint(client, project, sprint)).stories
  return { project, sprint, sprints, stories, isStale: (last.stale ?? []).length > 0 }
}
