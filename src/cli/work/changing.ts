import type { StoryStatus } from '../choices.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { usage } from '../exit.ts'
import { plain } from '../plain.ts'
import { claimOf, findItem, projectOf } from './asking.ts'
import type { InProject } from './asking.ts'
import { givenText } from './given-text.ts'
import { wordsOf } from './item-lines.ts'
import type { BacklogItem, HistoryEntry, Sprint, Story } from './wire.ts'

type Moved = Pick<Story, 'id' | 'status' | 'sprint_id'>

/** One change of a project, and what is said of it. */
async function changing<Answer extends object>(
  context: Context,
  named: InProject,
  change: (client: Client, project: string) => Promise<Answer>,
  text: (answer: Answer, project: string) => string,
): Promise<void> {
  const client = createClient(context)
  const project = await projectOf(client, named)
  const answer = await change(client, project)
  context.out.data({ project, ...answer }, () => [plain(text(answer, project))])
}

export type BacklogFlags = InProject & {
  readonly id?: string
  readonly theme?: string
  readonly priority?: string
  /** Where its long text is. */
  readonly textFile?: string
}

export const addToBacklog = (
  context: Context,
  summary: string,
  { id, theme, priority, textFile, ...named }: BacklogFlags,
): Promise<void> =>
  changing(
    context,
    named,
    async (client, project) =>
      client.call<{ item: BacklogItem }>('worksync_add_backlog', {
        project,
        summary,
        ...given({ item_id: id, theme, priority }),
        ...(textFile !== undefined && { text: await givenText(textFile) }),
        ...claimOf(context),
      }),
    ({ item }, project) => `${item.id} is in the backlog of ${project}.`,
  )

export type StoryFlags = InProject & {
  readonly id?: string
  readonly priority?: string
  readonly estimate?: number
  readonly needs?: readonly string[]
  readonly paths?: readonly string[]
  readonly notes?: string
}

export const addStory = (
  context: Context,
  { sprint, title }: { readonly sprint: string; readonly title: string },
  { id, priority, estimate, needs, paths, notes, ...named }: StoryFlags,
): Promise<void> =>
  changing(
    context,
    named,
    (client, project) =>
      client.call<{ story: Moved }>('worksync_add_story', {
        project,
        sprint_id: sprint,
        title,
        ...given({ story_id: id, priority, estimate, depends_on: needs, paths, notes }),
        ...claimOf(context),
      }),
    ({ story }) => `${story.id} is in ${story.sprint_id}.`,
  )

export type SprintFlags = InProject & {
  readonly title?: string
  readonly status?: string
  readonly goal?: string
  readonly themes?: readonly string[]
  readonly start?: string
  readonly end?: string
}

export const createSprint = (
  context: Context,
  id: string,
  { title, status, goal, themes, start, end, ...named }: SprintFlags,
): Promise<void> =>
  changing(
    context,
    named,
    (client, project) =>
      client.call<{ sprint: Sprint }>('worksync_create_sprint', {
        project,
        sprint_id: id,
        ...given({ title, status, goal, themes, start, end }),
        ...claimOf(context),
      }),
    ({ sprint }, project) => `The sprint ${sprint.id} is ${wordsOf(sprint.status)} in ${project}.`,
  )

export const claimStory = (
  context: Context,
  id: string,
  { minutes, ...named }: InProject & { readonly minutes?: number },
): Promise<void> =>
  changing(
    context,
    named,
    (client, project) =>
      client.call<{ story: Moved; lease: { until: string }; renewed: boolean }>('worksync_claim', {
        project,
        story_id: id,
        ...(minutes !== undefined && { ttl_seconds: minutes * 60 }),
        ...claimOf(context),
      }),
    ({ story, lease, renewed }) =>
      `${story.id} is ${renewed ? 'still ' : ''}yours until ${lease.until}.`,
  )

export const releaseStory = (
  context: Context,
  id: string,
  { status, ...named }: InProject & { readonly status?: StoryStatus },
): Promise<void> =>
  changing(
    context,
    named,
    (client, project) =>
      client.call<{ story: Moved }>('worksync_release', {
        project,
        story_id: id,
        ...given({ status }),
        ...claimOf(context),
      }),
    ({ story }) => `${story.id} is nobody's, and ${wordsOf(story.status)}.`,
  )

export const finishStory = (
  context: Context,
  id: string,
  { summary, notes, ...named }: InProject & { readonly summary?: string; readonly notes?: string },
): Promise<void> =>
  changing(
    context,
    named,
    (client, project) =>
      client.call<{ story: Moved; history: HistoryEntry }>('worksync_done', {
        project,
        story_id: id,
        ...given({ summary, notes }),
        ...claimOf(context),
      }),
    ({ story, history }) => `${story.id} is done. In the history: ${history.summary}`,
  )

/** A story into another sprint, or a backlog item into one as a story (W20). */
export const moveItem = (
  context: Context,
  { id, sprint }: { readonly id: string; readonly sprint: string },
  named: InProject,
): Promise<void> =>
  changing(
    context,
    named,
    async (client, project) => {
      const found = await findItem(client, project, id)
      if (found.kind === 'sprint') throw usage('A sprint cannot be moved into a sprint.')
      return client.call<{ story: Moved }>('worksync_move', {
        project,
        [found.kind === 'story' ? 'story_id' : 'item_id']: id,
        sprint_id: sprint,
        ...claimOf(context),
      })
    },
    ({ story }) =>
      story.id === id
        ? `${story.id} is in ${story.sprint_id}.`
        : `${id} is ${story.id} in ${story.sprint_id}.`,
  )

export const commentOn = (
  context: Context,
  { id, text }: { readonly id: string; readonly text: string },
  named: InProject,
): Promise<void> =>
  changing(
    context,
    named,
    async (client, project) => {
      const found = await findItem(client, project, id)
      if (found.kind === 'sprint') throw usage('Only stories and backlog items have comments.')
      return client.call<{ id: string; comments: number }>('worksync_comment', {
        project,
        [found.kind === 'story' ? 'story_id' : 'item_id']: id,
        text,
        ...claimOf(context),
      })
    },
    ({ comments }) => `${id} has ${comments === 1 ? 'a comment' : `${comments} comments`}.`,
  )

export const removeFromBacklog = (context: Context, id: string, named: InProject): Promise<void> =>
  changing(
    context,
    named,
    (client, project) =>
      client.call<{ removed: BacklogItem }>('worksync_remove_backlog', {
        project,
        item_id: id,
        ...claimOf(context),
      }),
    ({ removed }, project) => `${removed.id} is no longer in the backlog of ${project}.`,
  )

/** What was given, and nothing else: a field that is named is changed. */
export const given = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
