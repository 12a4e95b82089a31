import type { ToolResults } from '#wire'
import { resolveAgent, parseJsonArgument } from './lookup.ts'
import { parseAllowance, findApprovals, parseGrantChoice, isCheck, readByIds } from './approvals.ts'
import type { ApprovalMatch, ApprovalItem, Outcome } from './approvals.ts'
import type { Client } from './client.ts'
import { command, flag, parsePositiveInt, text } from './command.ts'
import type { Values } from './command.ts'
import { confirmEach } from './inbox/inbox.ts'
import { toError } from './daemon.ts'
import { exitCode, usageError } from './exit.ts'
import { formatGrant, listActiveGrants } from './grants.ts'
import { changesTrust } from './inbox/actions.ts'
import { score } from './inbox/detail.ts'
import { severity, type } from './trust.ts'
import { sanitize } from './output.ts'

type Decided = {
  readonly outcomes: readonly Outcome[]
  readonly items: readonly ApprovalItem[]
  /** What requests for access came to, in words: more or less than was asked for. */
  readonly opened: ReadonlyMap<string, string>
  /** The answer to a whole batch. */
  readonly batch?: ToolResults['cowork_bulk_approve']
}

const args = { ids: { about: 'ids, or beginnings of them that fit one only' } }
const now = () => flag('--now', 'not to be undone: several or high risk wait a moment')

const approving = {
  agent: text('--agent <id>', 'in place of ids: all proposals of this agent that wait'),
  domain: text('--domain <name>', 'in place of ids: all proposals in this domain that wait'),
  expect: parsePositiveInt(
    '--expect <count>',
    'with them: how many that is, else nothing is approved',
  ),
  feedback: text('--feedback <text>', 'what the agent should know'),
  allow: text(
    '--allow <what>',
    'a call: once, session, always, uses:<n> or until:<time>; access: file-once, file, folder, folder-write, folder-session or until:<time>',
  ),
  change: text('--change <json>', 'approve this instead, as JSON or @file'),
  policy: text('--policy <id>', 'for work in a new domain: under which policy'),
  acknowledgePolicy: text(
    '--acknowledge-policy <version>',
    'approve what this active policy version blocks',
  ),
  skip: flag('--skip', 'a check: close it without looking at it, so that it counts for nothing'),
  now: now(),
}
type Approving = Values<typeof approving>

/** One outcome for each that was named; a single one that fails is simply an error (K3). */
const decided = {
  json: ({ batch, outcomes }: Decided) =>
    batch ?? { outcomes, count: outcomes.length, errors: errorsIn(outcomes) },
  show: ({ outcomes, items, opened, batch }: Decided) => [
    ...outcomes.flatMap((outcome) => [
      formatOutcome(
        outcome,
        items.find(({ id }) => id === outcome.id),
        opened.get(outcome.id),
      ),
      ...(outcome.also ?? []).map(({ id, summary }) => sanitize(`and with it ${id}  ${summary}`)),
    ]),
    ...(batch ? [batch.message] : []),
  ],
  notes: ({ outcomes, opened, batch }: Decided) => [
    ...outcomes
      .filter(({ id, status }) => status === 'approved' && opened.has(id))
      .map(({ id }) => `\`cowork grants revoke ${id}\` takes it back.`),
    ...(!batch && outcomes.some(({ status }) => status === 'held')
      ? ['Until then `cowork undo <id>` takes it back.']
      : []),
  ],
  exit: ({ outcomes }: Decided) => (errorsIn(outcomes) > 0 ? exitCode.failed : exitCode.ok),
}

const errorsIn = (outcomes: readonly Outcome[]) =>
  outcomes.filter(({ status }) => status === 'error').length

