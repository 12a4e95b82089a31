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
  readonly targets: string
  /** What an agent writes that errs, where it shows. */
  readonly mistake?: Scene['proposed_change']
}

const templates: Record<string, readonly Template[]> = {
  'demo.contacts': [
    {
      action: 'update_contact',
      targets: 'contact',
      proposed_change: { phone: '+41 44 555 01 20' },
      reasoning: 'The signature of the last mail has a new number.',
    },
    {
      action: 'merge_contacts',
      targets: 'contact',
      proposed_change: { keep: 'contact_7', drop: 'contact_19' },
      reasoning: 'Same address and same name; one has no history.',
    },
    {
      action: 'tag_contact',
      targets: 'contact',
      proposed_change: { tags: ['newsletter', 'zurich'] },
      reasoning: 'Signed up at the fair in Zurich.',
    },
  ],
  'demo.tickets': [
    {
      action: 'set_priority',
      targets: 'ticket',
      proposed_change: { priority: 'high' },
      reasoning: 'Third message within an hour, and the service is down for them.',
    },
    {
      action: 'answer_ticket',
      targets: 'ticket',
      proposed_change: { status: 'answered', template: 'reset-steps' },
      reasoning: 'A known question; the steps are in the handbook.',
    },
    {
      action: 'close_ticket',
      targets: 'ticket',
      proposed_change: { status: 'closed' },
      reasoning: 'No answer for 14 days after the solution was sent.',
    },
  ],
  'demo.deals': [
    {
      action: 'update_deal',
      targets: 'deal',
      proposed_change: { deal_stage: 'closed_won', amount: 48_000 },
      mistake: { deal_stage: 'closed_won', amount: 480_000 },
      reasoning: 'Budget approved and all signatures are there.',
    },
    {
      action: 'update_deal',
      targets: 'deal',
      proposed_change: { next_step: 'send the offer' },
      reasoning: 'They asked for a price in the last call.',
    },
    {
      action: 'assign_deal',
      targets: 'deal',
      proposed_change: { owner: 'someone else' },
      reasoning: 'The owner is on leave this week.',
    },
  ],
}

/** What an agent gives to a person when it does not know how to go on. */
export const handedOver = {
  reason: 'The contract has two versions with different prices, and both are signed.',
  confidence: 0.4,
  attempted_actions: ['compared the two versions', 'looked for a later mail', 'asked the owner'],
  context: { deal: 'deal_12', versions: { march: 48_000, april: 52_000 } },
}

/** The same numbers every time, so that the demo looks the same twice. */
export function chanceFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function sceneOf({ domain, errs }: Role, chance: () => number): Scene {
  const choices = templates[domain] ?? []
  const template = choices[Math.floor(chance() * choices.length)]
  if (!template) throw new Error(`the demo has nothing to do in ${domain}`)
  const { targets, mistake, ...rest } = template
  const isRight = chance() >= errs
  const change = isRight ? rest.proposed_change : (mistake ?? rest.proposed_change)
  // An agent that errs is a little less sure, but only a little: that is what makes it dangerous.
  const confidence = Math.round((0.78 + chance() * 0.2 - (isRight ? 0 : 0.06)) * 100) / 100
  const target = `${targets}_${1 + Math.floor(chance() * 40)}`
  return { ...rest, proposed_change: change, target, confidence, isRight }
}
