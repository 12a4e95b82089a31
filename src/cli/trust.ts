import { CoworkError } from '#base/errors.ts'
import { overrideTypes, severities } from '#base/override.ts'
import type { ToolResults } from '#wire'
import { findApproval } from './approvals.ts'
import { risks } from './choices.ts'
import type { Client } from './client.ts'
import { choice, command, required, text, toolCommand, withDefault } from './command.ts'
import { usageError } from './exit.ts'
import { score } from './inbox/detail.ts'
import { resolveAgent, resolvePrefix } from './lookup.ts'
import { pluralize, formatFields, sanitize, formatTable, tableOf, formatMinute } from './output.ts'

export type Standing = ToolResults['cowork_standing']['standings'][number]

/** How an agent stands in a class of risk, as `cowork_standing` says it (T11, T14). */
type StandingClass = Standing['classes'][number]

const levels = { autonomous: 'Autonomous', supervised: 'Supervised', probation: 'Probation' }

export const levelName = ({ level }: Pick<StandingClass, 'level'>): string => levels[level]

/** The class that most of what agents do is in. */
export function normalOf({ classes }: Pick<Standing, 'classes'>): StandingClass {
  const normal = classes.find(({ risk }) => risk === 'normal')
  if (!normal)
    throw new Error('the daemon did not say how an agent stands where the risk is normal')
  return normal
}

export const standingText = ({ reason, next }: Pick<StandingClass, 'reason' | 'next'>): string =>
  next === undefined ? reason : `${reason}: ${next}`

function classLines(standing: StandingClass): string[] {
  const { risk, reason, next, credit, strikes, checks, kinds } = standing
  return [
    `${risk.toUpperCase()} RISK  ${levelName(standing)}: ${sanitize(reason)}`,
    ...indented(
      formatFields({
        next: next === undefined ? undefined : sanitize(next),
        credit: creditText(credit),
        strikes: strikesText(strikes),
        checks: checksText(checks),
      }),
    ),
    ...indented(
      kinds.length > 0
        ? formatTable(
            ['KIND OF ACTION', 'CREDIT', 'STILL NEEDS'],
            kinds.map(({ kind, credit: own, to_go }) => [
              sanitize(kind),
              signed(own),
              to_go === 0 ? 'nothing' : pluralize(to_go, 'more correct action'),
            ]),
          )
        : [],
    ),
  ]
}

const cells = 10
const debtCells = 4
/** One mark of debt for each mistake that has to be made up for. */
const debtPerCell = 50

/** Credit runs to the right, a debt to the left. */
function creditText({ now, needed }: StandingClass['credit']): string {
  const paid = Math.floor((Math.max(0, now) / needed) * cells)
  const owed = Math.min(debtCells, Math.ceil(Math.max(0, -now) / debtPerCell))
  const left = `${'·'.repeat(debtCells - owed)}${'◂'.repeat(owed)}`
  return `${left}|${'█'.repeat(paid)}${'·'.repeat(cells - paid)}  ${signed(now)} of ${needed}`
}

const strikesText = ({ now, most, forgiven_after: after }: StandingClass['strikes']): string =>
  now === 0 || after === undefined
    ? 'none'
    : `${now} of ${most}, one is forgiven after ${after} clean ${after === 1 ? 'check' : 'checks'}`

function checksText({ unread, look_back: rows, oldest_at: oldest }: StandingClass['checks']) {
  if (unread === 0) return 'none waits'
  const wait = unread === 1 ? '1 waits' : `${unread} wait`
  const back = rows > 0 ? `, ${rows} of a look-back` : ''
  return `${wait}${back}${oldest === undefined ? '' : `, the oldest since ${formatMinute(oldest)}`}`
}

const signed = (value: number) => (value < 0 ? `−${-value}` : String(value))
const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

export const type = () => choice('--type <type>', 'what was wrong', overrideTypes)
export const severity = () => choice('--severity <severity>', 'how serious it is', severities)

