import { CoworkError } from '#base/errors.ts'
import { overrideTypes, severities } from '#base/override.ts'
import type { ToolResults } from '#wire'
import { findApproval } from './approvals.ts'
import { risks } from './choices.ts'
import type { Client } from './client.ts'
import { choice, command, required, text, toolCommand, withDefault } from './command.ts'
import { usageError } from './exit.ts'
import { formatScore } from './inbox/detail.ts'
import { resolveAgent, resolvePrefix } from './lookup.ts'
import {
  pluralize,
  formatFields,
  sanitize,
  formatTable,
  formatRows,
  formatMinute,
} from './output.ts'

export type Standing = ToolResults['cowork_standing']['standings'][number]

/** Trust of an agent in a risk class, from `cowork_standing` (T11, T14). */
type StandingClass = Standing['classes'][number]

const levels = { autonomous: 'Autonomous', supervised: 'Supervised', probation: 'Probation' }

export const formatLevel = ({ level }: Pick<StandingClass, 'level'>): string => levels[level]

/** Returns the normal risk class, which covers most actions. */
export function findNormalClass({ classes }: Pick<Standing, 'classes'>): StandingClass {
  const normal = classes.find(({ risk }) => risk === 'normal')
  if (!normal) throw new Error('no normal risk class in the response of the daemon')
  return normal
}

export const formatStanding = ({ reason, next }: Pick<StandingClass, 'reason' | 'next'>): string =>
  next === undefined ? reason : `${reason}: ${next}`

function formatClass(standing: StandingClass): string[] {
  const { risk, reason, next, credit, strikes, checks, kinds } = standing
  return [
    `${risk.toUpperCase()} RISK  ${formatLevel(standing)}: ${sanitize(reason)}`,
    ...indentLines(
      formatFields({
        next: next === undefined ? undefined : sanitize(next),
        credit: formatCredit(credit),
        strikes: formatStrikes(strikes),
        checks: formatChecks(checks),
      }),
    ),
    ...indentLines(
      kinds.length > 0
        ? formatTable(
            ['KIND OF ACTION', 'CREDIT', 'STILL NEEDS'],
            kinds.map(({ kind, credit: own, to_go }) => [
              sanitize(kind),
              formatSigned(own),
              to_go === 0 ? 'nothing' : pluralize(to_go, 'more correct action'),
            ]),
          )
        : [],
    ),
  ]
}

const creditCells = 10
const debtCells = 4
/** One debt cell per mistake. */
const debtPerCell = 50

/** Draws credit to the right and debt to the left. */
function formatCredit({ now, needed }: StandingClass['credit']): string {
  const paid = Math.floor((Math.max(0, now) / needed) * creditCells)
  const owed = Math.min(debtCells, Math.ceil(Math.max(0, -now) / debtPerCell))
  const left = `${'·'.repeat(debtCells - owed)}${'◂'.repeat(owed)}`
  return `${left}|${'█'.repeat(paid)}${'·'.repeat(creditCells - paid)}  ${formatSigned(now)} of ${needed}`
}

const formatStrikes = ({ now, most, forgiven_after: after }: StandingClass['strikes']): string =>
  now === 0 || after === undefined
    ? 'none'
    : `${now} of ${most}, one is cleared after ${after} clean ${after === 1 ? 'check' : 'checks'}`

function formatChecks({ unread, look_back: rows, oldest_at: oldest }: StandingClass['checks']) {
  if (unread === 0) return 'none pending'
  const wait = `${unread} pending`
  const back = rows > 0 ? `, ${rows} from a look-back` : ''
  return `${wait}${back}${oldest === undefined ? '' : `, the oldest since ${formatMinute(oldest)}`}`
}

const formatSigned = (value: number) => (value < 0 ? `−${-value}` : String(value))
const indentLines = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

export const typeOption = () => choice('--type <type>', 'kind of error', overrideTypes)
export const severityOption = () =>
  choice('--severity <severity>', 'severity of the error', severities)

