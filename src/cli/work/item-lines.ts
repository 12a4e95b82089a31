import { bold, dim, formatTimeLeft, styled, section } from '../inbox/lines.ts'
import type { Line, Span } from '../inbox/lines.ts'
import { sanitize, sanitizeLines, formatRows, formatMinute } from '../output.ts'
import type { FoundItem } from './requests.ts'
import type {
  BacklogItem,
  ItemSummary,
  Conflict,
  HistoryEntry,
  Sprint,
  Story,
  StoryBrief,
} from './wire.ts'

/** Formats `in_progress` as `in progress`. */
export const formatWorkStatus = (status: string): string => sanitize(status).replaceAll('_', ' ')

export const formatTitle = ({
  title,
  summary,
  id,
}: Pick<ItemSummary, 'id' | 'title' | 'summary'>): string => sanitize(title ?? summary ?? id)

export const formatClaim = (agent: string, until: string, now: number): string =>
  `${sanitize(agent)}, ${formatTimeLeft(Date.parse(until) - now)} left`

/** Formats all fields of an item; every text in it is sanitized. */
export function itemLines(found: FoundItem, now: number): Line[] {
  if (found.kind === 'story') return storyLines(found.story, now)
  return found.kind === 'sprint'
    ? sprintLines(found.sprint, found.stories, now)
    : backlogLines(found.item)
}

export function storyLines(story: Story, now: number): Line[] {
  const { id, priority, estimate, sprint_id: sprint, rev, notes, acceptance, paths } = story
  const facts = [
    ...(priority === undefined ? [] : [`${sanitize(priority)} priority`]),
    ...(estimate === undefined ? [] : [`estimate ${estimate}`]),
    `in ${sanitize(sprint)}`,
    ...(story.from_backlog === undefined ? [] : [`from ${sanitize(story.from_backlog)}`]),
    `revision ${rev}`,
  ]
  return [
    heading(id, story),
    [statusSpan(story.status), dim(` · ${facts.join(' · ')}`)],
    stateLine(story, now),
    ...section('Depends on', story.needs.map(dependencyLine)),
    ...section(
      'Blocks',
      story.needed_by.length > 0 ? [[sanitize(story.needed_by.join(', '))]] : [],
    ),
    ...section('Acceptance criteria', (acceptance ?? []).map(acceptanceLine)),
    ...section('Notes', textLines(notes)),
    ...backlogTextLines(story),
    ...section(
      'Paths',
      (paths ?? []).map((path): Line => [sanitize(path)]),
    ),
    ...section('Conflicts', story.conflicts.flatMap(conflictLines)),
    ...section('Comments', (story.comments ?? []).flatMap(commentLines)),
    ...section('History', story.history.map(historyLine)),
  ]
}

function stateLine({ lease, ready, needs, status }: Story, now: number): Line {
  if (lease && Date.parse(lease.until) > now)
    return [styled('cyan', `claimed by ${formatClaim(lease.agent, lease.until, now)}`)]
  const open = needs.filter((need) => !['done', 'dropped', 'gone'].includes(need.status))
  if (ready) return ['ready']
  const isOpen = status !== 'done' && status !== 'dropped'
  return [
    isOpen && open.length > 0 ? `blocked by ${sanitize(open.map(({ id }) => id).join(', '))}` : '',
  ]
}

function sprintLines(sprint: Sprint, stories: readonly StoryBrief[], now: number): Line[] {
  const { id, goal, themes = [], start, end, rev } = sprint
  const done = stories.filter(({ status }) => status === 'done' || status === 'dropped').length
  const facts = [
    `${done} of ${stories.length} done`,
    ...(start === undefined && end === undefined
      ? []
      : [`${sanitize(start ?? '…')} to ${sanitize(end ?? '…')}`]),
    ...(themes.length > 0 ? [sanitize(themes.join(', '))] : []),
    `revision ${rev}`,
  ]
  return [
    heading(id, sprint),
    [statusSpan(sprint.status), dim(` · ${facts.join(' · ')}`)],
    ...section('Goal', textLines(goal)),
    ...section(
      'Stories',
      stories.map((story) => storyLine(story, now)),
    ),
  ]
}