export const decideCommands = [
  command({
    usage: 'approve [ids...]',
    summary: 'approve what waits',
    args,
    options: approving,
    words: {
      count_differs: {
        hint: '`cowork inbox --list --kind proposal` shows them; give their number as --expect, 1000 at most.',
      },
    },
    check({ args: given, options }) {
      if (given.length === 0) checkBatch(options)
      else checkNamed(given, options)
    },
    async run({ client, args: given, options, person }): Promise<Decided> {
      const change =
        options.change === undefined ? undefined : parseJsonArgument('--change', options.change)
      await person('Approving')
      return given.length === 0
        ? approveAll(client, options)
        : decideEach(client, given, (items) => approveItems(client, items, options, change))
    },
    ...decided,
  }),
  command({
    usage: 'reject <ids...>',
    summary: 'reject what waits',
    args,
    options: {
      type: type(),
      severity: severity(),
      reason: text('--reason <text>', 'why, for the agent'),
      never: flag('--never', 'access: deny it, and do not be asked again'),
      now: now(),
    },
    help: 'A proposal needs --type: to reject one is to override it. Of a check of what was\ndone alone, agent_wrong marks it as wrong, and human_preference says that you\nwould have done it differently.',
    check({ options }) {
      if (options.severity !== undefined && options.type === undefined)
        throw usageError(
          '--severity says how serious something is, and --type what.',
          'Add --type.',
        )
    },
    person: 'Rejecting',
    run: ({ client, args: given, options }) =>
      decideEach(client, given, async (items) => {
        const { reason, never } = options
        if (options.type === undefined && items.some(changesTrust))
          throw usageError(
            'Rejecting a proposal or a check changes trust, so it says what was wrong (--type).',
            'It is agent_wrong, missing_context, edge_case, human_preference or policy_change.',
          )
        if (never && !items.every(isGrant))
          throw usageError(
            '--never is for requests for access.',
            'Reject the others by themselves.',
          )
        return outcomesOf(client, 'cowork_decide', items, {
          decision: 'reject',
          hold: !options.now,
          reason,
          override: options.type && {
            type: options.type,
            severity: options.severity,
            description: reason,
          },
          grant: never ? { choice: 'deny_always' } : undefined,
        })
      }),
    ...decided,
  }),
  command({
    usage: 'undo <ids...>',
    summary: 'take back decisions that are still held',
    args,
    person: 'Undoing',
    run: ({ client, args: given }) =>
      decideEach(client, given, (items) => outcomesOf(client, 'cowork_undo', items)),
    ...decided,
  }),
]

async function outcomesOf(
  client: Client,
  tool: 'cowork_decide' | 'cowork_undo',
  items: readonly ApprovalItem[],
  more: object = {},
): Promise<Outcome[]> {
  const asked = { approval_ids: items.map(({ id }) => id), ...more }
  return (await client.call(tool, asked)).outcomes
}

const oneAtATime = {
  allow: '--allow',
  change: '--change',
  policy: '--policy',
  acknowledgePolicy: '--acknowledge-policy',
} as const

const singleIn = (options: Approving) =>
  Object.entries(oneAtATime).find(
    ([name]) => options[name as keyof typeof oneAtATime] !== undefined,
  )

function checkNamed(given: readonly string[], options: Approving): void {
  if ((options.agent ?? options.domain ?? options.expect) !== undefined)
    throw usageError('Name ids, or --agent and --domain with --expect, not both.')
  const single = singleIn(options)
  if (single && given.length > 1)
    throw usageError(
      `${single[1]} is for one approval at a time.`,
      'Approve the others by themselves.',
    )
}

function checkBatch(options: Approving): void {
  if ((options.agent ?? options.domain) === undefined)
    throw usageError(
      'Say what to approve.',
      'Name ids, or --agent or --domain with --expect; `cowork inbox --list` shows what waits.',
    )
  if (options.expect === undefined)
    throw usageError(
      'Approving all that wait says how many that is (--expect), so that none slips in.',
      '`cowork inbox --list --kind proposal` with --agent and --domain shows them.',
    )
  if (singleIn(options))
    throw usageError(
      '--allow, --change, --policy and --acknowledge-policy are for one approval at a time.',
      'Name its id.',
    )
}

async function approveItems(
  client: Client,
  items: readonly ApprovalItem[],
  options: Approving,
  change: unknown,
): Promise<Outcome[]> {
  const { allow, skip = false } = options
  if (skip && !items.every(isCheck))
    throw usageError(
      '--skip is for checks of what an agent did alone.',
      'Approve the others by themselves.',
    )
  // Of a check that nobody has looked at nothing is confirmed (T14).
  const checks = skip ? [] : items.filter((item) => isCheck(item) && item.status === 'pending')
  const confirmed = await confirmEach(client, checks)
  const left = checks.filter(({ id }) => !confirmed.has(id))
  const chosen = items.filter((item) => !left.includes(item))
  const outcomes =
    chosen.length === 0
      ? []
      : await outcomesOf(client, 'cowork_decide', chosen, {
          decision: 'approve',
          hold: !options.now,
          reason: options.feedback,
          change,
          policy_id: options.policy,
          acknowledge_policy: options.acknowledgePolicy,
          ...(skip && { skip }),
          ...(allow !== undefined && allowing(allow, chosen)),
        })
  return [...outcomes, ...left.map(({ id }) => ({ id, status: 'pending' as const }))]
}

/** The same flag says how long for a call, and how much for a request for access (Y8, GR3). */
const allowing = (given: string, items: readonly ApprovalItem[]) =>
  items.some(isGrant)
    ? { grant: parseGrantChoice(given, Date.now()) }
    : { allow: parseAllowance(given, Date.now()) }

