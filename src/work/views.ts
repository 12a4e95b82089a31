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

const toBacklogSummary = ({ item, rev }: PositionedItem<BacklogItem>) => ({
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
export function toProjectStatus(snapshot: ProjectSnapshot, at: number) {
  const stories = snapshot.stories()
  const inSprint = Map.groupBy(stories, ({ sprint }) => sprint)
  // Each list is cut so that the reply fits its limit; the counts include everything.
  const takeFitting = <T>(list: readonly (() => T)[], limit: number, bytes: number) =>
    paginate(list, { limit }, bytes).page
  const cycles = findCycles(
    stories.values().map(({ item }) => item),
    maxCycles,
  )
  return {
    project: snapshot.project,
    active_sprints: takeFitting(
      snapshot
        .sprints()
        .filter(({ item }) => item.status === 'active')
        .map((sprint) => () => toSprintSummary(sprint, inSprint.get(sprint.item.id) ?? [])),
      20,
      5000,
    ),
    in_progress: takeFitting(
      stories
        .filter(({ item }) => item.status === 'in_progress')
        .map((story) => () => toStorySummary(story, at)),
      50,
      9000,
    ),
    backlog_in_progress: takeFitting(
      snapshot
        .backlog()
        .filter(({ item }) => item.status === 'in_progress')
        .map((item) => () => toBacklogSummary(item)),
      30,
      4000,
    ),
    counts: {
      sprints: countBy(snapshot.sprints()),
      stories: countBy(stories),
      backlog: countBy(snapshot.backlog()),
      ready: listReady(snapshot, at).length,
    },
    conflicts: takeFitting(
      snapshot.conflicts().map(({ id, item, field, kind, at: since }) => () => ({
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
    ...(cycles.length > 0 && { cycles: cycles.map((way) => truncate(way.join(' → '))) }),
  }
}

const maxCycles = 5

/** Shortens a long text for lists. */
const truncate = (text: string | null) =>
  text !== null && text.length > 300 ? `${text.slice(0, 300)}…` : text

export const toSprintSummary = (
  { item, rev }: PositionedItem<Sprint>,
  stories: readonly PositionedItem<Story>[],
) => ({
  id: item.id,
  ...(item.title !== undefined && { title: item.title }),
  status: item.status,
  ...(item.goal !== undefined && { goal: truncate(item.goal) }),
  ...(item.themes !== undefined && { themes: item.themes }),
  ...(item.start !== undefined && { start: item.start }),
  ...(item.end !== undefined && { end: item.end }),
  stories: stories.length,
  done: stories.filter((story) => !isOpen(story.item)).length,
  rev,
})

const isReady = (snapshot: ProjectSnapshot, item: Story, at: number): boolean =>
  (item.status === 'planned' || item.status === 'in_progress') &&
  !isLeased(item, at) &&
  isUnblocked(item, (id) => snapshot.story(id)?.item)

/** Lists the stories that can start now, the most urgent first (W20). */
export function listReady(
  snapshot: ProjectSnapshot,
  at: number,
  sprint?: string,
): PositionedItem<Story>[] {
  const openSprints = new Set(
    snapshot
      .sprints()
      .filter(({ item }) => item.status === 'active' || item.status === 'planned')
      .map(({ item }) => item.id),
  )
  const byRank: PositionedItem<Story>[][] = []
  for (const story of snapshot.stories()) {
    const isInScope = sprint === undefined ? openSprints.has(story.sprint) : story.sprint === sprint
    if (isInScope && isReady(snapshot, story.item, at))
      (byRank[priorityRank(story.item.priority)] ??= []).push(story)
  }
  return byRank.flat()
}

export type Hit = {
  readonly kind: 'story' | 'backlog' | 'sprint'
  readonly status: string
  readonly sprint: string
  /** Called only for the hits of the current page. */
  readonly toResult: () => Record<string, unknown>
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
const separator = '\u0000'

/** Maps the id of a backlog item to the words that its text contains (W25). */
export type TextMatches = ReadonlyMap<string, readonly string[]>

/**
 * Scores a match: a word in the title or id counts most, a word only in the backlog text least.
 * Returns undefined if a word is missing.
 */
function scoreMatch<T>(
  words: readonly string[],
  item: PositionedItem<T>,
  texts: (item: T) => Texts,
  textWords: readonly string[] = [],
) {
  if (words.length === 0) return 0
  const text = (item.searchText ??= texts(item.item).join(separator).toLowerCase())
  for (const word of words) if (!text.includes(word) && !textWords.includes(word)) return undefined
  const title = text.slice(0, text.indexOf(separator))
  const getWeight = (word: string) => (title.includes(word) ? 4 : text.includes(word) ? 2 : 1)
  return words.reduce((score, word) => score + getWeight(word), 0)
}

export const tokenize = (query: string): string[] =>
  query
    .toLowerCase()
    .split(/[\s\0]+/)
    .filter(Boolean)

export function listTextIds(snapshot: ProjectSnapshot): ReadonlySet<string> {
  const ids = new Set(snapshot.backlog().map(({ item }) => item.id))
  for (const { item } of snapshot.stories()) {
    const from = sourceBacklogId(item)
    if (from !== undefined) ids.add(from)
  }
  return ids
}

/** Finds the items that contain all the words, best match first; without words, all items. */
export function searchProject(
  snapshot: ProjectSnapshot,
  words: readonly string[],
  inTexts: TextMatches,
  at: number,
): Hit[] {
  const byScore: Hit[][] = []
  const add = (score: number, hit: Hit) => void (byScore[score] ??= []).push(hit)
  for (const story of snapshot.stories()) {
    const { item, sprint } = story
    const score = scoreMatch(words, story, storyTexts, inTexts.get(sourceBacklogId(item) ?? ''))
    if (score === undefined) continue
    add(score, {
      kind: 'story',
      status: item.status,
      sprint,
      toResult: () => toStorySummary(story, at),
    })
  }
  for (const one of snapshot.backlog()) {
    const { id, status } = one.item
    const score = scoreMatch(words, one, backlogTexts, inTexts.get(id))
    if (score === undefined) continue
    add(score, { kind: 'backlog', status, sprint: '', toResult: () => toBacklogSummary(one) })
  }
  for (const sprint of snapshot.sprints()) {
    const score = scoreMatch(words, sprint, sprintTexts)
    if (score === undefined) continue
    const { id, status } = sprint.item
    const stories = () => snapshot.stories().filter((story) => story.sprint === id)
    const toResult = () => toSprintSummary(sprint, stories())
    add(score, { kind: 'sprint', status, sprint: id, toResult })
  }
  return byScore
    .filter((hits) => hits !== undefined)
    .toReversed()
    .flat()
}

export function toStoryDetail(
  snapshot: ProjectSnapshot,
  { item, sprint, rev }: PositionedItem<Story>,
  at: number,
) {
  const needs = (item.depends_on ?? []).map((id) => {
    const dependency = snapshot.story(id)?.item
    return {
      id,
      status: dependency?.status ?? 'gone',
      ...(dependency?.title !== undefined && { title: dependency.title }),
    }
  })
  const openNeeds = (id: string): readonly string[] => {
    const dependency = snapshot.story(id)?.item
    return dependency && isOpen(dependency) ? (dependency.depends_on ?? []) : []
  }
  const cycle = findCycleThrough(item.id, openNeeds(item.id), openNeeds)
  return {
    ...item,
    rev,
    sprint_id: sprint,
    needs,
    ...(cycle && { cycle }),
    needed_by: snapshot
      .stories()
      .filter((other) => other.item.depends_on?.includes(item.id))
      .map((other) => other.item.id)
      .slice(0, 100),
    ready: isReady(snapshot, item, at),
    conflicts: snapshot.conflicts().filter((conflict) => conflict.item === item.id),
    history: snapshot
      .history()
      .filter(({ ref }) => ref === item.id)
      .slice(-20),
    as_of: formatRfc3339(at),
  }
}
