import { formatRfc3339 } from '#base/clock.ts'
import type { ProjectSnapshot, PositionedItem } from './project-cache.ts'
import type { BacklogItem, Sprint, Story } from './model.ts'
import { paginate } from './paging.ts'
import {
  findCycles,
  findCycleThrough,
  isLeased,
  isOpen,
  isUnblocked,
  sourceBacklogId,
  priorityRank,
} from './rules.ts'

export const toStorySummary = ({ item, sprint, rev }: PositionedItem<Story>, at: number) => ({
  id: item.id,
  ...(item.title !== undefined && { title: item.title }),
  status: item.status,
  sprint_id: sprint,
  ...(item.priority !== undefined && { priority: item.priority }),
  ...(item.estimate !== undefined && { estimate: item.estimate }),
  ...(item.depends_on && item.depends_on.length > 0 && { depends_on: item.depends_on }),
  ...(isLeased(item, at) &&
    item.lease && { claimed_by: item.lease.agent, until: item.lease.until }),
  rev,
})

const briefBacklog = ({ item, rev }: PositionedItem<BacklogItem>) => ({
  id: item.id,
  summary: item.summary,
  status: item.status,
  ...(item.theme !== undefined && { theme: item.theme }),
  ...(item.priority !== undefined && { priority: item.priority }),
  ...(item.promoted_to !== undefined && { promoted_to: item.promoted_to }),
  rev,
})

const countBy = (list: readonly { readonly item: { readonly status: string } }[]) => {
  const counts: Record<string, number> = {}
  for (const { item } of list) counts[item.status] = (counts[item.status] ?? 0) + 1
  return counts
}

/** Summarizes the state of a project (W10). */
export function toProjectStatus(board: ProjectSnapshot, at: number) {
  const stories = board.stories()
  const inSprint = Map.groupBy(stories, ({ sprint }) => sprint)
  // Each list is cut so that the reply fits its limit; the counts include everything.
  const some = <T>(list: readonly (() => T)[], limit: number, bytes: number) =>
    paginate(list, { limit }, bytes).page
  const cycles = findCycles(
    stories.values().map(({ item }) => item),
    mostCycles,
  )
  return {
    project: board.project,
    active_sprints: some(
      board
        .sprints()
        .filter(({ item }) => item.status === 'active')
        .map((sprint) => () => toSprintSummary(sprint, inSprint.get(sprint.item.id) ?? [])),
      20,
      5000,
    ),
    in_progress: some(
      stories
        .filter(({ item }) => item.status === 'in_progress')
        .map((story) => () => toStorySummary(story, at)),
      50,
      9000,
    ),
    backlog_in_progress: some(
      board
        .backlog()
        .filter(({ item }) => item.status === 'in_progress')
        .map((item) => () => briefBacklog(item)),
      30,
      4000,
    ),
    counts: {
      sprints: countBy(board.sprints()),
      stories: countBy(stories),
      backlog: countBy(board.backlog()),
      ready: listReady(board, at).length,
    },
    conflicts: some(
      board.conflicts().map(({ id, item, field, kind, at: since }) => () => ({
        id,
        item,
        field,
        kind,
        at: since,
      })),
      20,
      3000,
    ),
    // Edits of the file can create cycles, which would leave no story ready without a reason.
    ...(cycles.length > 0 && { cycles: cycles.map((way) => clipped(way.join(' → '))) }),
  }
}

const mostCycles = 5

/** Shortens a long text for lists. */
const clipped = (text: string | null) =>
  text !== null && text.length > 300 ? `${text.slice(0, 300)}…` : text

export const toSprintSummary = (
  { item, rev }: PositionedItem<Sprint>,
  stories: readonly PositionedItem<Story>[],
) => ({
  id: item.id,
  ...(item.title !== undefined && { title: item.title }),
  status: item.status,
  ...(item.goal !== undefined && { goal: clipped(item.goal) }),
  ...(item.themes !== undefined && { themes: item.themes }),
  ...(item.start !== undefined && { start: item.start }),
  ...(item.end !== undefined && { end: item.end }),
  stories: stories.length,
  done: stories.filter((story) => !isOpen(story.item)).length,
  rev,
})

const isReady = (board: ProjectSnapshot, item: Story, at: number): boolean =>
  (item.status === 'planned' || item.status === 'in_progress') &&
  !isLeased(item, at) &&
  isUnblocked(item, (id) => board.story(id)?.item)

/** Lists the stories that can start now, the most urgent first (W20). */
export function listReady(
  board: ProjectSnapshot,
  at: number,
  sprint?: string,
): PositionedItem<Story>[] {
  const open = new Set(
    board
      .sprints()
      .filter(({ item }) => item.status === 'active' || item.status === 'planned')
      .map(({ item }) => item.id),
  )
  const byRank: PositionedItem<Story>[][] = []
  for (const story of board.stories()) {
    const isMeant = sprint === undefined ? open.has(story.sprint) : story.sprint === sprint
    if (isMeant && isReady(board, story.item, at))
      (byRank[priorityRank(story.item.priority)] ??= []).push(story)
  }
  return byRank.flat()
}