/** Corrects an agent, also afterwards and without a proposal (T5). */
export const overrideCommand = toolCommand({
  usage: 'override <agent> <domain>',
  summary: 'correct an agent, also afterwards',
  options: {
    type: required(type()),
    severity: withDefault(severity(), 'medium'),
    description: required(text('--description <text>', 'what should have been')),
    action: text('--action <text>', 'what the agent did (default: the description)'),
    proposal: text('--proposal <id>', 'the proposal it is about'),
  },
  person: 'Overriding',
  tool: 'cowork_override',
  input: async ({ client, args: [given, domain], options }) => ({
    agent_id: await resolveAgent(client, given),
    domain,
    action_description: options.action ?? options.description,
    override_type: options.type,
    severity: options.severity,
    description: options.description,
    proposal_id: options.proposal && (await findApproval(client, options.proposal)).id,
  }),
  show: ({ message }) => message,
})

type Pair = ToolResults['cowork_status']['trust'][number] &
  /** Of the normal class of risk. */
  Pick<StandingClass, 'level' | 'reason' | 'next'> & {
    /** Nobody comes in by that name any more. */
    gone?: true
  }

type Checked = ToolResults['cowork_check_trust']

const reason = required(text('--reason <text>', 'why, for whoever asks later'))

/** How far agents are trusted: all, those of one agent, or one of them with what it rests on. */
export const trustCommand = command({
  usage: 'trust [agent] [domain]',
  summary: 'how far agents are trusted, and why',
  async run({ client, args: [agent, domain] }): Promise<{ trust: Pair[] } | (Checked & Standing)> {
    if (domain === undefined) return { trust: await pairsOf(client, agent) }
    const about = await pairNamed(client, agent, domain)
    const [checked, standing] = await Promise.all([
      client.call('cowork_check_trust', about),
      standingIn(client, about),
    ])
    return { ...checked, ...standing }
  },
  show: (found) =>
    'classes' in found
      ? standingLines(found)
      : tableOf(found.trust, 'No agent has proposed anything yet.', {
          AGENT: (pair) => pair.agent_id,
          DOMAIN: (pair) => pair.domain,
          TRUST: (pair) => score(pair.trust_level),
          LEVEL: (pair) => (pair.gone ? 'Gone' : levelName(pair)),
          WHY: (pair) => (pair.gone ? 'the agent was revoked' : pair.reason),
          NEXT: (pair) => (pair.gone ? '' : pair.next),
        }),
  commands: [
    // With a reason for whoever asks later (T16).
    command({
      usage: 'set <agent> <domain> <score>',
      summary: 'set it by hand, from 0 to 1: 0.8 or more vouches for the agent',
      options: { reason },
      help: 'With 0.8 or more you vouch: the agent acts alone where the risk is low or\nnormal, until its first fault. Less opens nothing.',
      check({ args: [, , given] }) {
        if (given.trim() === '' || !(Number(given) >= 0 && Number(given) <= 1))
          throw usageError(
            'Trust is a number from 0 to 1.',
            'For example: cowork trust set sales crm 0.6',
          )
      },
      person: 'Setting trust',
      async run({ client, args: [agent, domain, given], options }) {
        const about = { agent_id: await resolveAgent(client, agent), domain }
        const asked = { ...about, score: Number(given), reason: options.reason }
        const set = await client.call('cowork_set_trust', asked)
        const { vouched } = await standingIn(client, about)
        return { about, set: { ...set, vouched } }
      },
      json: ({ set }) => set,
      show: ({ about, set: { from, to, vouched } }) => [
        `Trust of ${sanitize(about.agent_id)} in ${sanitize(about.domain)}: ${score(from)} → ${score(to)}.`,
        vouched
          ? 'You vouch for it: where the risk is low or normal it acts alone until the first fault. High risk it has to earn.'
          : 'This opens nothing: only 0.80 or more vouches for an agent. It acts alone once it has earned that.',
      ],
    }),
    command({
      usage: 'forgive <agent> <domain>',
      summary: 'clear the strikes and the debt of an agent',
      options: {
        risk: withDefault(choice('--risk <risk>', 'in this class of risk', risks), 'normal'),
        reason,
      },
      help: 'Its credit begins at 0 again: it acts alone after 25 right actions.',
      person: 'Forgiving',
      async run({ client, args: [agent, domain], options: { risk, reason: why } }) {
        const about = await pairNamed(client, agent, domain)
        const classNow = async () =>
          (await standingIn(client, about)).classes.find((one) => one.risk === risk)
        const owes = await classNow()
        if (!owes || !hasFault(owes))
          throw new CoworkError(
            'nothing_to_forgive',
            `${about.agent_id} has neither strikes nor a debt in ${about.domain} where the risk is ${risk}.`,
            {
              hint: `\`cowork trust ${about.agent_id} ${about.domain}\` shows each class of risk.`,
            },
          )
        await client.call('cowork_forgive', { ...about, risk, reason: why })
        const standing = await classNow()
        return { ...about, risk, ...(standing && { standing }) }
      },
      show: ({ agent_id: agent = '', domain, risk, standing }) => [
        `Forgiven: ${sanitize(agent)} in ${sanitize(domain)}, ${risk} risk.`,
        ...(standing ? classLines(standing) : []),
      ],
    }),
  ],
})

