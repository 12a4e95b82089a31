import type { ToolResults } from '#wire'
import { command } from '../command.ts'
import { fields, table, tableOf } from '../output.ts'
import { pages } from '../pages.ts'
import { plain } from '../plain.ts'
import { byPrefix } from '../prefix.ts'
import { countText } from '../sizes.ts'
import { projectNamed, readProjects, staleNotes } from './asking.ts'
import { claimText, titleOf, wordsOf } from './item-lines.ts'
import { itemTable } from './tables.ts'
import type { Brief, ProjectBrief, ProjectStatus, Unwritten } from './wire.ts'

/** Where the work stands, in one project or all (W10). */
export const statusCommand = command({
  usage: 'status',
  summary: 'where the work stands, in one project or all',
  async run(call) {
    const named = { project: await projectNamed(call) }
    const of = (page: ToolResults['worksync_status']) => page.projects as ProjectStatus[]
    const { all, last } = await pages(call.client, 'worksync_status', named, of)
    return { projects: all, stale: last.stale ?? [] }
  },
  show({ projects }) {
    const now = Date.now()
    return projects.length === 0
      ? noProject
      : projects.flatMap((one, at) => [...(at > 0 ? [''] : []), ...statusLines(one, now)])
  },
  notes: ({ stale }) => staleNotes(stale),
})

const noProject = 'There is no project yet: `cowork work register <name>` adds one.'

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

type Whole = ProjectBrief & { folder: string; guidance: string[]; sprint_list: Brief[] }
type Projects = { readonly projects: readonly ProjectBrief[] }

/** Which projects there are, or one of them (W11). */
export const projectsCommand = command({
  usage: 'projects [name]',
  summary: 'which there are, or one of them',
  async run({ client, args: [given] }): Promise<Projects | Whole> {
    const projects = await readProjects(client)
    if (given === undefined) return { projects }
    const names = projects.map((one) => one.project)
    const asked = { project: byPrefix(given, names, 'project') }
    const [one] = (await client.call('worksync_projects', asked)).projects
    if (!one) throw new Error('a project was asked for and none was told')
    return one as Whole
  },
  show: (found) =>
    'projects' in found
      ? tableOf(found.projects, noProject, {
          PROJECT: (one) => one.project,
          SPRINTS: (one) => one.sprints,
          STORIES: (one) => one.stories,
          BACKLOG: (one) => one.backlog,
          CONFLICTS: (one) => one.conflicts,
          ABOUT: aboutOf,
        })
      : projectLines(found),
})

function aboutOf({ broken, unwritten, description, repo }: ProjectBrief): string {
  if (broken) return 'its file cannot be read'
  return unwritten ? 'its file cannot be written' : plain(description ?? repo ?? '')
}

function projectLines(one: Whole): string[] {
  return [
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
  ]
}
