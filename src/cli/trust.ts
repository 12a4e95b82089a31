import { CoworkError } from '#base/errors.ts'
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
import { classLines, levelName, normalOf } from './standing-lines.ts'
import type { Standing, StandingClass } from './standing-lines.ts'

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
  /** Of the normal class of risk. */
  level: StandingClass['level']
  reason: string
  next?: string
}

type Checked = Pair & {
  accuracy: number | null
  consecutive_overrides: number
  decay_days: number
  last_active_at: string
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
  const about = { agent_id: pairs[0]?.agent_id, domain: where }
  const [checked, standing] = await Promise.all([
    client.call<Checked>('cowork_check_trust', about),
    standingIn(client, about),
  ])
  const all = { ...checked, ...standing }
  context.out.data(all, () => standingLines(all))
}

const standingsOf = async (client: Client, about: object = {}): Promise<Standing[]> =>
  (await client.call<{ standings: Standing[] }>('cowork_standing', about)).standings

async function standingIn(
  client: Client,
  about: { readonly agent_id: string | undefined; readonly domain: string },
): Promise<Standing> {
  const [standing] = await standingsOf(client, about)
  if (!standing) throw new Error('the daemon did not say how an agent stands')
  return standing
}

async function pairsOf(client: Client, agent: string | undefined): Promise<Pair[]> {
  const [{ trust, auth }, { agents }, standings] = await Promise.all([
    client.call<{ trust: Omit<Pair, 'level' | 'reason'>[]; auth: string }>('cowork_status'),
    client.call<{ agents: { id: string; status: string }[] }>('cowork_list_agents'),
    standingsOf(client),
  ])
  const isGone = (id: string) => {
    const known = agents.find((one) => one.id === id)
    return known ? known.status === 'revoked' : auth === 'closed'
  }
  const pairs = trust.flatMap((pair): Pair[] => {
    const standing = standings.find(
      ({ agent_id, domain }) => agent_id === pair.agent_id && domain === pair.domain,
    )
    if (!standing) return []
    const { level, reason, next } = normalOf(standing)
    const gone = isGone(pair.agent_id) && { gone: true as const }
    return [{ ...pair, ...gone, level, reason, ...(next !== undefined && { next }) }]
  })
  if (agent === undefined) return pairs
  const ids = [...new Set(pairs.map(({ agent_id }) => agent_id))]
  const id = byPrefix(agent, ids, 'agent with a record of trust')
  return pairs.filter(({ agent_id }) => agent_id === id)
}

function list({ out }: Context, pairs: readonly Pair[]): void {
  const head = ['AGENT', 'DOMAIN', 'TRUST', 'LEVEL', 'WHY', 'NEXT']
  const rows = pairs.map((pair) => [
    plain(pair.agent_id),
    plain(pair.domain),
    score(pair.trust_level),
    pair.gone ? 'Gone' : levelName(pair),
    pair.gone ? 'the agent was revoked' : plain(pair.reason),
    pair.gone || pair.next === undefined ? '' : plain(pair.next),
  ])
  out.data({ trust: pairs }, () =>
    pairs.length > 0 ? table(head, rows) : ['No agent has proposed anything yet.'],
  )
}

function standingLines(standing: Checked & Standing): string[] {
  const { approvals, overrides, decay_days, classes } = standing
  return [
    ...fields({
      agent: plain(standing.agent_id),
      domain: plain(standing.domain),
      trust: standing.trust_level.toFixed(4),
      vouched: standing.vouched ? 'a person vouched for it, until the first fault' : undefined,
      decided: `${approvals} approved, ${overrides} overridden, ${percent(standing.accuracy)} right`,
      'in a row': `${standing.consecutive_overrides} overrides`,
      active: `${standing.last_active_at}, ${decay_days === 0 ? 'nothing lost since' : `idle for ${decay_days} days`}`,
    }),
    ...classes.flatMap((one) => ['', ...classLines(one)]),
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
  const { vouched } = await standingIn(client, { agent_id, domain })
  context.out.data({ ...set, vouched }, () => [
    `Trust of ${plain(agent_id)} in ${plain(domain)}: ${score(set.from)} → ${score(set.to)}.`,
    vouched ? vouchedText : notVouchedText,
  ])
}

const vouchedText =
  'You vouch for it: where the risk is low or normal it acts alone until the first fault. High risk it has to earn.'
const notVouchedText =
  'This opens nothing: only 0.80 or more vouches for an agent. It acts alone once it has earned that.'

export type ForgiveFlags = {
  readonly risk: StandingClass['risk']
  readonly reason: string
}

/** Clears strikes and debts of an agent, with a reason for whoever asks later (T16). */
export async function forgive(
  context: Context,
  given: { readonly agent: string; readonly domain: string },
  { risk, reason }: ForgiveFlags,
): Promise<void> {
  requirePersonHere(context, 'Forgiving')
  const client = createClient(context)
  const pairs = await pairsOf(client, given.agent)
  const agent_id = pairs[0]?.agent_id
  // Looked up first: to forgive in a domain that is not there would create it (T2).
  const domain = byPrefix(
    given.domain,
    pairs.map((pair) => pair.domain),
    'domain of this agent',
  )
  const before = await standingIn(client, { agent_id, domain })
  const owes = before.classes.find((one) => one.risk === risk)
  if (!owes || !hasFault(owes))
    throw new CoworkError(
      'nothing_to_forgive',
      `${agent_id} has neither strikes nor a debt in ${domain} where the risk is ${risk}.`,
      { hint: `\`cowork trust ${agent_id} ${domain}\` shows each class of risk.` },
    )
  await client.call('cowork_forgive', { agent_id, domain, risk, reason })
  const { classes } = await standingIn(client, { agent_id, domain })
  const after = classes.find((one) => one.risk === risk)
  context.out.data({ agent_id, domain, risk, ...(after && { standing: after }) }, () => [
    `Forgiven: ${plain(agent_id ?? '')} in ${plain(domain)}, ${risk} risk.`,
    ...(after ? classLines(after) : []),
  ])
}

/** Whether there is anything to forgive. */
const hasFault = ({ strikes, credit, kinds }: StandingClass): boolean =>
  strikes.now > 0 || credit.now < 0 || kinds.some((kind) => kind.credit < 0)
