import { join } from 'node:path'
import { currentFolders } from '#base/config/index.ts'
import type { createDemoAgent } from './agent.ts'

/** What the demo's agents want, and whether it is right: known to the play, not to cowork. */
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
  /** Share of its proposals that are wrong. */
  readonly errs: number
  readonly about: string
}

/** Their domains are their own, so that nobody's trust in real work is touched. */
export const roles: readonly Role[] = [
  { id: 'demo-careful', domain: 'demo.contacts', errs: 0, about: 'never wrong' },
  { id: 'demo-steady', domain: 'demo.tickets', errs: 0.06, about: 'wrong now and then' },
  { id: 'demo-hasty', domain: 'demo.deals', errs: 0.35, about: 'wrong a third of the time' },
]

type Template = Omit<Scene, 'isRight' | 'confidence' | 'target'> & {
  /** What an agent writes that errs, where it shows. */
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

/** What an agent gives to a person when it does not know how to go on. */
export const demoHandoff = {
  reason: 'The contract has two versions with different prices, and both are signed.',
  confidence: 0.4,
  attempted_actions: ['compared the two versions', 'looked for a later mail', 'asked the owner'],
  context: { deal: 'deal_12', versions: { march: 48_000, april: 52_000 } },
}

/** The same numbers every time, so that the demo looks the same twice. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pickScene({ domain, errs }: Role, chance: () => number): Scene {
  const choices = templates[domain] ?? []
  const template = choices[Math.floor(chance() * choices.length)]
  if (!template) throw new Error(`the demo has nothing to do in ${domain}`)
  const { mistake, ...rest } = template
  const isRight = chance() >= errs
  const change = isRight ? rest.proposed_change : (mistake ?? rest.proposed_change)
  // An agent that errs is a little less sure, but only a little: that is what makes it dangerous.
  const confidence = Math.round((0.78 + chance() * 0.2 - (isRight ? 0 : 0.06)) * 100) / 100
  const target = `${domain.slice(domain.indexOf('.') + 1, -1)}_${1 + Math.floor(chance() * 40)}`
  return { ...rest, proposed_change: change, target, confidence, isRight }
}

type Agent = ReturnType<typeof createDemoAgent>

/** What an agent writes during the hour: small files with names of their own, in the folders meant for them. */
const written = [
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

/** Where its files are after it; the last one is in the trash. */
export const writtenPaths = written.slice(0, -1).map(({ path }) => path)

/**
 * Files to look at, one with an earlier version and one in the trash, and a question that only a person
 * answers: whether the agent may read what is theirs (K7). What was there before is written over: it is ours.
 */
export async function runFileScene(agent: Agent): Promise<boolean> {
  for (const file of written) await agent.call('create_file', { ...file, overwrite: true })
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
  // Where the folder can never be granted there is nothing to ask.
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
 * A plan that two agents work through: one finishes a story and takes the next, the other holds one (K7).
 * Where the plan is there already, only the claims are made again.
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
