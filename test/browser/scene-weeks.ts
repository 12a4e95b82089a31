import type { TestApp } from '../app.ts'
import { connectAgent } from './agent.ts'
import type { Clock, Played } from './scene.ts'

/** The number of days before the scene. */
export const weeksBefore = 24
const daySeconds = 86_400

const crmRules = [
  { field: 'deal_stage', constraint: 'high_risk' },
  { field: 'amount', constraint: 'value_range', min: 0, max: 500_000 },
  { field: 'commission', constraint: 'readonly', reason: 'Finance only.' },
]
const policies = (rules: readonly object[]) => [
  { id: 'crm-write-policy', description: 'Changes to deals and contacts', rules },
  {
    id: 'support-write-policy',
    description: 'Tickets and what customers are told',
    rules: [
      { field: 'priority', constraint: 'enum', values: ['low', 'normal', 'high'] },
      { field: 'reply_to', constraint: 'regex', pattern: '^\\S+@\\S+$', severity: 'warn' },
    ],
  },
  { id: 'code-policy', description: 'Changes to code and documents', rules: [] },
]
const mappings = [
  { agent_id: 'sales-*', domain: 'crm.*', policy_id: 'crm-write-policy' },
  { agent_id: 'support-agent', domain: 'support.tickets', policy_id: 'support-write-policy' },
  { agent_id: 'codex', domain: 'code.*', policy_id: 'code-policy' },
  { agent_id: 'claude-code', domain: 'docs.*', policy_id: 'code-policy' },
]

/** Policies and mappings. */
export const sceneSettings = { policies: policies(crmRules), mappings }

/** Disables random spot checks. */
export const sceneDraw = (): number => 1

type Pair = {
  readonly agent: string
  readonly domain: string
  /** One word per day and one letter per decision: `a` approved, others as below, `.` a day off. */
  readonly days: string
}

const overrides: Record<string, { override_type: string; severity: string }> = {
  w: { override_type: 'agent_wrong', severity: 'medium' },
  W: { override_type: 'agent_wrong', severity: 'high' },
  m: { override_type: 'missing_context', severity: 'medium' },
  e: { override_type: 'edge_case', severity: 'medium' },
  p: { override_type: 'human_preference', severity: 'medium' },
}

const pairs: readonly Pair[] = [
  {
    agent: 'sales-agent',
    domain: 'crm.deals',
    days: 'aa am a . aa ae aa . aa aaa a pa aa m . aa ae a aaa a W w a .',
  },
  {
    agent: 'sales-agent',
    domain: 'crm.contacts',
    days: '. . a aa . a . . ea a . aa . a . . . aw . . . . . .',
  },
  {
    agent: 'codex',
    domain: 'code.search',
    days: '. . . . a aa a . aa w . a . . a aa . . a . . . a .',
  },
  {
    agent: 'claude-code',
    domain: 'docs.handbook',
    // Becomes autonomous until a mistake is found.
    days: 'aa aa aaa . aa aa aa aa . aaa aa a . aa aa p aa aa aa aa aa aa aa aw',
  },
  {
    agent: 'support-agent',
    domain: 'support.tickets',
    days: 'a aa a . aa a ma . a aa . e aa a . aa W . a aa . a aa .',
  },
  // Active every day, because credit decays on days off.
  {
    agent: 'codex',
    domain: 'code.billing',
    days: 'aa a a a aa a a a a a a a a a a aa a a a a a a a a',
  },
]

const callerOf =
  (app: TestApp) =>
  async <T>(tool: string, args: Record<string, unknown>, token?: string): Promise<T> => {
    const reply = await app.call(tool, args, token)
    const body = (await reply.json()) as { output: T }
    if (!reply.ok) throw new Error(`${tool}: ${JSON.stringify(body)}`)
    return body.output
  }

type Proposed = { readonly proposal_id: string; readonly mode: string }
type Tokens = NonNullable<Played['tokens']> & { readonly 'support-agent': string }

