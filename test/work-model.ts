// A minimal model of the work index: the expected result of every change.
import * as fc from 'fast-check'

export const agents = ['sales', 'support'] as const
const sprintIds = ['one', 'two', 'three'] as const
const storyIds = ['STORY-1', 'STORY-2', 'STORY-3', 'STORY-4', 'own-story'] as const
const itemIds = ['later', 'maybe'] as const

type Story = {
  sprint: string
  title: string | undefined
  status: string
  notes: string | undefined
  holder: string | undefined
  comments: number
  from: string | undefined
  rev: number
}
type Item = { summary: string; status: string; promoted: string | undefined; rev: number }

/** A tool call, or another event of the system. */
export type Step =
  | { readonly call: string; readonly by: (typeof agents)[number]; readonly args: Args }
  | { readonly event: 'restart' | 'flush' }
  /** A person changes a title in the file. */
  | { readonly id: string; readonly title: string }
type Args = Readonly<Record<string, string>>

const sprint_id = fc.constantFrom(...sprintIds)
const story_id = fc.constantFrom(...storyIds)
const item_id = fc.constantFrom(...itemIds)
const words = fc.constantFrom(
  'plain',
  'two words',
  'colon: here',
  '# hash',
  'über 漢字 😀',
  'a\nb',
  ' x ',
)
const storyStatus = fc.constantFrom('planned', 'in_progress', 'blocked', 'done', 'dropped')

const call = (tool: string, args: Record<string, fc.Arbitrary<string>>, required: string[] = []) =>
  fc.record({
    call: fc.constant(tool),
    by: fc.constantFrom(...agents),
    args: fc.record(args, { requiredKeys: required }),
  })

