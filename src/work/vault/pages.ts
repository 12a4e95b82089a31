import { dump } from 'js-yaml'
import type { ProjectSnapshot, PositionedItem } from '../project-cache.ts'
import { toFileName } from '../disk/file-name.ts'
import type { BacklogItem, Sprint, Story } from '../model.ts'
import { isOpen } from '../rules.ts'

/** Text after this line belongs to the person and is never changed. */
export const generatedMarker = '<!-- worksync:generated -->'
export const notesTemplate = `${generatedMarker}\n\n## Notes (yours)\n`

/**
 * Builds the notes of a project by vault path. Links have full paths, so that two projects can use
 * the same id.
 */
export function projectPages(
  snapshot: ProjectSnapshot,
  texts: ReadonlyMap<string, string>,
): Map<string, string> {
  const pages = new Map<string, string>()
  const base = `projects/${toFileName(snapshot.project)}`
  const inSprint = Map.groupBy(snapshot.stories(), (story) => story.sprint)
  for (const sprint of snapshot.sprints())
    pages.set(
      sprintPath(base, sprint.item.id),
      sprintPage(snapshot.project, base, sprint, inSprint.get(sprint.item.id) ?? []),
    )
  for (const story of snapshot.stories())
    pages.set(storyPath(base, story.item.id), storyPage(snapshot, base, story))
  for (const item of snapshot.backlog())
    pages.set(
      `${base}/Backlog/${toFileName(item.item.id)}.md`,
      backlogPage(snapshot.project, base, item, texts.get(item.item.id)),
    )
  pages.set(`${base}/Dashboard.md`, dashboard(snapshot, base, inSprint))
  pages.set(`${base}/History.md`, historyPage(snapshot))
  return pages
}

export function globalPage(projects: readonly string[]): string {
  const rows = projects.map((name) => `- ${link(`projects/${toFileName(name)}/Dashboard`, name)}`)
  return formatNote({ type: 'dashboard' }, ['# All projects', '', ...rows])
}

const storyPath = (base: string, id: string) => `${base}/Stories/${toFileName(id)}.md`
const sprintPath = (base: string, id: string) => `${base}/Sprints/${toFileName(id)}.md`

/** Formats a link; in a table the bar is escaped. */
const link = (path: string, label: string, isInTable = false) =>
  `[[${path}${isInTable ? '\\|' : '|'}${oneLine(label).replaceAll(/[[\]|]/g, ' ')}]]`

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
const tag = (kind: string, value: string) =>
  `${kind}/${value.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').replace(/^(\d+)$/, 'n$1')}`

function formatNote(
  properties: Readonly<Record<string, unknown>>,
  lines: readonly string[],
): string {
  const definedProperties = Object.fromEntries(
    Object.entries(properties).filter(([, value]) => value !== undefined && value !== null),
  )
  const head = dump(definedProperties, { lineWidth: -1, noRefs: true, flowLevel: 1 })
  // Content must not contain the marker, which would end the generated part early.
  const page = `---\n${head}---\n\n${lines.join('\n')}`.replaceAll(generatedMarker, '(mark)')
  return `${page}\n\n${notesTemplate}`
}

const section = (title: string, lines: readonly string[]) =>
  lines.length > 0 ? ['', `## ${title}`, '', ...lines] : []

function storyPage(
  { project, story: other }: ProjectSnapshot,
  base: string,
  { item, sprint }: PositionedItem<Story>,
): string {
  const { id, title = id, status, notes, acceptance = [], comments = [] } = item
  const needs = (item.depends_on ?? []).map((need) => {
    const dependency = other(need)?.item
    return dependency ? link(storyPath(base, need).slice(0, -3), need) : need
  })
  return formatNote(
    {
      type: 'story',
      id,
      project,
      title: oneLine(title),
      status,
      priority: item.priority,
      estimate: item.estimate,
      sprint: link(sprintPath(base, sprint).slice(0, -3), sprint),
      depends_on: needs.length > 0 ? needs : undefined,
      assignee: item.lease?.agent,
      updated: item.updated?.slice(0, 19),
      tags: [tag('project', project), tag('type', 'story'), tag('status', status)],
    },
    [
      `# ${oneLine(title)}`,
      ...section(
        'Acceptance',
        acceptance.map((one) => `- [${one.done ? 'x' : ' '}] ${oneLine(one.text)}`),
      ),
      ...section('Notes', notes ? [notes.trimEnd()] : []),
      ...section(
        'Comments',
        comments.map((one) => `- ${one.at} ${one.by}: ${oneLine(one.text)}`),
      ),
    ],
  )
}