function backlogLines(item: BacklogItem): Line[] {
  const { id, theme, priority, related_sprints: sprints = [], promoted_to: story, rev } = item
  const facts = [
    ...(theme === undefined ? [] : [sanitize(theme)]),
    ...(priority === undefined ? [] : [`${sanitize(priority)} priority`]),
    ...(sprints.length > 0 ? [`related to ${sanitize(sprints.join(', '))}`] : []),
    ...(story === undefined ? [] : [`moved to ${sanitize(story)}`]),
    `revision ${rev}`,
  ]
  return [
    heading(id, item),
    [statusSpan(item.status), dim(` · backlog · ${facts.join(' · ')}`)],
    ...backlogTextLines(item),
    ...section('Comments', (item.comments ?? []).flatMap(commentLines)),
  ]
}

const heading = (id: string, item: Pick<ItemSummary, 'id' | 'title' | 'summary'>): Line => [
  styled('cyan', sanitize(id)),
  ' ',
  bold(formatTitle(item)),
]

const statusColors: Readonly<Record<string, 'green' | 'yellow' | 'red' | 'dim'>> = {
  in_progress: 'yellow',
  active: 'yellow',
  in_review: 'yellow',
  blocked: 'red',
  done: 'green',
  completed: 'green',
  dropped: 'dim',
}

export function statusSpan(status: string): Span {
  const color = statusColors[status]
  return color ? styled(color, formatWorkStatus(status)) : formatWorkStatus(status)
}

const storyLine = (story: StoryBrief, now: number): Line => [
  statusSpan(story.status),
  ' '.repeat(Math.max(1, 13 - story.status.length)),
  ...cardLine(story, now),
]

export const cardLine = (story: StoryBrief, now: number): Line => [
  sanitize(story.id).padEnd(10),
  ` ${formatTitle(story)}`,
  ...(story.claimed_by === undefined
    ? []
    : [dim(`  ${formatClaim(story.claimed_by, story.until ?? '', now)}`)]),
]

const textLines = (text: string | undefined): Line[] =>
  text === undefined || text.trim() === ''
    ? []
    : sanitizeLines(text.trimEnd()).map((line): Line => [line])

const backlogTextLines = ({
  text,
  text_note: note,
}: Pick<BacklogItem, 'text' | 'text_note'>): Line[] =>
  section('Text', note === undefined ? textLines(text) : [[dim(sanitize(note))]])

const dependencyLine = ({ id, status, title }: Story['needs'][number]): Line => [
  sanitize(id).padEnd(10),
  ' ',
  statusSpan(status),
  ...(title === undefined ? [] : [`  ${sanitize(title)}`]),
]

const acceptanceLine = ({ text, done = false }: { text: string; done?: boolean }): Line => [
  `${done ? '[x]' : '[ ]'} ${sanitize(text)}`,
]

const conflictLines = ({ id, field, kind, ours, theirs }: Conflict): Line[] => [
  [styled('red', sanitize(id)), `  ${field === '*' ? formatWorkStatus(kind) : sanitize(field)}`],
  ...(kind === 'possible_revert'
    ? []
    : [[`  current: ${formatValue(ours)}`], [`  file: ${formatValue(theirs)}`]]),
]

/** A deleted side has no value. */
const formatValue = (value: unknown): string =>
  value === undefined ? 'deleted' : sanitize(JSON.stringify(value) ?? '')

const commentLines = ({ at, by, text }: { at: string; by: string; text: string }): Line[] => [
  [dim(`${formatMinute(sanitize(at))} ${sanitize(by)}`)],
  ...sanitizeLines(text).map((line): Line => [`  ${line}`]),
]

export const historyLine = ({ date, at, by, summary }: HistoryEntry): Line => [
  dim(at === undefined ? sanitize(date) : formatMinute(sanitize(at))),
  `  ${sanitize(summary)}`,
  ...(by === undefined ? [] : [dim(`  ${sanitize(by)}`)]),
]

export function itemTable(items: readonly ItemSummary[]): string[] {
  const hasProject = items.some(({ project }) => project !== undefined)
  const now = Date.now()
  return formatRows(items, '', {
    ...(hasProject && { PROJECT: (item: ItemSummary) => item.project }),
    ID: (item) => item.id,
    STATUS: (item) => formatWorkStatus(item.status),
    PRIORITY: (item) => item.priority,
    IN: (item) => item.sprint_id ?? (item.kind === 'backlog' ? 'backlog' : ''),
    CLAIMED: ({ claimed_by: by, until = '' }) => by && formatClaim(by, until, now),
    TITLE: formatTitle,
  })
}
