import { setTimeout as sleep } from 'node:timers/promises'
import type { TestApp } from '../app.ts'
import { connectAgent } from './agent.ts'

/** The duration of the scene, which ends now. */
export const sceneMinutes = 58

export type Clock = { forward(seconds: number): void }

/** A clock that only the scene advances. */
export function sceneClock(days = 0): Clock & { now(): number } {
  let at = Date.now() - sceneMinutes * 60_000 - days * 86_400_000
  return { now: () => at, forward: (seconds) => void (at += seconds * 1000) }
}

type Added = { readonly token: string }
type AgentName = 'claude-code' | 'codex' | 'sales-agent'
/** The steps before and during the scene. */
export type Played = {
  /** Tokens of existing agents. */
  readonly tokens?: Readonly<Record<AgentName, string>>
  readonly besides?: Readonly<Record<number, () => Promise<unknown>>>
}
type Step = readonly [minute: number, agent: AgentName, tool: string, args: object]

const log = (domain: string, action: string, target: string, more: object = {}) =>
  ({ domain, action, target, ...more }) as const

/** Plays an hour of work. Names and numbers are fixed, so that pictures are reproducible. */
const hour: readonly Step[] = [
  [2, 'claude-code', 'cowork_status', {}],
  [
    3,
    'claude-code',
    'cowork_log',
    log('docs.handbook', 'rewrite_section', 'handbook/onboarding.md'),
  ],
  [6, 'codex', 'cowork_log', log('code.billing', 'fix_rounding', 'src/invoice/total.ts')],
  [7, 'codex', 'cowork_log', log('code.billing', 'run_tests', 'src/invoice', { phase: 'verify' })],
  [11, 'sales-agent', 'cowork_log', log('crm.deals', 'summarise_call', 'deal_20817')],
  [13, 'sales-agent', 'cowork_add_agent', { id: 'helper' }],
  [16, 'claude-code', 'cowork_log', log('docs.handbook', 'add_diagram', 'handbook/release.md')],
  [19, 'codex', 'cowork_log', log('code.search', 'add_index', 'src/search/tokens.ts')],
  [24, 'sales-agent', 'cowork_log', log('crm.contacts', 'merge_duplicates', 'Brandt GmbH')],
  [
    28,
    'claude-code',
    'cowork_log',
    log('files.workspace', 'sort_downloads', '~/Downloads/AI-Workspace'),
  ],
  [33, 'codex', 'cowork_log', log('code.billing', 'update_changelog', 'CHANGELOG.md')],
  [37, 'sales-agent', 'cowork_log', log('crm.deals', 'draft_offer', 'deal_20817')],
  [
    46,
    'sales-agent',
    'cowork_log',
    log('crm.deals', 'update_deal', 'deal_20817', {
      proposal_id: 'offer-20817',
      details: { stage: 'negotiation', amount: 48200, currency: 'EUR' },
    }),
  ],
  [
    48,
    'sales-agent',
    'cowork_log',
    log('crm.deals', 'update_deal', 'deal_20817', {
      proposal_id: 'offer-20817',
      phase: 'verify',
      details: { stage: 'negotiation', seen_in: 'crm' },
    }),
  ],
  [51, 'claude-code', 'cowork_log', log('docs.handbook', 'publish', 'handbook/onboarding.md')],
  [
    54,
    'codex',
    'cowork_log',
    log('code.search', 'open_pull_request', 'search: rank exact matches first'),
  ],
]

const wrongToken = `sk-cowork-${'0'.repeat(48)}`
const firefox =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0'

/**
 * People and agents use the public endpoints, so that every screen has real data: calls, refusals, a halt, a second
 * person, a wrong token, added and revoked agents.
 */
export async function playScene(
  app: TestApp,
  clock: Clock,
  { tokens, besides = {} }: Played = {},
): Promise<void> {
  const owner = async <T>(tool: string, args: Record<string, unknown> = {}): Promise<T> => {
    const reply = await app.call(tool, args)
    const body = (await reply.json()) as { output: T }
    if (!reply.ok) throw new Error(`${tool}: ${JSON.stringify(body)}`)
    return body.output
  }
  const ledger = (token = app.owner) =>
    fetch(`${app.url}/api/ledger?limit=1`, { headers: { authorization: `Bearer ${token}` } })
  const size = async () => ((await (await ledger()).json()) as { size: number }).size

  /** Waits for deferred entries of reads and refusals before the clock advances. */
  async function recorded(act: () => Promise<unknown>) {
    const before = await size()
    await act()
    while ((await size()) === before) await sleep(5)
  }

  async function join(id: AgentName, client: { name: string; version: string }, scopes?: string[]) {
    const add = () => owner<Added>('cowork_add_agent', { id, ...(scopes && { scopes }) })
    return connectAgent(app, client, tokens?.[id] ?? (await add()).token)
  }

  async function invite(name: string, role: string) {
    const { link } = await owner<{ link: string }>('cowork_invite_person', { name, role })
    await fetch(`${app.url}/api/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': firefox },
      body: JSON.stringify({ code: link.split('=').at(-1) }),
    })
  }

  const agents = {
    'claude-code': await join('claude-code', { name: 'claude-code', version: '2.1.14' }),
    codex: await join('codex', { name: 'codex-mcp-client', version: '0.58.0' }, ['*:cowork']),
    'sales-agent': await join('sales-agent', { name: 'crm-worker', version: '1.4.2' }),
  }
  await owner('cowork_add_agent', { id: 'research-bot', scopes: ['read:*'] })

  const reason = 'Offers above 40,000 need a look first'
  const after: Record<number, () => Promise<unknown>> = {
    19: () => invite('Mara Lindqvist', 'reviewer'),
    24: () => owner('cowork_revoke_agent', { id: 'research-bot' }),
    28: () => owner('cowork_halt', { scope: 'agent:sales-agent', reason }),
    37: () => owner('cowork_resume', { scope: 'agent:sales-agent' }),
    48: () => recorded(() => ledger(wrongToken)),
    51: () => owner('cowork_rotate_agent', { id: 'codex', overlap_minutes: 60 }),
    54: () => owner('cowork_invite_person', { name: 'Jonas Weber', role: 'viewer' }),
  }
  let minute = 0
  for (const [at, agent, tool, args] of hour) {
    clock.forward((at - minute) * 60 - 20)
    await recorded(() => agents[agent].call(tool, { ...args }))
    clock.forward(20)
    await after[at]?.()
    await besides[at]?.()
    minute = at
  }
  clock.forward((sceneMinutes - minute) * 60)
  for (const agent of Object.values(agents)) await agent.close()
}