/** Plays weeks of proposals and decisions that build trust. */
export async function playWeeks(app: TestApp, clock: Clock): Promise<Tokens> {
  const call = callerOf(app)
  const join = async (id: string) =>
    (await call<{ token: string }>('cowork_add_agent', { id })).token
  const tokens = {
    'claude-code': await join('claude-code'),
    codex: await join('codex'),
    'sales-agent': await join('sales-agent'),
    'support-agent': await join('support-agent'),
  }
  const known: Readonly<Record<string, string>> = tokens
  await call('cowork_set_trust', {
    agent_id: 'claude-code',
    domain: 'docs.handbook',
    score: 0.5,
    reason: 'Worked with us in the old system',
  })

  let count = 0
  async function work({ agent, domain }: Pair, letter: string) {
    count += 1
    const { proposal_id: id, mode } = await call<Proposed>(
      'cowork_propose',
      proposed(domain, count),
      known[agent],
    )
    const took = 35 + (count % 7) * 40
    clock.forward(took)
    const override = overrides[letter]
    if (override)
      await call('cowork_override', {
        agent_id: agent,
        domain,
        action_description: 'update',
        description: 'Not as we do it',
        proposal_id: id,
        ...override,
      })
    else if (mode !== 'act') await call('cowork_approve', { proposal_id: id })
    return took
  }

  const hours = daySeconds / pairs.length
  for (let day = 0; day < weeksBefore; day++)
    for (const pair of pairs) {
      let spent = 0
      const letters = pair.days.split(' ')[day] ?? '.'
      for (const letter of letters === '.' ? '' : letters) {
        spent += await work(pair, letter)
        clock.forward(1200)
        spent += 1200
      }
      // Each agent has its own hours, so that its days are 24 h apart.
      clock.forward(hours - spent)
    }
  return tokens
}

const proposed = (domain: string, count: number) => ({
  domain,
  action: 'update',
  target: `${domain.split('.').at(-1)}_${10_000 + count}`,
  proposed_change: { note: `Step ${count}` },
  confidence: 0.8 + (count % 5) / 25,
  reasoning: 'As agreed with the team.',
})

/** The requests of the scene by minute; most are pending at the end. */
export function asking(app: TestApp, tokens: Tokens): Played {
  const call = callerOf(app)
  const by =
    (agent: keyof Tokens, tool: string, ...calls: object[]) =>
    async () => {
      const client = await connectAgent(
        app,
        { name: 'claude-code', version: '2.1.14' },
        tokens[agent],
      )
      for (const args of calls) await client.call(tool, { ...args })
      await client.close()
    }
  const propose = (agent: keyof Tokens, ...calls: object[]) =>
    by(
      agent,
      'cowork_propose',
      ...calls.map((args) => ({ action: 'update', confidence: 0.92, ...args })),
    )
  const offer = { domain: 'crm.deals', target: 'deal_12345' }
  return {
    tokens,
    besides: {
      19: propose('codex', {
        domain: 'code.billing',
        target: 'src/invoice/total.ts',
        proposed_change: { rounding: 'half-even' },
        reasoning: 'The tests pass with it.',
      }),
      24: by('sales-agent', 'cowork_handoff', {
        domain: 'crm.deals',
        reason: 'Contract wording differs between two versions',
        confidence: 0.4,
        attempted_actions: [
          'Compared both versions clause by clause',
          'Looked for the signed copy in the deal room',
          'Asked the account team, no answer yet',
        ],
        context: { deal: 'deal_20817', clause: '7.2 liability', versions: ['draft_3', 'final_b'] },
      }),
      33: () =>
        call('cowork_save_policies', {
          body: {
            policies: policies([
              ...crmRules,
              { field: 'discount', constraint: 'high_risk', approvers: 2 },
            ]),
            mappings,
          },
          note: 'Discounts need two people from this quarter on',
        }),
      37: async () => {
        const { proposal_id: id } = await call<Proposed>(
          'cowork_propose',
          {
            ...offer,
            action: 'update',
            confidence: 0.9,
            proposed_change: { deal_stage: 'negotiation', amount: 48_000 },
            reasoning: 'They asked for an offer.',
          },
          tokens['sales-agent'],
        )
        await call('cowork_approve', { proposal_id: id })
      },
      46: propose(
        'support-agent',
        ...[4102, 4108, 4111, 4127, 4130].map((ticket) => ({
          domain: 'support.tickets',
          target: `ticket_${ticket}`,
          proposed_change: { priority: 'high' },
          confidence: 0.86,
          reasoning: 'Waiting for more than two days.',
        })),
      ),
      48: propose('claude-code', {
        domain: 'files.archive',
        target: 'handbook/2024',
        proposed_change: { folder: 'archive' },
        reasoning: 'Nobody has opened it this year.',
      }),
      54: propose('sales-agent', {
        ...offer,
        proposed_change: { deal_stage: 'closed_won', amount: 48_000 },
        reasoning: 'All criteria met: budget approved, stakeholder consensus.',
      }),
    },
  }
}
