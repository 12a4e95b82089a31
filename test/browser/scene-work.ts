import type { TestApp } from '../app.ts'

type Args = Record<string, unknown>

/** A running sprint with fixed names and numbers, so that pictures are reproducible. */
const stories: readonly Args[] = [
  {
    title: 'Round invoices to the cent',
    status: 'in_progress',
    priority: 'urgent',
    estimate: 3,
    paths: ['src/invoice/**'],
    notes:
      'Totals differ by a cent when a discount applies.\nThe rule of the tax office is half up, per line.',
    acceptance: [
      { text: 'every line is rounded half up', done: true },
      { text: 'old invoices keep their totals' },
      { text: 'the handbook says so' },
    ],
  },
  { title: 'Rank exact matches first', status: 'in_review', priority: 'high', estimate: 2 },
  {
    title: 'Reminders for overdue invoices',
    priority: 'high',
    estimate: 5,
    depends_on: ['STORY-1'],
  },
  { title: 'Search by customer number', estimate: 2 },
  { title: 'Show where a total comes from', priority: 'low', depends_on: ['STORY-1'] },
  { title: 'Switch to the new tax rates', status: 'blocked', priority: 'high', estimate: 1 },
  { title: 'Index of product names', estimate: 3 },
  { title: 'Export as a spreadsheet', estimate: 2 },
  { title: 'Second address of a customer', status: 'dropped' },
]

const backlog: readonly Args[] = [
  { summary: 'Invoices in other currencies', theme: 'billing', priority: 'high' },
  { summary: 'Search in notes', theme: 'search' },
  { summary: 'A smaller first page', theme: 'speed', priority: 'low' },
]

/** Creates a project on which an agent works, through the public tools. */
export async function playWork(app: TestApp, token: string): Promise<void> {
  const act = async (tool: string, args: Args, by = app.owner) => {
    const reply = await app.call(tool, { project: 'web-shop', ...args }, by)
    if (!reply.ok) throw new Error(`${tool}: ${await reply.text()}`)
  }
  await act('worksync_register_project', { description: 'The shop and its invoices' })
  const goal = 'Invoices that add up, and a search that finds them'
  await act('worksync_create_sprint', {
    sprint_id: 'invoices',
    title: 'Invoices',
    status: 'active',
    goal,
  })
  await act('worksync_create_sprint', { sprint_id: 'reminders', title: 'Reminders' })
  for (const story of stories) await act('worksync_add_story', { sprint_id: 'invoices', ...story })
  for (const item of backlog) await act('worksync_add_backlog', item)
  await act('worksync_done', { story_id: 'STORY-7' })
  await act('worksync_done', { story_id: 'STORY-8' })
  await act('worksync_claim', { story_id: 'STORY-1', ttl_seconds: 7200 }, token)
  const text =
    'Lines are rounded now. Old invoices are recomputed from their own rows, not changed.'
  await act('worksync_comment', { story_id: 'STORY-1', text }, token)
  await act('worksync_comment', { story_id: 'STORY-1', text: 'Good. Show me two of them.' })
}
