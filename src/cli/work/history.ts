import type { ToolResults } from '#wire'
import { itemKinds } from '../choices.ts'
import type { Client } from '../client.ts'
import { choice, command, linesOption, list, text } from '../command.ts'
import type { Values } from '../command.ts'
import { resolvePrefix, readPages } from '../lookup.ts'
import { pluralize, formatFields, sanitize, formatTable, formatRows } from '../output.ts'
import { fitToTerminal } from '../inbox/lines.ts'
import {
  readAgentClaim,
  findItem,
  listNotes,
  resolveProjectOption,
  resolveProject,
  readProjects,
  staleNotes,
} from './requests.ts'
import {
  formatClaim,
  historyLine,
  itemLines,
  itemTable,
  formatTitle,
  formatWorkStatus,
} from './item-lines.ts'
import type {
  ItemSummary,
  HistoryEntry,
  ProjectBrief,
  ProjectStatus,
  WriteFailure,
} from './wire.ts'

const sprint = () => text('--sprint <id>', 'filter by sprint')

const filters = (lines: number) => ({
  kind: choice('--kind <kind>', 'filter by kind', itemKinds),
  sprint: sprint(),
  status: text('--status <status>', 'filter by status'),
  lines: linesOption(lines),
})

type ListCall = {
  readonly client: Client
  readonly args: readonly string[]
  readonly options: Values<ReturnType<typeof filters>>
}
type Listing = { items: ItemSummary[]; stale: readonly string[]; isMore: boolean }

/** Lists or searches items, in the project of the option or in all projects. */
const listing = {
  async run(call: ListCall): Promise<Listing> {
    const { client, args, options } = call
    const query = {
      query: args.join(' '),
      project: await resolveProjectOption(call),
      kind: options.kind,
      sprint_id: options.sprint,
      status: options.status?.replaceAll('-', '_'),
      limit: Math.min(options.lines, 1000),
    }
    const of = (page: ToolResults['worksync_search']) => page.results as ItemSummary[]
    const result = await readPages(client, 'worksync_search', query, of, options.lines)
    return { items: result.all, stale: result.last.stale ?? [], isMore: result.isMore }
  },
  json: ({ items, stale }: Listing) => ({ items, stale }),
  show: ({ items }: Listing) => (items.length === 0 ? 'No items.' : itemTable(items)),
  notes: listNotes,
}

export const listingCommands = [
  command({
    usage: 'list',
    summary: 'list stories, backlog items and sprints',
    options: filters(100),
    ...listing,
  }),
  command({
    usage: 'search <words...>',
    summary: 'search stories, backlog items and sprints',
    options: filters(50),
    ...listing,
  }),
  // The most urgent first (W20).
  command({
    usage: 'ready',
    summary: 'list ready stories by priority',
    options: { sprint: sprint(), lines: linesOption(20) },
    async run(call) {
      const { lines } = call.options
      const project = await resolveProject(call)
      const query = { project, sprint_id: call.options.sprint, limit: Math.min(lines, 1000) }
      const of = (page: ToolResults['worksync_ready']) => page.stories as ItemSummary[]
      const { all, isMore, last } = await readPages(call.client, 'worksync_ready', query, of, lines)
      return { project, stories: all, stale: last.stale ?? [], isMore }
    },
    json: ({ project, stories, stale }) => ({ project, stories, stale }),
    show: ({ stories }) => (stories.length === 0 ? 'No ready stories.' : itemTable(stories)),
    notes: listNotes,
  }),
  command({
    usage: 'show <id>',
    summary: 'show a story, backlog item or sprint',
    async run(call) {
      const project = await resolveProject(call)
      return { project, ...(await findItem(call.client, project, call.args[0])) }
    },
    show: (found) => fitToTerminal(itemLines(found, Date.now())),
    notes: ({ stale }) => staleNotes(stale),
  }),
]

type Appended = { readonly project: string; readonly appended: HistoryEntry }
type History = {
  readonly project: string
  readonly history: readonly HistoryEntry[]
  readonly stale: readonly string[]
  readonly isMore: boolean
}

export const readingCommands = [
  // With --add, appends an entry (W17).
  command({
    usage: 'history',
    summary: 'show the history, newest first',
    options: {
      add: text('--add <text>', 'add this entry'),
      sprint: list('--sprint <ids...>', 'with --add: related sprints'),
      lines: linesOption(50),
    },
    async run(call): Promise<Appended | History> {
      const { client, options } = call
      const { add: summary, sprint, lines } = options
      const project = await resolveProject(call)
      if (summary !== undefined) {
        const query = {
          project,
          summary,
          related_sprints: sprint,
          limit: 1,
          ...readAgentClaim(call),
        }
        const { appended } = await client.call('worksync_history', query)
        if (!appended) throw new Error('the daemon returned no history entry')
        return { project, appended }
      }
      const query = { project, limit: Math.min(lines, 1000) }
      const of = (page: ToolResults['worksync_history']) => page.history as HistoryEntry[]
      const { all, isMore, last } = await readPages(client, 'worksync_history', query, of, lines)
      return { project, history: all, stale: last.stale ?? [], isMore }
    },
    json: (found) =>
      'appended' in found
        ? found
        : { project: found.project, history: found.history, stale: found.stale },
    show(found) {
      if ('appended' in found) return fitToTerminal([historyLine(found.appended)])
      const { history } = found
      return history.length === 0 ? 'No history.' : fitToTerminal(history.map(historyLine))
    },
    notes: (found) => ('appended' in found ? [] : listNotes(found)),
  }),
  // Guidance for agents (W19).
  command({
    usage: 'guidance [topic]',
    summary: 'show the guidance for agents',
    async run(call) {
      const query = { topic: call.args[0], project: await resolveProjectOption(call) }
      const of = (page: ToolResults['worksync_guidance']) => page.guidance
      const { all, last } = await readPages(call.client, 'worksync_guidance', query, of)
      // The daemon splits long texts.
      const texts = new Map<string, string>()
      for (const { name, text: chunk } of all) texts.set(name, (texts.get(name) ?? '') + chunk)
      const guidance = [...texts].map(([name, whole]) => ({ name, text: whole }))
      return { guidance, topics: last.topics, faults: last.faults ?? [] }
    },
    show: ({ guidance, topics }) =>
      guidance.length === 0
        ? `No guidance found. Topics: ${topics.join(', ')}.`
        : guidance.flatMap(({ text }, at) => [
            ...(at > 0 ? [''] : []),
            ...text.trimEnd().split('\n').map(sanitize),
          ]),
    notes: ({ faults }) =>
      faults.map(({ name, message }) => sanitize(`Cannot load ${name}: ${message}`)),
  }),
]

