import { agentNamed } from './agent-named.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { usage } from './exit.ts'
import { score } from './inbox/detail.ts'
import { fields, table } from './output.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'
import { byPrefix } from './prefix.ts'

type Pair = {
  agent_id: string
  domain: string
  trust_level: number
  mode: string
  approvals: number
  overrides: number
  override_rate: number | null
  /** Nobody comes in by that name any more. */
  gone?: true
}

type Evidence = { approvals: number; overrides: number; evidence_level: number; gated: boolean }

type Standing = Pair & {
  accuracy: number | null
  consecutive_overrides: number
  decay_days: number
  last_active_at: string
  by_risk: Record<'low' | 'normal' | 'high', Evidence>
}

/** How far agents are trusted: all, those of one agent, or one of them with what it rests on. */
export async function trust(
  context: Context,
  agent: string | undefined,
  domain: string | undefined,
): Promise<void> {
  const client = createClient(context)
  const pairs = await pairsOf(client, agent)
  if (domain === undefined) return list(context, pairs)
  const domains = pairs.map((pair) => pair.domain)
  // Looked up first: to read a pair that is not there would create it (T2).
  const where = byPrefix(domain, domains, 'domain of this agent')
  const agent_id = pairs[0]?.agent_id
  const standing = await client.call<Standing>('cowork_check_trust', { agent_id, domain: where })
  context.out.data(standing, () => standingLines(standing))
}

async function pairsOf(client: Client, agent: string | undefined): Promise<Pair[]> {
  const [{ trust, auth }, { agents }] = await Promise.all([
    client.call<{ trust: Pair[]; auth: string }>('cowork_status'),
    client.call<{ agents: { id: string; status: string }[] }>('cowork_list_agents'),
  ])
  const isGone = (id: string) => {
    const known = agents.find((one) => one.id === id)
    return known ? known.status === 'revoked' : auth === 'closed'
  }
  const pairs = trust.map((pair) =>
    isGone(pair.agent_id) ? { ...pair, gone: true as const } : pair,
  )
  if (agent === undefined) return pairs
  const ids = [...new Set(pairs.map(({ agent_id }) => agent_id))]
  const id = byPrefix(agent, ids, 'agent with a record of trust')
  return pairs.filter(({ agent_id }) => agent_id === id)
}

function list({ out }: Context, pairs: readonly Pair[]): void {
  const head = ['AGENT', 'DOMAIN', 'TRUST', 'MODE', 'APPROVED', 'OVERRIDDEN', 'RATE']
  const rows = pairs.map((pair) => [
    plain(pair.agent_id),
    plain(pair.domain),
    score(pair.trust_level),
    pair.gone ? 'gone' : pair.mode,
    pair.approvals,
    pair.overrides,
    percent(pair.override_rate),
  ])
  out.data({ trust: pairs }, () =>
    pairs.length > 0 ? table(head, rows) : ['No agent has proposed anything yet.'],
  )
}

function standingLines(standing: Standing): string[] {
  const { approvals, overrides, decay_days, by_risk } = standing
  return [
    ...fields({
      agent: plain(standing.agent_id),
      domain: plain(standing.domain),
      trust: standing.trust_level.toFixed(4),
      mode: standing.mode,
      decided: `${approvals} approved, ${overrides} overridden, ${percent(standing.accuracy)} right`,
      'in a row': `${standing.consecutive_overrides} overrides`,
      active: `${standing.last_active_at}, ${decay_days === 0 ? 'nothing lost since' : `idle for ${decay_days} days`}`,
    }),
    '',
    ...table(
      ['RISK', 'GOOD', 'BAD', 'EVIDENCE', 'MAY ACT ALONE'],
      Object.entries(by_risk).map(([risk, evidence]) => [
        risk,
        evidence.approvals,
        evidence.overrides,
        score(evidence.evidence_level),
        evidence.gated ? 'not yet' : 'as far as evidence goes',
      ]),
    ),
  ]
}

const percent = (share: number | null) => (share === null ? '–' : `${Math.round(share * 100)} %`)

/** Sets a score by hand, with a reason for whoever asks later (T16). */
export async function setTrust(
  context: Context,
  given: { readonly agent: string; readonly domain: string; readonly score: string },
  { reason }: { readonly reason: string },
): Promise<void> {
  const { agent, domain } = given
  const wanted = Number(given.score)
  if (given.score.trim() === '' || !(wanted >= 0 && wanted <= 1))
    throw usage('Trust is a number from 0 to 1.', 'For example: cowork trust set sales crm 0.6')
  requirePersonHere(context, 'Setting trust')
  const client = createClient(context)
  const agent_id = await agentNamed(client, agent)
  const asked = { agent_id, domain, score: wanted, reason }
  const set = await client.call<{ from: number; to: number }>('cowork_set_trust', asked)
  context.out.data(set, () => [
    `Trust of ${plain(agent_id)} in ${plain(domain)}: ${score(set.from)} → ${score(set.to)}.`,
  ])
}