export type Hit = {
  readonly kind: 'story' | 'backlog' | 'sprint'
  readonly status: string
  readonly sprint: string
  /** Called only for the hits of the current page. */
  readonly show: () => Record<string, unknown>
}

type Texts = readonly [title: string, text: string]

const storyTexts = ({ id, title = '', notes, comments = [], acceptance = [] }: Story): Texts => [
  `${id} ${title}`,
  [notes ?? '', ...[...comments, ...acceptance].map(({ text }) => text)].join('\n'),
]
const backlogTexts = ({ id, summary, theme }: BacklogItem): Texts => [
  `${id} ${summary}`,
  theme ?? '',
]
const sprintTexts = ({ id, title, goal, themes }: Sprint): Texts => [
  `${id} ${title ?? ''}`,
  [goal ?? '', ...(themes ?? [])].join('\n'),
]
/** Separates title and text; people do not write NUL. */
const between = '\u0000'

/** Maps the id of a backlog item to the words that its text contains (W25). */
export type TextMatches = ReadonlyMap<string, readonly string[]>

/**
 * Scores a match: a word in the title or id counts most, a word only in the backlog text least.
 * Returns undefined if a word is missing.
 */
function scoreOf<T>(
  words: readonly string[],
  one: PositionedItem<T>,
  texts: (item: T) => Texts,
  inLong: readonly string[] = [],
) {
  if (words.length === 0) return 0
  const text = (one.lowered ??= texts(one.item).join(between).toLowerCase())
  for (const word of words) if (!text.includes(word) && !inLong.includes(word)) return undefined
  const title = text.slice(0, text.indexOf(between))
  const worth = (word: string) => (title.includes(word) ? 4 : text.includes(word) ? 2 : 1)
  return words.reduce((score, word) => score + worth(word), 0)
}

export const tokenize = (query: string): string[] =>
  query
    .toLowerCase()
    .split(/[\s\0]+/)
    .filter(Boolean)

export function listTextIds(board: ProjectSnapshot): ReadonlySet<string> {
  const ids = new Set(board.backlog().map(({ item }) => item.id))
  for (const { item } of board.stories()) {
    const from = sourceBacklogId(item)
    if (from !== undefined) ids.add(from)
  }
  return ids
}

/** Finds the items that contain all the words, best match first; without words, all items. */
export function searchProject(
  board: ProjectSnapshot,
  words: readonly string[],
  inTexts: TextMatches,
  at: number,
): Hit[] {
  const byScore: Hit[][] = []
  const add = (score: number, hit: Hit) => void (byScore[score] ??= []).push(hit)
  for (const story of board.stories()) {
    const { item, sprint } = story
    const score = scoreOf(words, story, storyTexts, inTexts.get(sourceBacklogId(item) ?? ''))
    if (score === undefined) continue
    add(score, {
      kind: 'story',
      status: item.status,
      sprint,
      show: () => toStorySummary(story, at),
    })
  }
  for (const one of board.backlog()) {
    const { id, status } = one.item
    const score = scoreOf(words, one, backlogTexts, inTexts.get(id))
    if (score === undefined) continue
    add(score, { kind: 'backlog', status, sprint: '', show: () => briefBacklog(one) })
  }
  for (const sprint of board.sprints()) {
    const score = scoreOf(words, sprint, sprintTexts)
    if (score === undefined) continue
    const { id, status } = sprint.item
    const stories = () => board.stories().filter((story) => story.sprint === id)
    const show = () => toSprintSummary(sprint, stories())
    add(score, { kind: 'sprint', status, sprint: id, show })
  }
  return byScore
    .filter((hits) => hits !== undefined)
    .toReversed()
    .flat()
}

export function toStoryDetail(
  board: ProjectSnapshot,
  { item, sprint, rev }: PositionedItem<Story>,
  at: number,
) {
  const needs = (item.depends_on ?? []).map((id) => {
    const on = board.story(id)?.item
    return { id, status: on?.status ?? 'gone', ...(on?.title !== undefined && { title: on.title }) }
  })
  const openNeeds = (id: string): readonly string[] => {
    const on = board.story(id)?.item
    return on && isOpen(on) ? (on.depends_on ?? []) : []
  }
  const cycle = findCycleThrough(item.id, openNeeds(item.id), openNeeds)
  return {
    ...item,
    rev,
    sprint_id: sprint,
    needs,
    ...(cycle && { cycle }),
    needed_by: board
      .stories()
      .filter((other) => other.item.depends_on?.includes(item.id))
      .map((other) => other.item.id)
      .slice(0, 100),
    ready: isReady(board, item, at),
    conflicts: board.conflicts().filter((conflict) => conflict.item === item.id),
    history: board
      .history()
      .filter(({ ref }) => ref === item.id)
      .slice(-20),
    as_of: formatRfc3339(at),
  }
}