const standingsOf = async (client: Client, about: object = {}): Promise<Standing[]> =>
  (await client.call('cowork_standing', about)).standings

export async function standingIn(client: Client, about: object): Promise<Standing> {
  const [standing] = await standingsOf(client, about)
  if (!standing) throw new Error('the daemon did not say how an agent stands')
  return standing
}

async function pairsOf(client: Client, agent: string | undefined): Promise<Pair[]> {
  const [{ trust, auth }, { agents }, standings] = await Promise.all([
    client.call('cowork_status'),
    client.call('cowork_list_agents'),
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
    const { level, reason: why, next } = normalOf(standing)
    const gone = isGone(pair.agent_id) && { gone: true as const }
    return [{ ...pair, ...gone, level, reason: why, ...(next !== undefined && { next }) }]
  })
  if (agent === undefined) return pairs
  const ids = [...new Set(pairs.map(({ agent_id }) => agent_id))]
  const id = resolvePrefix(agent, ids, 'agent with a record of trust')
  return pairs.filter(({ agent_id }) => agent_id === id)
}

/** Looked up first: to read or forgive in a pair that is not there would create it (T2). */
async function pairNamed(client: Client, agent: string | undefined, given: string) {
  const pairs = await pairsOf(client, agent)
  const domains = pairs.map(({ domain }) => domain)
  const domain = resolvePrefix(given, domains, 'domain of this agent')
  return { agent_id: pairs[0]?.agent_id, domain }
}

function standingLines(standing: Checked & Standing): string[] {
  const { approvals, overrides, decay_days: idle, accuracy, classes } = standing
  const right = accuracy === null ? '–' : `${Math.round(accuracy * 100)} %`
  return [
    ...formatFields({
      agent: sanitize(standing.agent_id),
      domain: sanitize(standing.domain),
      trust: standing.trust_level.toFixed(4),
      vouched: standing.vouched ? 'a person vouched for it, until the first fault' : undefined,
      decided: `${approvals} approved, ${overrides} overridden, ${right} right`,
      'in a row': `${standing.consecutive_overrides} overrides`,
      active: `${standing.last_active_at}, ${idle === 0 ? 'nothing lost since' : `idle for ${idle} days`}`,
    }),
    ...classes.flatMap((one) => ['', ...classLines(one)]),
  ]
}

const hasFault = ({ strikes, credit, kinds }: StandingClass): boolean =>
  strikes.now > 0 || credit.now < 0 || kinds.some((kind) => kind.credit < 0)
