import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readCallerEnvironment, currentFolders, expandPath } from '#base/config/env.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { usageError } from '../exit.ts'
import { resolvePrefix, moreNotes, readPages } from '../lookup.ts'
import { sanitize } from '../output.ts'
import type { BacklogItem, ProjectBrief, Sprint, Story, StoryBrief } from './wire.ts'

type ProjectOption = { readonly project?: string | undefined }

/** A call of a `work` command; the group takes the project option for all of its commands. */
type ProjectCall = { readonly client: Client; readonly options: object }

export const readProjects = async (client: Client): Promise<ProjectBrief[]> =>
  (await readPages(client, 'worksync_projects', {}, ({ projects }) => projects as ProjectBrief[]))
    .all

/**
 * Resolves the project: the given one, the only one, or the one whose repository contains the
 * current folder.
 */
export async function resolveProject({ client, options }: ProjectCall): Promise<string> {
  const { project: requested }: ProjectOption = options
  const projects = await readProjects(client)
  const names = projects.map(({ project }) => project)
  if (requested !== undefined) return resolvePrefix(requested, names, 'project')
  const [only] = names
  if (only === undefined)
    throw new CoworkError('not_found', 'No projects.', {
      hint: 'Add one with `cowork work register <name>`.',
    })
  const project = names.length === 1 ? only : findOwningProject(process.cwd(), projects)
  if (project !== undefined) return project
  throw usageError(
    'Project required.',
    `Choose one with -p: ${sanitize(names.slice(0, 20).join(', '))}.`,
  )
}

/** Resolves the project option for commands that default to all projects. */
export async function resolveProjectOption(request: ProjectCall): Promise<string | undefined> {
  const { project }: ProjectOption = request.options
  return project === undefined ? undefined : resolveProject(request)
}

export function findOwningProject(
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

/** An item found by its id: stories first, then backlog items, then sprints. */
export type FoundItem =
  | { readonly kind: 'story'; readonly story: Story }
  | { readonly kind: 'backlog'; readonly item: BacklogItem }
  | { readonly kind: 'sprint'; readonly sprint: Sprint; readonly stories: readonly StoryBrief[] }

export async function findItem(
  client: Client,
  project: string,
  id: string,
): Promise<FoundItem & { readonly stale: readonly string[] }> {
  const story = await undefinedIfMissing(readStory(client, project, id))
  if (story) return { kind: 'story', ...story }
  const backlogItem = await undefinedIfMissing(readBacklogItem(client, project, id))
  if (backlogItem) return { kind: 'backlog', ...backlogItem }
  const sprint = await undefinedIfMissing(readSprint(client, project, id))
  if (sprint) return { kind: 'sprint', ...sprint }
  throw new CoworkError('not_found', `Not found: ${sanitize(id)} in ${sanitize(project)}.`, {
    hint: 'Search for the item with `cowork work search <words>`.',
  })
}

async function readParts<Part extends object>(client: Client, project: string, ids: object) {
  const of = (page: object) => [page as Part]
  const { all, last } = await readPages(client, 'worksync_get', { project, ...ids }, of)
  return { all, stale: last.stale ?? [] }
}

export async function readStory(client: Client, project: string, id: string) {
  const { all, stale } = await readParts<{ story: Story }>(client, project, { story_id: id })
  return { story: mergeParts(all.map(({ story }) => story)), stale }
}

async function readBacklogItem(client: Client, project: string, id: string) {
  const { all, stale } = await readParts<{ item: BacklogItem }>(client, project, { item_id: id })
  return { item: mergeParts(all.map(({ item }) => item)), stale }
}

export async function readSprint(client: Client, project: string, id: string) {
  const named = { sprint_id: id, limit: 1000 }
  type Part = { sprint: Sprint; stories: StoryBrief[] }
  const { all, stale } = await readParts<Part>(client, project, named)
  return {
    sprint: mergeParts(all.map(({ sprint }) => sprint)),
    stories: all.flatMap(({ stories }) => stories),
    stale,
  }
}

const maxShortFieldLength = 500

/**
 * Merges the parts of a long item: short fields are in each part, long fields continue from part to
 * part (W23).
 */
export function mergeParts<Item extends object>([first, ...rest]: readonly Item[]): Item {
  if (!first) throw new Error('the daemon returned no part of the item')
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(first))
  for (const part of rest)
    for (const [field, value] of Object.entries(part)) {
      const before = merged[field]
      if (
        typeof before === 'string' &&
        typeof value === 'string' &&
        before.length > maxShortFieldLength
      )
        merged[field] = before + value
      else if (Array.isArray(before) && Array.isArray(value) && !isDeepStrictEqual(before, value))
        merged[field] = [...(before as unknown[]), ...(value as unknown[])]
      else merged[field] = value
    }
  return merged as Item
}

async function undefinedIfMissing<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'not_found') return undefined
    throw error
  }
}

/**
 * Reads AGENT_ID, by which an agent in its owner's terminal identifies itself; it is recorded as a
 * claim (W8).
 */
export function readAgentClaim({ env }: Context): { readonly agent?: string } {
  const { agentId } = readCallerEnvironment(env)
  return agentId === undefined ? {} : { agent: agentId }
}

/** Notes that an item comes from the last valid version of an invalid file (W6). */
export const staleNotes = (stale: readonly string[] = []): string[] =>
  stale
    .map(sanitize)
    .map(
      (project) =>
        `The file of ${project} is invalid; this is the last valid version. See \`cowork work projects ${project}\` for the error.`,
    )

type Part = { readonly isMore: boolean; readonly stale: readonly string[] }

export const listNotes = ({ isMore, stale }: Part): string[] => [
  ...moreNotes(isMore),
  ...staleNotes(stale),
]

/** The limit of the daemon. */
export const maxTextBytes = 256_000

/** Reads the text of a backlog item from a file or, with `-`, from stdin (W25). */
export async function readTextInput(file: string): Promise<string> {
  const name = file === '-' ? 'stdin' : sanitize(file)
  const content = await readLimited(file === '-' ? process.stdin : createReadStream(file), name)
  // Empty input from a failed program in a pipe must not delete the text.
  if (content.length === 0)
    throw usageError(
      `Empty input: ${name}.`,
      'To delete the text, use `cowork work set <id> --clear text`.',
    )
  if (!isUtf8(content)) throw usageError(`Not valid UTF-8: ${name}.`, 'Save the file as UTF-8.')
  return content.toString('utf8')
}

async function readLimited(source: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of source) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxTextBytes) break
    }
  } catch (error) {
    throw usageError(
      `Cannot read ${name}: ${errorMessage(error)}.`,
      'Name a file, or `-` for stdin.',
    )
  }
  if (bytes <= maxTextBytes) return Buffer.concat(chunks)
  throw new CoworkError('too_large', `${name} has more than ${maxTextBytes} bytes.`, {
    hint: 'Move part of the text to a file in the repository and name the file in the text.',
  })
}