/** Shows the work status of one or all projects (W10). */
export const statusCommand = command({
  usage: 'status',
  summary: 'show the work status of one or all projects',
  async run(call) {
    const named = { project: await resolveProjectOption(call) }
    const of = (page: ToolResults['worksync_status']) => page.projects as ProjectStatus[]
    const { all, last } = await readPages(call.client, 'worksync_status', named, of)
    return { projects: all, stale: last.stale ?? [] }
  },
  show({ projects }) {
    const now = Date.now()
    return projects.length === 0
      ? noProjectsMessage
      : projects.flatMap((one, at) => [...(at > 0 ? [''] : []), ...statusLines(one, now)])
  },
  notes: ({ stale }) => staleNotes(stale),
})

const noProjectsMessage = 'No projects. Add one with `cowork work register <name>`.'

function statusLines(status: ProjectStatus, now: number): string[] {
  const { counts, active_sprints: sprints, in_progress: doing, conflicts } = status
  const rows = [
    ...sprints.map((one) => [
      'sprint',
      one.id,
      formatTitle(one),
      `${one.done} of ${one.stories} done`,
    ]),
    ...doing.map((story) => [
      'story',
      story.id,
      formatTitle(story),
      story.claimed_by === undefined ? '' : formatClaim(story.claimed_by, story.until ?? '', now),
    ]),
    ...status.backlog_in_progress.map((item) => ['backlog', item.id, formatTitle(item), '']),
    ...conflicts.map(({ id, item, field }) => ['conflict', id, `${item} ${field}`, '']),
  ]
  const storyCounts = Object.entries(counts.stories).map(
    ([name, count]) => `${count} ${formatWorkStatus(name)}`,
  )
  const openBacklogCount = Object.entries(counts.backlog)
    .filter(([name]) => name !== 'done')
    .reduce((sum, [, count]) => sum + count, 0)
  const facts = [
    storyCounts.join(', ') || 'no stories',
    `${counts.ready} ready`,
    `${openBacklogCount} in the backlog`,
    ...(conflicts.length > 0 ? [pluralize(conflicts.length, 'conflict')] : []),
  ]
  const cells = rows.map((row) => row.map(sanitize))
  return [
    `${sanitize(status.project)}  ${facts.join(' · ')}`,
    ...formatTable(['', '', '', ''], cells)
      .slice(1)
      .map((line) => `  ${line}`),
    ...unwrittenLines(status.unwritten).map((line) => `  ${line}`),
  ]
}

const unwrittenLines = (failure: WriteFailure | undefined): string[] =>
  failure ? [`file not written since ${failure.since}: ${sanitize(failure.message)}`] : []

type ProjectDetail = ProjectBrief & {
  folder: string
  guidance: string[]
  sprint_list: ItemSummary[]
}
type Projects = { readonly projects: readonly ProjectBrief[] }

/** Lists the projects or shows one (W11). */
export const projectsCommand = command({
  usage: 'projects [name]',
  summary: 'list projects, or show one',
  async run({ client, args: [given] }): Promise<Projects | ProjectDetail> {
    const projects = await readProjects(client)
    if (given === undefined) return { projects }
    const names = projects.map((project) => project.project)
    const asked = { project: resolvePrefix(given, names, 'project') }
    const [one] = (await client.call('worksync_projects', asked)).projects
    if (!one) throw new Error('the daemon returned no project')
    return one as ProjectDetail
  },
  show: (found) =>
    'projects' in found
      ? formatRows(found.projects, noProjectsMessage, {
          PROJECT: (one) => one.project,
          SPRINTS: (one) => one.sprints,
          STORIES: (one) => one.stories,
          BACKLOG: (one) => one.backlog,
          CONFLICTS: (one) => one.conflicts,
          ABOUT: describeProject,
        })
      : projectLines(found),
})

function describeProject({ broken, unwritten, description, repo }: ProjectBrief): string {
  if (broken) return 'file invalid'
  return unwritten ? 'file not written' : sanitize(description ?? repo ?? '')
}

function projectLines(one: ProjectDetail): string[] {
  return [
    ...formatFields({
      project: sanitize(one.project),
      about: one.description && sanitize(one.description),
      repository: one.repo && sanitize(one.repo),
      folder: sanitize(one.folder),
      contents: `${pluralize(one.sprints, 'sprint')}, ${one.stories} stories, ${one.backlog} in the backlog, ${pluralize(one.conflicts, 'conflict')}`,
      guidance: sanitize(one.guidance.join(', ')) || 'none',
    }),
    ...(one.broken ?? []).map(
      ({ line, column, message }) => `file invalid at ${line}:${column}: ${sanitize(message)}`,
    ),
    ...unwrittenLines(one.unwritten),
    ...(one.sprint_list.length === 0 ? [] : ['', ...itemTable(one.sprint_list)]),
  ]
}
