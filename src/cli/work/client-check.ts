import { CoworkError, messageOf } from '#base/errors.ts'
import type { Door } from './mcp-door.ts'

/** The tools that seed 003 names. */
export const seedTools = [
  'worksync_projects',
  'worksync_guidance',
  'worksync_add_backlog',
  'worksync_update_backlog',
  'worksync_create_sprint',
  'worksync_update_sprint',
  'worksync_add_story',
  'worksync_update_story',
  'worksync_status',
  'worksync_done',
  'worksync_history',
  'worksync_remove_backlog',
  'worksync_sync',
] as const
type SeedTool = (typeof seedTools)[number]

export type Check = { readonly name: string; readonly fault?: string }

type Answer = Readonly<Record<string, unknown>>
type Step = {
  readonly tool: SeedTool
  readonly args: object
  /** What the answer has to hold. */
  readonly expected: object
}

const item = 'check-item'
const sprint = 'check-sprint'
const story = 'STORY-1'

/** Each of them once, on a project of its own: the answer to one is what the next begins with. */
export const steps: readonly Step[] = [
  { tool: 'worksync_projects', args: {}, expected: { projects: [{ stories: 0 }] } },
  { tool: 'worksync_guidance', args: {}, expected: { guidance: [], topics: [] } },
  {
    tool: 'worksync_add_backlog',
    args: { item_id: item, summary: 'Checks the backlog' },
    expected: { item: { id: item, status: 'todo', rev: 1 } },
  },
  {
    tool: 'worksync_update_backlog',
    args: { item_id: item, priority: 'high', expect_rev: 1 },
    expected: { item: { priority: 'high', summary: 'Checks the backlog', rev: 2 } },
  },
  {
    tool: 'worksync_create_sprint',
    args: { sprint_id: sprint, title: 'Checks', status: 'active' },
    expected: { sprint: { id: sprint, status: 'active' } },
  },
  {
    tool: 'worksync_update_sprint',
    args: { sprint_id: sprint, goal: 'Every tool answers' },
    expected: { sprint: { goal: 'Every tool answers', title: 'Checks' } },
  },
  {
    tool: 'worksync_add_story',
    args: { sprint_id: sprint, title: 'Checks a story' },
    expected: { story: { id: story, status: 'planned', sprint_id: sprint } },
  },
  {
    tool: 'worksync_update_story',
    args: { story_id: story, status: 'in_progress', append_notes: 'under way' },
    expected: { story: { status: 'in_progress', notes: 'under way' } },
  },
  {
    tool: 'worksync_status',
    args: {},
    expected: { projects: [{ active_sprints: [{ id: sprint }], in_progress: [{ id: story }] }] },
  },
  {
    tool: 'worksync_done',
    args: { story_id: story, summary: 'All of it answers' },
    expected: { story: { status: 'done' }, history: { summary: 'All of it answers' } },
  },
  { tool: 'worksync_history', args: {}, expected: { history: [{ summary: 'All of it answers' }] } },
  { tool: 'worksync_remove_backlog', args: { item_id: item }, expected: { removed: { id: item } } },
  { tool: 'worksync_sync', args: {}, expected: {} },
]

/** Calls every tool of the seed on a project that is there for it, and goes on where one fails. */
export async function checkClient(door: Door, project: string): Promise<Check[]> {
  const checks: Check[] = [await checked('tools/list', () => checkListed(door))]
  for (const { tool, args, expected } of steps)
    checks.push(
      await checked(tool, async () => {
        const answer = await called(door, tool, { project, ...args })
        const fault = missing(expected, answer, '')
        if (fault !== undefined) throw new CoworkError('failed', fault)
      }),
    )
  checks.push(
    await checked('worksync_sync again', async () => {
      const { written } = await called(door, 'worksync_sync', { project })
      if (written !== 0)
        throw new CoworkError('failed', `wrote ${String(written)} notes, and nothing had changed`)
    }),
  )
  return checks
}

async function checked(name: string, act: () => Promise<void>): Promise<Check> {
  try {
    await act()
    return { name }
  } catch (error) {
    return { name, fault: messageOf(error) }
  }
}

async function checkListed(door: Door): Promise<void> {
  const names: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = (await door.ask('tools/list', cursor === undefined ? {} : { cursor })) as {
      tools: { name: string }[]
      nextCursor?: string
    }
    names.push(...page.tools.map(({ name }) => name))
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  const absent = seedTools.filter((tool) => !names.includes(tool))
  if (absent.length > 0) throw new CoworkError('failed', `does not name ${absent.join(', ')}`)
  const foreign = names.filter((name) => !name.startsWith('worksync_'))
  if (door.isForWork && foreign.length > 0)
    throw new CoworkError('failed', `names ${foreign.join(', ')} too`)
}

/** The structured answer of a tool, or what it says went wrong. */
async function called(door: Door, tool: string, args: object): Promise<Answer> {
  const result = (await door.ask('tools/call', { name: tool, arguments: args })) as {
    isError?: boolean
    structuredContent?: Answer
    content?: { text?: string }[]
  }
  if (result.isError)
    throw new CoworkError('failed', result.content?.[0]?.text ?? 'it failed without a word')
  return result.structuredContent ?? {}
}

/** Where the answer has not what it should, in words; what it has besides does not matter. */
export function missing(expected: unknown, found: unknown, path: string): string | undefined {
  if (typeof expected !== 'object' || expected === null)
    return expected === found
      ? undefined
      : `${path} is ${JSON.stringify(found) ?? 'absent'}, not ${JSON.stringify(expected)}`
  if (typeof found !== 'object' || found === null) return `${path || 'the answer'} is absent`
  const inside = found as Readonly<Record<string, unknown>>
  for (const [key, value] of Object.entries(expected)) {
    const fault = missing(value, inside[key], path === '' ? key : `${path}.${key}`)
    if (fault !== undefined) return fault
  }
  return undefined
}
