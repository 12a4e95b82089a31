import { resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { callerFromEnvironment } from '#base/config/env.ts'
import { currentFolders, expandPath } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { usage } from '../exit.ts'
import { plain } from '../plain.ts'
import { byPrefix } from '../prefix.ts'
import type { BacklogItem, Paged, ProjectBrief, Sprint, Story, StoryBrief } from './wire.ts'

export type InProject = { readonly project?: string | undefined }

/** As many as asked for, over as many pages as that takes. */
export async function pages<Page extends Paged, One>(
  ask: (cursor: string | undefined) => Promise<Page>,
  of: (page: Page) => readonly One[],
  most = Infinity,
): Promise<{ readonly all: One[]; readonly isMore: boolean; readonly stale: readonly string[] }> {
  const all: One[] = []
  for (let cursor: string | undefined; ;) {
    const page = await ask(cursor)
    all.push(...of(page))
    cursor = page.next_cursor
    if (cursor === undefined || all.length >= most)
      return { all: all.slice(0, most), isMore: cursor !== undefined, stale: page.stale ?? [] }
  }
}

export const at = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor })

export const readProjects = async (client: Client): Promise<ProjectBrief[]> =>
  (
    await pages(
      (cursor) =>
        client.call<Paged & { projects: ProjectBrief[] }>('worksync_projects', at(cursor)),
      ({ projects }) => projects,
    )
  ).all

/** The project that is meant: the one named, the only one there is, or the one whose repository this is. */
export async function projectOf(client: Client, { project: given }: InProject): Promise<string> {
  const projects = await readProjects(client)
  const names = projects.map(({ project }) => project)
  if (given !== undefined) return byPrefix(given, names, 'project')
  const [only] = names
  if (only === undefined)
    throw new CoworkError('not_found', 'There is no project yet.', {
      hint: 'Add one with `cowork work register <name>`.',
    })
  const found = names.length === 1 ? only : ownerOf(process.cwd(), projects)
  if (found !== undefined) return found
  throw usage('Say which project.', `Name it with -p: ${plain(names.slice(0, 20).join(', '))}.`)
}

/** The innermost repository that this folder lies in. */
export function ownerOf(
  folder: string,
  projects: readonly Pick<ProjectBrief, 'project' | 'repo'>[],
): string | undefined {
  const { home, cwd } = currentFolders()
  const inside = projects
    .flatMap(({ project, repo }) =>
      repo === undefined ? [] : [{ project, root: expandPath(repo, home, cwd) }],
    )
    .filter(({ root }) => `${resolve(folder)}${sep}`.startsWith(`${root}${sep}`))
    .toSorted((a, b) => b.root.length - a.root.length)
  return inside[0]?.project
}

/** An item by its id alone: ids of stories come first, then those of the backlog, then sprints. */
export type Found =
  | { readonly kind: 'story'; readonly story: Story }
  | { readonly kind: 'backlog'; readonly item: BacklogItem }
  | { readonly kind: 'sprint'; readonly sprint: Sprint; readonly stories: readonly StoryBrief[] }

export async function findItem(
  client: Client,
  project: string,
  id: string,
): Promise<Found & { readonly stale: readonly string[] }> {
  const story = await unlessMissing(readStory(client, project, id))
  if (story) return { kind: 'story', ...story }
  const listed = await unlessMissing(readBacklogItem(client, project, id))
  if (listed) return { kind: 'backlog', ...listed }
  const sprint = await unlessMissing(readSprint(client, project, id))
  if (sprint) return { kind: 'sprint', ...sprint }
  throw new CoworkError('not_found', `${plain(project)} has no ${plain(id)}.`, {
    hint: '`cowork work search <words>` finds items by their words.',
  })
}

export async function readStory(client: Client, project: string, id: string) {
  const { all, stale } = await pages(
    (cursor) =>
      client.call<Paged & { story: Story }>('worksync_get', {
        project,
        story_id: id,
        ...at(cursor),
      }),
    ({ story }) => [story],
  )
  return { story: joined(all), stale }
}

async function readBacklogItem(client: Client, project: string, id: string) {
  const { all, stale } = await pages(
    (cursor) =>
      client.call<Paged & { item: BacklogItem }>('worksync_get', {
        project,
        item_id: id,
        ...at(cursor),
      }),
    ({ item }) => [item],
  )
  return { item: joined(all), stale }
}

/** With all of its stories. */
export async function readSprint(client: Client, project: string, id: string) {
  const { all, stale } = await pages(
    (cursor) =>
      client.call<Paged & { sprint: Sprint; stories: StoryBrief[] }>('worksync_get', {
        project,
        sprint_id: id,
        limit: 1000,
        ...at(cursor),
      }),
    (page) => [page],
  )
  return {
    sprint: joined(all.map(({ sprint }) => sprint)),
    stories: all.flatMap(({ stories }) => stories),
    stale,
  }
}

const longestShort = 500

/** A long item comes in parts: its short fields are in each of them, its long ones go on from part to part (W23). */
export function joined<Item extends object>([first, ...rest]: readonly Item[]): Item {
  if (!first) throw new Error('an item was read without being there')
  const whole: Record<string, unknown> = Object.fromEntries(Object.entries(first))
  for (const part of rest)
    for (const [field, value] of Object.entries(part)) {
      const before = whole[field]
      if (typeof before === 'string' && typeof value === 'string' && before.length > longestShort)
        whole[field] = before + value
      else if (Array.isArray(before) && Array.isArray(value) && !isDeepStrictEqual(before, value))
        whole[field] = [...(before as unknown[]), ...(value as unknown[])]
      else whole[field] = value
    }
  return whole as Item
}

async function unlessMissing<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'not_found') return undefined
    throw error
  }
}

/** An agent at a terminal of its owner's says so by AGENT_ID; it is kept as a claim (W8). */
export function claimOf({ env }: Context): { readonly agent?: string } {
  const { agentId } = callerFromEnvironment(env)
  return agentId === undefined ? {} : { agent: agentId }
}

/** A file that cannot be read at present is no reason to hide what was known (W6). */
export function tellStale({ out }: Context, stale: readonly string[] = []): void {
  for (const project of stale)
    out.note(
      `The file of ${plain(project)} cannot be read at present; this is how it was before. \`cowork work projects ${plain(project)}\` says where it is broken.`,
    )
}