const isGrant = ({ kind }: ApprovalItem) => kind === 'grant'

/** Approves all proposals of an agent or a domain that wait, if they are as many as the person saw (B2). */
async function approveAll(client: Client, options: Approving): Promise<Decided> {
  const batch = await client.call('cowork_bulk_approve', {
    filter_agent_id: await resolveAgent(client, options.agent),
    filter_domain: options.domain,
    expected_count: options.expect,
    feedback: options.feedback,
  })
  const outcomes: Outcome[] = [
    ...batch.outcomes.map(({ proposal_id: id, ...outcome }) => ({ id, ...outcome })),
    ...batch.errors.map(({ proposal_id: id, ...error }) => ({
      id,
      status: 'error' as const,
      error,
    })),
  ]
  const ids = outcomes.map(({ id }) => id)
  return { outcomes, items: await readByIds(client, ids), opened: new Map(), batch }
}

async function decideEach(
  client: Client,
  given: readonly string[],
  act: (items: readonly ApprovalItem[]) => Promise<Outcome[]>,
): Promise<Decided> {
  const found = await findApprovals(client, given)
  const items = found.flatMap((one) => ('item' in one ? [one.item] : []))
  const [first] = found
  if (found.length === 1 && first && 'error' in first) throw first.error
  const made = items.length > 0 ? await act(items) : []
  const outcomes = found.map((one) => outcomeOf(one, made))
  const [only] = outcomes
  if (outcomes.length === 1 && only?.error)
    throw toError({ ...only.error, hint: hintFor(only.error, items[0]) })
  return { outcomes, items, opened: await openedBy(client, outcomes, items) }
}

/** The daemon names a field of the tool; people have a flag. */
function hintFor(
  { code, hint }: NonNullable<Outcome['error']>,
  item: ApprovalItem | undefined,
): string {
  const version = item?.policy_conflict?.version
  return code === 'policy_conflict' && version !== undefined
    ? `Reject it, or approve it anyway with --acknowledge-policy ${version}.`
    : (hint ?? '`cowork inbox` lists what waits.')
}

async function openedBy(
  client: Client,
  outcomes: readonly Outcome[],
  items: readonly ApprovalItem[],
): Promise<ReadonlyMap<string, string>> {
  const ends = ['approved', 'rejected']
  const isMade = (id: string) => outcomes.some((one) => one.id === id && ends.includes(one.status))
  const made = items.filter((item) => isGrant(item) && isMade(item.id))
  const grants = made.length > 0 ? await listActiveGrants(client) : []
  return new Map(
    made.flatMap(({ id }) => {
      const grant = grants.find((one) => one.id === `grant_${id}`)
      return grant ? [[id, formatGrant(grant)] as const] : []
    }),
  )
}

function outcomeOf(found: ApprovalMatch, made: readonly Outcome[]): Outcome {
  if ('error' in found) {
    const { code, message } = found.error
    return { id: found.given, status: 'error', error: { code, message } }
  }
  const { id } = found.item
  return made.find((outcome) => outcome.id === id) ?? { id, status: 'error' }
}

function formatOutcome(
  { id, status, until, trust, look_back: rows = 0, counted, error }: Outcome,
  item: ApprovalItem | undefined,
  opened?: string,
): string {
  if (error) return `failed    ${sanitize(id)}  ${sanitize(error.message)}`
  const from = trust ? `  trust ${score(trust.from)} → ${score(trust.to)}` : ''
  const more = trust?.promoted ? ', promoted' : trust?.demoted ? ', demoted' : ''
  const held = until === undefined ? '' : ` until ${until.slice(11, 19)} UTC`
  const asked = item && `${sanitize(item.requester)}: ${sanitize(item.summary)}`
  const what = (opened ?? asked) === undefined ? '' : `  ${opened ?? asked}`
  const isUnread = counted === false
  const checked = item && isCheck(item) ? checkWords[status] : undefined
  const word = isUnread ? 'closed' : (checked ?? words[status])
  const unread = isUnread ? '  it counts for nothing' : ''
  const others = rows > 0 ? `  ${rows} more that it did alone came to the inbox` : ''
  return `${`${word}${held}`.padEnd(8)}  ${id}${what}${from}${more}${unread}${others}`
}

const checkWords: Partial<Record<Outcome['status'], string>> = {
  approved: 'confirmed',
  rejected: 'not confirmed',
  pending: 'waits',
}

const words: Record<Outcome['status'], string> = {
  approved: 'approved',
  rejected: 'rejected',
  voted: 'counted; another person must approve too',
  held: 'held',
  pending: 'waits again',
  error: 'failed',
}
