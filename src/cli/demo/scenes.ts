import { join } from 'node:path'
import { currentFolders } from '#base/config/index.ts'
import type { createDemoAgent } from './agent.ts'

/** A proposal of a demo agent, and whether it is correct; cowork does not know the latter. */
export type Scene = {
  readonly action: string
  readonly target: string
  readonly proposed_change: Readonly<Record<string, unknown>>
  readonly confidence: number
  readonly reasoning: string
  readonly isRight: boolean
}

export type Role = {
  readonly id: string
  readonly domain: string
  /** Share of wrong proposals. */
  readonly errorRate: number
  readonly about: string
}

/** Separate domains, so that trust in real work is not affected. */
export const roles: readonly Role[] = [
  { id: 'demo-careful', domain: 'demo.contacts', errorRate: 0, about: 'never wrong' },
  { id: 'demo-steady', domain: 'demo.tickets', errorRate: 0.06, about: 'wrong now and then' },
  { id: 'demo-hasty', domain: 'demo.deals', errorRate: 0.35, about: 'wrong a third of the time' },
]

type Template = Omit<Scene, 'isRight' | 'confidence' | 'target'> & {
  /** The change of a wrong proposal, if it differs. */
  readonly mistake?: Scene['proposed_change']
}

const templates: Record<string, readonly Template[]> = {
  'demo.contacts': [
    {
      action: 'update_contact',
      proposed_change: { phone: '+41 44 555 01 20' },
      reasoning: 'The signature of the last mail has a new number.',
    },
    {
      action: 'merge_contacts',
      proposed_change: { keep: 'contact_7', drop: 'contact_19' },
      reasoning: 'Same address and same name; one has no history.',
    },
    {
      action: 'tag_contact',
      proposed_change: { tags: ['newsletter', 'zurich'] },
      reasoning: 'Signed up at the fair in Zurich.',
    },
  ],
  'demo.tickets': [
    {
      action: 'set_priority',
      proposed_change: { priority: 'high' },
      reasoning: 'Third message within an hour, and the service is down for them.',
    },
    {
      action: 'answer_ticket',
      proposed_change: { status: 'answered', template: 'reset-steps' },
      reasoning: 'A known question; the steps are in the handbook.',
    },
    {
      action: 'close_ticket',
      proposed_change: { status: 'closed' },
      reasoning: 'No answer for 14 days after the solution was sent.',
    },
  ],
  'demo.deals': [
    {
      action: 'update_deal',
      proposed_change: { deal_stage: 'closed_won', amount: 48_000 },
      mistake: { deal_stage: 'closed_won', amount: 480_000 },
      reasoning: 'Budget approved and all signatures are there.',
    },
    {
      action: 'update_deal',
      proposed_change: { next_step: 'send the offer' },
      reasoning: 'They asked for a price in the last call.',
    },
    {
      action: 'assign_deal',
      proposed_change: { owner: 'someone else' },
      reasoning: 'The owner is on leave this week.',
    },
  ],
}

/** The handoff of the agent that gives up. */
export const demoHandoff = {
  reason: 'The contract has two versions with different prices, and both are signed.',
  confidence: 0.4,
  attempted_actions: ['compared the two versions', 'looked for a later mail', 'asked the owner'],
  context: { deal: 'deal_12', versions: { march: 48_000, april: 52_000 } },
}

/** A seeded generator, so that every run is the same. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pickScene({ domain, errorRate }: Role, chance: () => number): Scene {
  const choices = templates[domain] ?? []
  const template = choices[Math.floor(chance() * choices.length)]
  if (!template) throw new Error(`no demo templates for ${domain}`)
  const { mistake, ...rest } = template
  const isRight = chance() >= errorRate
  const change = isRight ? rest.proposed_change : (mistake ?? rest.proposed_change)
  // A wrong proposal has only slightly less confidence, as in practice.
  const confidence = Math.round((0.78 + chance() * 0.2 - (isRight ? 0 : 0.06)) * 100) / 100
  const target = `${domain.slice(domain.indexOf('.') + 1, -1)}_${1 + Math.floor(chance() * 40)}`
  return { ...rest, proposed_change: change, target, confidence, isRight }
}

type Agent = ReturnType<typeof createDemoAgent>

/** Files that a demo agent writes. */
const demoFiles = [
  {
    path: 'Documents/reports/demo-week.md',
    content: '# The week\n\n- 12 contacts updated\n- 3 offers sent\n- 1 deal won\n',
  },
  {
    path: 'Research/summaries/demo-fair.md',
    content: '# The fair in Zurich\n\nMost visitors asked for the price list first.\n',
  },
  {
    path: 'Spreadsheets/demo-deals.csv',
    content: 'deal,stage,amount\ndeal_12,offer,48000\ndeal_17,won,12500\ndeal_31,open,9000\n',
  },
  { path: 'temp/demo-scratch.txt', content: 'call back deal_31\n' },
] as const

/** Paths of the remaining files; the last one is in the trash. */
export const writtenPaths = demoFiles.slice(0, -1).map(({ path }) => path)

/**
 * Creates demo files, one with an earlier version and one in the trash, and an access request that only a person
 * can decide (K7). Overwrites the files of an earlier run.
 */
export async function runFileScene(agent: Agent): Promise<boolean> {
  for (const file of demoFiles) await agent.call('create_file', { ...file, overwrite: true })
  await agent.call('update_file', {
    path: 'Documents/reports/demo-week.md',
    edits: [{ old: '1 deal won', new: '2 deals won' }],
    create_backup: false,
  })
  await agent.call('delete_file', { path: 'temp/demo-scratch.txt' })
  const request = await agent.call('request_grant', {
    path: join(currentFolders().home, 'Documents'),
    permission: 'read',
    reason: 'To find the signed version of the contract with deal_12.',
  })
  // A folder that can never be granted produces no pending request.
  return request.structuredContent?.['status'] === 'pending'
}

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
 * Creates a project that two agents work on: one completes a story and claims the next, the other claims one (K7).
 * If the project exists, only the claims are repeated.
 */
export async function runWorkScene(first: Agent, second: Agent): Promise<void> {
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
