import type { createDemoAgent } from './agent.ts'

type Agent = ReturnType<typeof createDemoAgent>

export const project = 'demo-fair'
const stories = [
  { story_id: 'book-stand', title: 'Book the stand', priority: 'high', estimate: 1 },
  {
    story_id: 'price-list',
    title: 'Print the new price list',
    priority: 'urgent',
    estimate: 2,
    acceptance: [{ text: 'prices of January', done: true }, { text: 'both languages' }],
  },
  {
    story_id: 'invite-customers',
    title: 'Invite customers of the region',
    depends_on: ['book-stand'],
    estimate: 3,
  },
  { story_id: 'travel', title: 'Travel and rooms', depends_on: ['book-stand'], priority: 'low' },
  { story_id: 'follow-up', title: 'Call who left a card', depends_on: ['invite-customers'] },
] as const

/**
 * A plan that two agents work through: one finishes a story and takes the next, the other holds one (K7).
 * Where the plan is there already, only the claims are made again.
 */
export async function workOnPlan(first: Agent, second: Agent): Promise<void> {
  await first.call('worksync_register_project', { project, description: 'The fair in spring' })
  await first.call('worksync_create_sprint', {
    project,
    sprint_id: 'before-the-fair',
    title: 'Before the fair',
    status: 'active',
    goal: 'Everything is booked and printed four weeks ahead.',
    themes: ['fair'],
  })
  for (const story of stories)
    await first.call('worksync_add_story', { project, sprint_id: 'before-the-fair', ...story })
  await first.call('worksync_add_backlog', {
    project,
    item_id: 'next-year',
    summary: 'Ask for a corner stand next year',
    theme: 'fair',
  })
  await first.call('worksync_claim', { project, story_id: 'book-stand' })
  await first.call('worksync_done', {
    project,
    story_id: 'book-stand',
    summary: 'Stand B12 is booked',
  })
  await first.call('worksync_claim', { project, story_id: 'invite-customers' })
  await second.call('worksync_claim', { project, story_id: 'price-list' })
  await second.call('worksync_comment', {
    project,
    story_id: 'price-list',
    text: 'The printer needs the French text by Friday.',
  })
}