/** Marks an action as wrong, even afterwards and without a proposal (T5). */
export const overrideCommand = toolCommand({
  usage: 'override <agent> <domain>',
  summary: "mark an agent's action as wrong",
  options: {
    type: required(typeOption()),
    severity: withDefault(severityOption(), 'medium'),
    description: required(text('--description <text>', 'what the agent should have done')),
    action: text('--action <text>', 'what the agent did (default: the description)'),
    proposal: text('--proposal <id>', 'proposal that was wrong'),
  },
  person: 'Overriding',
  tool: 'cowork_override',
  input: async ({ client, args: [agent, domain], options }) => ({
    agent_id: await resolveAgent(client, agent),
    domain,
    action_description: options.action ?? options.description,
    override_type: options.type,
    severity: options.severity,
    description: options.description,
    proposal_id: options.proposal && (await findApproval(client, options.proposal)).id,
  }),
  show: ({ message }) => message,
})

type TrustRow = ToolResults['cowork_status']['trust'][number] &
  /** Values of the normal risk class. */
  Pick<StandingClass, 'level' | 'reason' | 'next'> & {
    /** The agent was revoked. */
    gone?: true
  }

type TrustResult = ToolResults['cowork_check_trust']

const reason = required(text('--reason <text>', 'reason, shown in the history'))

/** Shows the trust of all agents, of one agent, or of one agent in one domain with the evidence. */
export const trustCommand = command({
  usage: 'trust [agent] [domain]',
  summary: 'show and set trust',
  async run({
    client,
    args: [agent, domain],
  }): Promise<{ trust: TrustRow[] } | (TrustResult & Standing)> {
    if (domain === undefined) return { trust: await listTrustRows(client, agent) }
    const target = await resolveTrustRow(client, agent, domain)
    const [checked, standing] = await Promise.all([
      client.call('cowork_check_trust', target),
      readStanding(client, target),
    ])
    return { ...checked, ...standing }
  },
  show: (result) =>
    'classes' in result
      ? formatTrust(result)
      : formatRows(result.trust, 'No proposals yet.', {
          AGENT: (pair) => pair.agent_id,
          DOMAIN: (pair) => pair.domain,
          TRUST: (pair) => formatScore(pair.trust_level),
          LEVEL: (pair) => (pair.gone ? 'Revoked' : formatLevel(pair)),
          REASON: (pair) => (pair.gone ? 'agent revoked' : pair.reason),
          NEXT: (pair) => (pair.gone ? '' : pair.next),
        }),
  commands: [
    // Requires a reason, shown in the history (T16).
    command({
      usage: 'set <agent> <domain> <score>',
      summary: 'set the trust score, from 0 to 1',
      options: { reason },
      help: 'A score of 0.8 or more vouches for the agent: it acts autonomously at low and\nnormal risk until its first error. A lower score allows no autonomous actions.',
      check({ args: [, , value] }) {
        if (value.trim() === '' || !(Number(value) >= 0 && Number(value) <= 1))
          throw usageError(
            'Invalid score: use a number from 0 to 1.',
            'For example: cowork trust set sales crm 0.6',
          )
      },
      person: 'Setting trust',
      async run({ client, args: [agent, domain, value], options }) {
        const target = { agent_id: await resolveAgent(client, agent), domain }
        const input = { ...target, score: Number(value), reason: options.reason }
        const set = await client.call('cowork_set_trust', input)
        const { vouched } = await readStanding(client, target)
        return { target, set: { ...set, vouched } }
      },
      json: ({ set }) => set,
      show: ({ target, set: { from, to, vouched } }) => [
        `Trust of ${sanitize(target.agent_id)} in ${sanitize(target.domain)}: ${formatScore(from)} → ${formatScore(to)}.`,
        vouched
          ? 'Vouched: the agent acts autonomously at low and normal risk until its first error.'
          : 'Not vouched: below 0.80 the agent acts autonomously only after it has earned it.',
      ],
    }),
    command({
      usage: 'forgive <agent> <domain>',
      summary: "clear an agent's strikes and debt",
      options: {
        risk: withDefault(choice('--risk <risk>', 'risk class', risks), 'normal'),
        reason,
      },
      help: 'Debt becomes 0. Earned credit stays.',
      person: 'Forgiving',
      async run({ client, args: [agent, domain], options: { risk, reason: why } }) {
        const target = await resolveTrustRow(client, agent, domain)
        const readClass = async () =>
          (await readStanding(client, target)).classes.find((row) => row.risk === risk)
        const before = await readClass()
        if (!before || !hasFault(before))
          throw new CoworkError(
            'nothing_to_forgive',
            `No strikes and no debt: ${target.agent_id} in ${target.domain}, ${risk} risk.`,
            {
              hint: `Run \`cowork trust ${target.agent_id} ${target.domain}\` to see each risk class.`,
            },
          )
        await client.call('cowork_forgive', { ...target, risk, reason: why })
        const standing = await readClass()
        return { ...target, risk, ...(standing && { standing }) }
      },
      show: ({ agent_id: agent = '', domain, risk, standing }) => [
        `Cleared strikes and debt of ${sanitize(agent)} in ${sanitize(domain)}, ${risk} risk.`,
        ...(standing ? formatClass(standing) : []),
      ],
    }),
  ],
})

