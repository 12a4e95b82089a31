import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { fields, table } from '../output.ts'
import { plain } from '../plain.ts'
import { byPrefix } from '../prefix.ts'
import { countText } from '../sizes.ts'
import { at, pages, projectOf, readProjects, tellStale } from './asking.ts'
import type { InProject } from './asking.ts'
import { claimText, titleOf, wordsOf } from './item-lines.ts'
import { itemTable } from './tables.ts'
import type { Brief, Paged, ProjectBrief, ProjectStatus, Unwritten } from './wire.ts'

/** Where the work stands, in one project or all (W10). */
export async function workStatus(context: Context, { project }: InProject): Promise<void> {
  const client = createClient(context)
  const named = project === undefined ? {} : { project: await projectOf(client, { project }) }
  const { all, stale } = await pages(
    (cursor) =>
      client.call<Paged & { projects: ProjectStatus[] }>('worksync_status', {
        ...named,
        ...at(cursor),
      }),
    (page) => page.projects,
  )
  const now = Date.now()
  context.out.data({ projects: all, stale }, () =>
    all.length === 0
      ? ['There is no project yet: `cowork work register <name>` adds one.']
      : all.flatMap((one, place) => [...(place > 0 ? [''] : []), ...statusLines(one, now)]),
  )
  tellStale(context, stale)
}

function statusLines(status: ProjectStatus, now: number): string[] {
  const { counts, active_sprints: sprints, in_progress: doing, conflicts } = status
  const rows = [
    ...sprints.map((one) => ['sprint', one.id, titleOf(one), `${one.done} of ${one.stories} done`]),
    ...doing.map((story) => [
      'doing',
      story.id,
      titleOf(story),
      story.claimed_by === undefined ? '' : claimText(story.claimed_by, story.until ?? '', now),
    ]),
    ...status.backlog_in_progress.map((item) => ['backlog', item.id, titleOf(item), '']),
    ...conflicts.map(({ id, item, field }) => ['conflict', id, `${item} ${field}`, '']),
  ]
  const open = Object.entries(counts.stories).map(([name, count]) => `${count} ${wordsOf(name)}`)
  const waiting = Object.entries(counts.backlog)
    .filter(([name]) => name !== 'done')
    .reduce((sum, [, count]) => sum + count, 0)
  const facts = [
    open.join(', ') || 'no stories',
    `${counts.ready} ready`,
    `${waiting} in the backlog`,
    ...(conflicts.length > 0 ? [countText(conflicts.length, 'conflict')] : []),
  ]
  const cells = rows.map((row) => row.map(plain))
  return [
    `${plain(status.project)}  ${facts.join(' · ')}`,
    ...table(['', '', '', ''], cells)
      .slice(1)
      .map((line) => `  ${line}`),
    ...unwrittenLines(status.unwritten).map((line) => `  ${line}`),
  ]
}

const unwrittenLines = (fault: Unwritten | undefined): string[] =>
  fault ? [`not in the file since ${fault.since}: ${plain(fault.message)}`] : []

/** Which projects there are, or one of them (W11). */
export async function workProjects(context: Context, given: string | undefined): Promise<void> {
  const client = createClient(context)
  const projects = await readProjects(client)
  if (given !== undefined) {
    const names = projects.map((one) => one.project)
    return showProject(context, byPrefix(given, names, 'project'))
  }
  context.out.data({ projects }, () =>
    projects.length === 0
      ? ['There is no project yet: `cowork work register <name>` adds one.']
      : table(
          ['PROJECT', 'SPRINTS', 'STORIES', 'BACKLOG', 'CONFLICTS', 'ABOUT'],
          projects.map((one) => [
            plain(one.project),
            one.sprints,
            one.stories,
            one.backlog,
            one.conflicts,
            aboutOf(one),
          ]),
        ),
  )
}

function aboutOf({ broken, unwritten, description, repo }: ProjectBrief): string {
  if (broken) return 'its file cannot be read'
  return unwritten ? 'its file cannot be written' : plain(description ?? repo ?? '')
}

async function showProject(context: Context, project: string): Promise<void> {
  type Whole = ProjectBrief & { folder: string; guidance: string[]; sprint_list: Brief[] }
  const { projects } = await createClient(context).call<{ projects: Whole[] }>(
    'worksync_projects',
    { project },
  )
  const [one] = projects
  if (!one) throw new Error('a project was asked for and none was told')
  context.out.data(one, () => [
    ...fields({
      project: plain(one.project),
      about: one.description && plain(one.description),
      repository: one.repo && plain(one.repo),
      folder: plain(one.folder),
      holds: `${countText(one.sprints, 'sprint')}, ${one.stories} stories, ${one.backlog} in the backlog, ${countText(one.conflicts, 'conflict')}`,
      guidance: plain(one.guidance.join(', ')) || 'none',
    }),
    ...(one.broken ?? []).map(
      ({ line, column, message }) => `broken at ${line}:${column}: ${plain(message)}`,
    ),
    ...unwrittenLines(one.unwritten),
    ...(one.sprint_list.length === 0 ? [] : ['', ...itemTable(one.sprint_list)]),
  ])
}