/** Weighted by how much each step is worth testing. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: call('create_sprint', { sprint_id }, ['sprint_id']) },
    {
      weight: 6,
      arbitrary: call('add_story', { sprint_id, story_id, title: words }, ['sprint_id']),
    },
    {
      weight: 6,
      arbitrary: call(
        'update_story',
        { story_id, status: storyStatus, notes: words, append_notes: words },
        ['story_id'],
      ),
    },
    { weight: 2, arbitrary: call('done', { story_id }, ['story_id']) },
    { weight: 3, arbitrary: call('claim', { story_id }, ['story_id']) },
    { weight: 2, arbitrary: call('release', { story_id }, ['story_id']) },
    { weight: 2, arbitrary: call('comment', { story_id, text: words }, ['story_id', 'text']) },
    { weight: 3, arbitrary: call('move', { story_id, sprint_id }, ['story_id', 'sprint_id']) },
    { weight: 3, arbitrary: call('move', { item_id, sprint_id }, ['item_id', 'sprint_id']) },
    {
      weight: 3,
      arbitrary: call('add_backlog', { item_id, summary: words }, ['item_id', 'summary']),
    },
    {
      weight: 2,
      arbitrary: call('update_backlog', { item_id, summary: words }, ['item_id', 'summary']),
    },
    { weight: 1, arbitrary: call('remove_backlog', { item_id }, ['item_id']) },
    { weight: 1, arbitrary: call('history', { summary: words }, ['summary']) },
    {
      weight: 1,
      arbitrary: call(
        'update_sprint',
        { sprint_id, status: fc.constant('completed'), carry_to: sprint_id },
        ['sprint_id', 'status'],
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record({ event: fc.constantFrom('restart', 'flush') }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ id: story_id, title: words }),
    },
  ),
  { minLength: 5, maxLength: 40, size: 'max' },
)

const isOpen = ({ status }: { status: string }) => status !== 'done' && status !== 'dropped'
const numberOf = (id: string) => Number(/^STORY-(\d+)$/.exec(id)?.[1] ?? 0)
const appended = (before: string | undefined, more: string) =>
  before === undefined || before === '' ? more : `${before}\n${more}`

/** Throws the code of the refusal, as the tools do. */
export function createModel() {
  const sprints = new Map<string, string>()
  const stories = new Map<string, Story>()
  const backlog = new Map<string, Item>()
  const history: string[] = []
  let next = 1

  const need = <T>(map: Map<string, T>, id: string | undefined): T => {
    const found = map.get(id ?? '')
    if (found === undefined) throw new Refusal('not_found')
    return found
  }
  const guard = (story: Story, by: string) => {
    if (story.holder !== undefined && story.holder !== by) throw new Refusal('lease_held')
  }
  const put = (id: string, sprint: string, more: Partial<Story>) => {
    next = Math.max(next, numberOf(id) + 1)
    const empty = { title: undefined, notes: undefined, holder: undefined, from: undefined }
    stories.set(id, { sprint, status: 'planned', comments: 0, rev: 1, ...empty, ...more })
  }

  const tools: Record<string, (args: Args, by: string) => void> = {
    create_sprint({ sprint_id: id = '' }) {
      if (sprints.has(id)) throw new Refusal('duplicate_id')
      sprints.set(id, 'planned')
    },
    add_story({ sprint_id: sprint = '', story_id: given, title }) {
      need(sprints, sprint)
      if (given !== undefined && stories.has(given)) throw new Refusal('duplicate_id')
      put(given ?? `STORY-${next}`, sprint, { title: title?.trim() })
    },
    update_story({ story_id, status, notes, append_notes: more }, by) {
      const story = need(stories, story_id)
      guard(story, by)
      if (status === undefined && notes === undefined && more === undefined)
        throw new Refusal('invalid_input')
      if (notes !== undefined) story.notes = notes
      if (more !== undefined) story.notes = appended(story.notes, more)
      if (status !== undefined) story.status = status
      if (status !== undefined && !isOpen(story)) story.holder = undefined
      story.rev++
    },
    done({ story_id = '' }, by) {
      const story = need(stories, story_id)
      guard(story, by)
      if (story.status === 'done') throw new Refusal('already_done')
      Object.assign(story, { status: 'done', holder: undefined, rev: story.rev + 1 })
      const origin = backlog.get(story.from ?? '')
      if (origin && origin.status !== 'done')
        Object.assign(origin, { status: 'done', rev: origin.rev + 1 })
      history.push(`Completed ${story_id}${story.title === undefined ? '' : `: ${story.title}`}`)
    },
    claim({ story_id }, by) {
      const story = need(stories, story_id)
      guard(story, by)
      // Already claimed by the caller: a renewal.
      if (story.holder === by) return
      if (!isOpen(story)) throw new Refusal('not_open')
      if (story.status === 'planned') story.status = 'in_progress'
      story.holder = by
      story.rev++
    },
    release({ story_id }, by) {
      const story = need(stories, story_id)
      guard(story, by)
      if (story.holder === undefined) throw new Refusal('not_claimed')
      if (story.status === 'in_progress') story.status = 'planned'
      story.holder = undefined
      story.rev++
    },
    comment({ story_id }) {
      const story = need(stories, story_id)
      story.comments++
      story.rev++
    },
    move({ story_id, item_id = '', sprint_id: sprint = '' }, by) {
      need(sprints, sprint)
      if (story_id !== undefined) {
        const story = need(stories, story_id)
        guard(story, by)
        if (story.sprint === sprint) throw new Refusal('invalid_input')
        story.sprint = sprint
        story.rev++
        return
      }
      const item = need(backlog, item_id)
      if (item.promoted !== undefined) throw new Refusal('duplicate_id')
      const id = `STORY-${next}`
      put(id, sprint, { title: item.summary, from: item_id })
      Object.assign(item, { promoted: id, status: 'in_progress', rev: item.rev + 1 })
    },
    add_backlog({ item_id: id = '', summary = '' }) {
      if (backlog.has(id)) throw new Refusal('duplicate_id')
      backlog.set(id, { summary: summary.trim(), status: 'todo', promoted: undefined, rev: 1 })
    },
    update_backlog({ item_id, summary = '' }) {
      const item = need(backlog, item_id)
      item.summary = summary.trim()
      item.rev++
    },
    remove_backlog({ item_id = '' }) {
      need(backlog, item_id)
      backlog.delete(item_id)
    },
    history: ({ summary = '' }) => void history.push(summary.trim()),
    update_sprint({ sprint_id: id = '', carry_to: to }) {
      need(sprints, id)
      const open = [...stories.values()].filter((story) => story.sprint === id && isOpen(story))
      if (open.length > 0) {
        if (to === undefined) throw new Refusal('open_stories')
        if (to === id) throw new Refusal('invalid_input')
        need(sprints, to)
        for (const story of open) Object.assign(story, { sprint: to, rev: story.rev + 1 })
      }
      sprints.set(id, 'completed')
    },
  }

  return {
    sprints,
    stories,
    backlog,
    history,
    next: () => next,
    /** Applies a call; returns the error code of a refusal. */
    does(tool: string, args: Args, by: string): string | undefined {
      try {
        tools[tool]?.(args, by)
        return undefined
      } catch (refusal) {
        if (refusal instanceof Refusal) return refusal.message
        throw refusal
      }
    },
  }
}

/** An expected refusal, identified by its code. */
class Refusal extends Error {}