const readStandings = async (client: Client, scope: object = {}): Promise<Standing[]> =>
  (await client.call('cowork_standing', scope)).standings

export async function readStanding(client: Client, scope: object): Promise<Standing> {
  const [standing] = await readStandings(client, scope)
  if (!standing) throw new Error('no standing in the response of the daemon')
  return standing
}

async function listTrustRows(client: Client, agent: string | undefined): Promise<TrustRow[]> {
  const [{ trust, auth }, { agents }, standings] = await Promise.all([
    client.call('cowork_status'),
    client.call('cowork_list_agents'),
    readStandings(client),
  ])
  const isRevoked = (id: string) => {
    const agent = agents.find((row) => row.id === id)
    return agent ? agent.status === 'revoked' : auth === 'closed'
  }
  const pairs = trust.flatMap((pair): TrustRow[] => {
    const standing = standings.find(
      ({ agent_id, domain }) => agent_id === pair.agent_id && domain === pair.domain,
    )
    if (!standing) return []
    const { level, reason: why, next } = findNormalClass(standing)
    const gone = isRevoked(pair.agent_id) && { gone: true as const }
    return [{ ...pair, ...gone, level, reason: why, ...(next !== undefined && { next }) }]
  })
  if (agent === undefined) return pairs
  const ids = [...new Set(pairs.map(({ agent_id }) => agent_id))]
  const id = resolvePrefix(agent, ids, 'agent with trust')
  return pairs.filter(({ agent_id }) => agent_id === id)
}

/** Resolves agent and domain first: reading or forgiving an unknown pair would create it (T2). */
async function resolveTrustRow(client: Client, agent: string | undefined, given: string) {
  const pairs = await listTrustRows(client, agent)
  const domains = pairs.map(({ domain }) => domain)
  const domain = resolvePrefix(given, domains, 'domain of this agent')
  return { agent_id: pairs[0]?.agent_id, domain }
}

function formatTrust(standing: TrustResult & Standing): string[] {
  const { approvals, overrides, decay_days: idle, accuracy, classes } = standing
  const right = accuracy === null ? '–' : `${Math.round(accuracy * 100)} %`
  return [
    ...formatFields({
      agent: sanitize(standing.agent_id),
      domain: sanitize(standing.domain),
      trust: standing.trust_level.toFixed(4),
      vouched: standing.vouched ? 'by a person, until the first error' : undefined,
      decided: `${approvals} approved, ${overrides} overridden, ${right} correct`,
      consecutive: `${standing.consecutive_overrides} overrides`,
      active: `${standing.last_active_at}, ${idle === 0 ? 'no decay' : `idle for ${idle} days`}`,
    }),
    ...classes.flatMap((row) => ['', ...formatClass(row)]),
  ]
}

const hasFault = ({ strikes, credit, kinds }: StandingClass): boolean =>
  strikes.now > 0 || credit.now < 0 || kinds.some((kind) => kind.credit < 0)