const sprintPage = (
  project: string,
  base: string,
  { item }: PositionedItem<Sprint>,
  stories: readonly PositionedItem<Story>[],
): string =>
  formatNote(
    {
      type: 'sprint',
      id: item.id,
      project,
      title: item.title,
      status: item.status,
      goal: item.goal,
      start: item.start,
      end: item.end,
      tags: [
        tag('project', project),
        tag('type', 'sprint'),
        tag('status', item.status),
        ...(item.themes ?? []).map((theme) => tag('theme', theme)),
      ],
    },
    [
      `# ${oneLine(item.title ?? item.id)}`,
      ...(item.goal ? ['', item.goal.trimEnd()] : []),
      '',
      '| story | status |',
      '| --- | --- |',
      ...stories.map((story) => storyRow(base, story)),
    ],
  )

const storyRow = (base: string, { item }: PositionedItem<Story>) =>
  `| ${link(storyPath(base, item.id).slice(0, -3), item.title ?? item.id, true)} | ${item.status} |`

const backlogPage = (
  project: string,
  base: string,
  { item }: PositionedItem<BacklogItem>,
  text: string | undefined,
): string =>
  formatNote(
    {
      type: 'backlog',
      id: item.id,
      project,
      status: item.status,
      theme: item.theme,
      priority: item.priority,
      tags: [
        tag('project', project),
        tag('type', 'backlog'),
        tag('status', item.status),
        ...(item.theme ? [tag('theme', item.theme)] : []),
      ],
    },
    [
      `# ${oneLine(item.summary)}`,
      ...(item.promoted_to
        ? ['', `Became ${link(storyPath(base, item.promoted_to).slice(0, -3), item.promoted_to)}.`]
        : []),
      ...(text === undefined ? [] : ['', text.trimEnd()]),
    ],
  )

function dashboard(
  snapshot: ProjectSnapshot,
  base: string,
  inSprint: ReadonlyMap<string, readonly PositionedItem<Story>[]>,
): string {
  const active = snapshot.sprints().filter(({ item }) => item.status === 'active')
  const doing = snapshot.stories().filter(({ item }) => item.status === 'in_progress')
  const todo = snapshot.backlog().filter(({ item }) => item.status !== 'done')
  return formatNote(
    { type: 'dashboard', project: snapshot.project, tags: [tag('project', snapshot.project)] },
    [
      `# ${snapshot.project}`,
      '',
      '## Active sprints',
      '',
      ...active.map(({ item }) => {
        const stories = inSprint.get(item.id) ?? []
        const done = stories.filter((story) => !isOpen(story.item)).length
        return `- ${link(sprintPath(base, item.id).slice(0, -3), item.title ?? item.id)}: ${done} of ${stories.length} done`
      }),
      '',
      '## In progress',
      '',
      '| story | status |',
      '| --- | --- |',
      ...doing.map((story) => storyRow(base, story)),
      '',
      '## Backlog',
      '',
      ...todo.map(
        ({ item }) =>
          `- ${link(`${base}/Backlog/${toFileName(item.id)}`, item.summary)} (${item.status})`,
      ),
      '',
      '```dataview',
      'TABLE WITHOUT ID file.link AS Story, status, sprint, assignee',
      `FROM "${base}/Stories" WHERE status != "done" AND status != "dropped" SORT id ASC`,
      '```',
    ],
  )
}

const historyPage = (snapshot: ProjectSnapshot): string =>
  formatNote({ type: 'history', project: snapshot.project }, [
    `# History of ${snapshot.project}`,
    '',
    ...snapshot
      .history()
      .toReversed()
      .map(({ date, summary, by }) => `- ${date}${by ? ` ${by}` : ''}: ${oneLine(summary)}`),
  ])
