import type { Priority, Story, StoryStatus, WorkIndex } from './model.ts'

/** Returns the next story number, above every number ever used (W14). */
export const nextStoryNumber = (
  known: number,
  { next_story: storedNext = 1, sprints }: WorkIndex,
): number =>
  sprints.reduce(
    (max, { stories }) =>
      (stories ?? []).reduce((next, { id }) => Math.max(next, parseStoryNumber(id) + 1), max),
    Math.max(known, storedNext),
  )

export const parseStoryNumber = (id: string): number =>
  Number(/^STORY-(\d{1,9})$/i.exec(id)?.[1] ?? 0)

/** kebab-case, or STORY-N (W14). */
export const isValidId = (id: string): boolean =>
  id.length <= 100 && (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id) || /^STORY-\d{1,9}$/.test(id))

/** A project name is a folder name. */
export const isProjectName = (name: string): boolean =>
  /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/.test(name)

export const toKebabCase = (words: string): string =>
  words
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '')

/** Returns the cycle that these dependencies would close, if any. */
export function findCycleThrough(
  id: string,
  dependsOn: readonly string[],
  getDependencies: (id: string) => readonly string[],
): string[] | undefined {
  type Path = { readonly id: string; readonly from?: Path }
  const seen = new Set<string>()
  const paths: Path[] = dependsOn.map((next) => ({ id: next }))
  for (const way of paths) {
    if (seen.has(way.id)) continue
    seen.add(way.id)
    if (way.id === id) {
      const cycle: string[] = []
      for (let at: Path | undefined = way; at; at = at.from) cycle.unshift(at.id)
      return [id, ...cycle]
    }
    for (const next of getDependencies(way.id)) paths.push({ id: next, from: way })
  }
  return undefined
}

/** Finds open stories that block each other: one cycle per knot, up to a maximum. */
export function findCycles(stories: Iterable<Story>, max: number): string[][] {
  const needs = new Map<string, readonly string[]>()
  for (const story of stories)
    if (story.depends_on && isOpen(story)) needs.set(story.id, story.depends_on)
  const cycles: string[][] = []
  const path: { readonly id: string; readonly remaining: Iterator<string> }[] = []
  /** Position of each story on the path; -1 after it is fully explored. */
  const positions = new Map<string, number>()
  const visit = (id: string): void => {
    const next = needs.get(id)
    if (!next) return
    positions.set(id, path.length)
    path.push({ id, remaining: next.values() })
  }
  for (const start of needs.keys()) {
    if (!positions.has(start)) visit(start)
    for (let last = path.at(-1); last && cycles.length < max; last = path.at(-1)) {
      const { value: next, done } = last.remaining.next()
      if (done) {
        path.pop()
        positions.set(last.id, -1)
        continue
      }
      const from = positions.get(next)
      if (from === undefined) visit(next)
      else if (from >= 0) cycles.push([...path.slice(from).map(({ id }) => id), next])
    }
  }
  return cycles
}

const ranks: Record<Priority, number> = { urgent: 0, high: 1, medium: 2, low: 3 }

export const priorityRank = (priority: Priority | undefined): number => ranks[priority ?? 'medium']

/** Returns the backlog item that the story was made from. The file can contain any value (W9). */
export const sourceBacklogId = ({
  from_backlog: from,
}: Pick<Story, 'from_backlog'>): string | undefined => (typeof from === 'string' ? from : undefined)

export const isOpen = ({ status }: { readonly status?: StoryStatus | undefined }): boolean =>
  status !== 'done' && status !== 'dropped'

/** Whether the story has an active lease: not expired, and the story is not finished (W20). */
export const isLeased = (story: Partial<Pick<Story, 'lease' | 'status'>>, at: number): boolean =>
  story.lease !== undefined && isOpen(story) && Date.parse(story.lease.until) > at

/** Whether all dependencies are finished; deleted ones do not block. */
export const isUnblocked = (
  { depends_on: needs = [] }: Pick<Story, 'depends_on'>,
  of: (id: string) => Pick<Story, 'status'> | undefined,
): boolean =>
  needs.every((id) => {
    const story = of(id)
    return !story || !isOpen(story)
  })
