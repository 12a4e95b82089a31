import type { ToolResults } from '#wire'
import { resolveAgent, parseJsonArgument } from './lookup.ts'
import { parseAllowance, findApprovals, parseGrantChoice, isCheck, readByIds } from './approvals.ts'
import type { ApprovalMatch, ApprovalItem, Outcome } from './approvals.ts'
import type { Client } from './client.ts'
import { command, flag, parsePositiveInt, text } from './command.ts'
import type { Values } from './command.ts'
import { confirmSpotChecks } from './inbox/inbox.ts'
import { toError } from './daemon.ts'
import { exitCode, usageError } from './exit.ts'
import { formatGrant, listActiveGrants } from './grants.ts'
import { changesTrust } from './inbox/actions.ts'
import { formatScore } from './inbox/detail.ts'
import { severityOption, typeOption } from './trust.ts'
import { sanitize } from './output.ts'

type DecisionResult = {
  readonly outcomes: readonly Outcome[]
  readonly items: readonly ApprovalItem[]
  /** Resulting grants as text, by request id: they may differ from the request. */
  readonly grantTexts: ReadonlyMap<string, string>
  /** The result of a whole batch. */
  readonly batch?: ToolResults['cowork_bulk_approve']
}

const args = { ids: { about: 'approval ids or unique prefixes' } }
const nowOption = () => flag('--now', 'skip the undo window')

const approveOptions = {
  agent: text('--agent <id>', 'approve all pending proposals of this agent (needs --expect)'),
  domain: text('--domain <name>', 'approve all pending proposals in this domain (needs --expect)'),
  expect: parsePositiveInt('--expect <count>', 'approve only if this many proposals match'),
  feedback: text('--feedback <text>', 'send this feedback to the agent'),
  allow: text(
    '--allow <what>',
    'tool call: once, session, always, uses:<n> or until:<time>; access request: file-once, file, folder, folder-write, folder-session or until:<time>',
  ),
  change: text('--change <json>', 'approve this change instead (JSON or @file)'),
  policy: text('--policy <id>', 'apply this policy to a new domain'),
  acknowledgePolicy: text(
    '--acknowledge-policy <version>',
    'approve although this active policy version blocks it',
  ),
  skip: flag('--skip', 'close a spot check without review and without trust change'),
  now: nowOption(),
}
type ApproveOptions = Values<typeof approveOptions>

/** One outcome per id; for a single id, a failure is an error (K3). */
const decisionOutput = {
  json: ({ batch, outcomes }: DecisionResult) =>
    batch ?? { outcomes, count: outcomes.length, errors: countErrors(outcomes) },
  show: ({ outcomes, items, grantTexts, batch }: DecisionResult) => [
    ...outcomes.flatMap((outcome) => [
      formatOutcome(
        outcome,
        items.find(({ id }) => id === outcome.id),
        grantTexts.get(outcome.id),
      ),
      ...(outcome.also ?? []).map(({ id, summary }) => sanitize(`also ${id}  ${summary}`)),
    ]),
    ...(batch ? [batch.message] : []),
  ],
  notes: ({ outcomes, grantTexts, batch }: DecisionResult) => [
    ...outcomes
      .filter(({ id, status }) => status === 'approved' && grantTexts.has(id))
      .map(({ id }) => `Run \`cowork grants revoke ${id}\` to revoke the grant.`),
    ...(!batch && outcomes.some(({ status }) => status === 'held')
      ? ['Run `cowork undo <id>` before then to undo.']
      : []),
  ],
  exit: ({ outcomes }: DecisionResult) =>
    countErrors(outcomes) > 0 ? exitCode.failed : exitCode.ok,
}

const countErrors = (outcomes: readonly Outcome[]) =>
  outcomes.filter(({ status }) => status === 'error').length

export const decideCommands = [
  command({
    usage: 'approve [ids...]',
    summary: 'approve pending items',
    args,
    options: approveOptions,
    messages: {
      count_differs: {
        hint: 'Run `cowork inbox --list --kind proposal`, and pass their number as --expect (at most 1000).',
      },
    },
    check({ args: ids, options }) {
      if (ids.length === 0) checkBatchOptions(options)
      else checkIdOptions(ids, options)
    },
    async run({ client, args: ids, options, person }): Promise<DecisionResult> {
      const change =
        options.change === undefined ? undefined : parseJsonArgument('--change', options.change)
      await person('Approving')
      return ids.length === 0
        ? approveAll(client, options)
        : decideEach(client, ids, (items) => approveItems(client, items, options, change))
    },
    ...decisionOutput,
  }),
  command({
    usage: 'reject <ids...>',
    summary: 'reject pending items',
    args,
    options: {
      type: typeOption(),
      severity: severityOption(),
      reason: text('--reason <text>', 'reason, sent to the agent'),
      never: flag('--never', 'reject an access request and all later ones'),
      now: nowOption(),
    },
    help: 'Rejecting a proposal or spot check needs --type. For a spot check, agent_wrong\nmarks the action as wrong; human_preference means that you prefer another way.',
    check({ options }) {
      if (options.severity !== undefined && options.type === undefined)
        throw usageError('--severity needs --type.', 'Add --type.')
    },
    person: 'Rejecting',
    run: ({ client, args: ids, options }) =>
      decideEach(client, ids, async (items) => {
        const { reason, never } = options
        if (options.type === undefined && items.some(changesTrust))
          throw usageError(
            'Rejecting a proposal or spot check changes trust and needs --type.',
            'Use agent_wrong, missing_context, edge_case, human_preference or policy_change.',
          )
        if (never && !items.every(isGrant))
          throw usageError(
            '--never applies only to access requests.',
            'Reject the other items separately.',
          )
        return callForOutcomes(client, 'cowork_decide', items, {
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
    ...decisionOutput,
  }),
  command({
    usage: 'undo <ids...>',
    summary: 'undo decisions in the undo window',
    args,
    person: 'Undoing',
    run: ({ client, args: ids }) =>
      decideEach(client, ids, (items) => callForOutcomes(client, 'cowork_undo', items)),
    ...decisionOutput,
  }),
]

async function callForOutcomes(
  client: Client,
  tool: 'cowork_decide' | 'cowork_undo',
  items: readonly ApprovalItem[],
  fields: object = {},
): Promise<Outcome[]> {
  const input = { approval_ids: items.map(({ id }) => id), ...fields }
  return (await client.call(tool, input)).outcomes
}

const singleItemOptions = {
  allow: '--allow',
  change: '--change',
  policy: '--policy',
  acknowledgePolicy: '--acknowledge-policy',
} as const

const findSingleItemOption = (options: ApproveOptions) =>
  Object.entries(singleItemOptions).find(
    ([name]) => options[name as keyof typeof singleItemOptions] !== undefined,
  )

function checkIdOptions(ids: readonly string[], options: ApproveOptions): void {
  if ((options.agent ?? options.domain ?? options.expect) !== undefined)
    throw usageError('Ids cannot be combined with --agent, --domain or --expect.')
  const single = findSingleItemOption(options)
  if (single && ids.length > 1)
    throw usageError(
      `${single[1]} applies to one approval only.`,
      'Approve the other items separately.',
    )
}

function checkBatchOptions(options: ApproveOptions): void {
  if ((options.agent ?? options.domain) === undefined)
    throw usageError(
      'Nothing to approve was named.',
      'Pass ids, or --agent or --domain with --expect. Run `cowork inbox --list` for pending items.',
    )
  if (options.expect === undefined)
    throw usageError(
      'Approving a batch needs --expect, the number of proposals you reviewed.',
      'Run `cowork inbox --list --kind proposal` with the same --agent and --domain.',
    )
  if (findSingleItemOption(options))
    throw usageError(
      '--allow, --change, --policy and --acknowledge-policy apply to one approval only.',
      'Pass its id.',
    )
}

async function approveItems(
  client: Client,
  items: readonly ApprovalItem[],
  options: ApproveOptions,
  change: unknown,
): Promise<Outcome[]> {
  const { allow, skip = false } = options
  if (skip && !items.every(isCheck))
    throw usageError('--skip applies only to spot checks.', 'Approve the other items separately.')
  // A spot check is confirmed only after a person has seen it (T14).
  const checks = skip ? [] : items.filter((item) => isCheck(item) && item.status === 'pending')
  const confirmed = await confirmSpotChecks(client, checks)
  const left = checks.filter(({ id }) => !confirmed.has(id))
  const chosen = items.filter((item) => !left.includes(item))
  const outcomes =
    chosen.length === 0
      ? []
      : await callForOutcomes(client, 'cowork_decide', chosen, {
          decision: 'approve',
          hold: !options.now,
          reason: options.feedback,
          change,
          policy_id: options.policy,
          acknowledge_policy: options.acknowledgePolicy,
          ...(skip && { skip }),
          ...(allow !== undefined && parseAllow(allow, chosen)),
        })
  return [...outcomes, ...left.map(({ id }) => ({ id, status: 'pending' as const }))]
}

/** Parses --allow: the lifetime of a call's permission, or the extent of access (Y8, GR3). */
const parseAllow = (value: string, items: readonly ApprovalItem[]) =>
  items.some(isGrant)
    ? { grant: parseGrantChoice(value, Date.now()) }
    : { allow: parseAllowance(value, Date.now()) }

const isGrant = ({ kind }: ApprovalItem) => kind === 'grant'

/** Approves all pending proposals of an agent or a domain if their count is the expected one (B2). */
async function approveAll(client: Client, options: ApproveOptions): Promise<DecisionResult> {
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
  return { outcomes, items: await readByIds(client, ids), grantTexts: new Map(), batch }
}

async function decideEach(
  client: Client,
  ids: readonly string[],
  act: (items: readonly ApprovalItem[]) => Promise<Outcome[]>,
): Promise<DecisionResult> {
  const matches = await findApprovals(client, ids)
  const items = matches.flatMap((match) => ('item' in match ? [match.item] : []))
  const [first] = matches
  if (matches.length === 1 && first && 'error' in first) throw first.error
  const results = items.length > 0 ? await act(items) : []
  const outcomes = matches.map((match) => toOutcome(match, results))
  const [only] = outcomes
  if (outcomes.length === 1 && only?.error)
    throw toError({ ...only.error, hint: decisionHint(only.error, items[0]) })
  return { outcomes, items, grantTexts: await describeGrants(client, outcomes, items) }
}

/** Replaces a hint that names a tool field with one that names an option. */
function decisionHint(
  { code, hint }: NonNullable<Outcome['error']>,
  item: ApprovalItem | undefined,
): string {
  const version = item?.policy_conflict?.version
  return code === 'policy_conflict' && version !== undefined
    ? `Reject it, or approve it anyway with --acknowledge-policy ${version}.`
    : (hint ?? 'Run `cowork inbox` for pending items.')
}

async function describeGrants(
  client: Client,
  outcomes: readonly Outcome[],
  items: readonly ApprovalItem[],
): Promise<ReadonlyMap<string, string>> {
  const decidedStatuses = ['approved', 'rejected']
  const isDecided = (id: string) =>
    outcomes.some((outcome) => outcome.id === id && decidedStatuses.includes(outcome.status))
  const requests = items.filter((item) => isGrant(item) && isDecided(item.id))
  const grants = requests.length > 0 ? await listActiveGrants(client) : []
  return new Map(
    requests.flatMap(({ id }) => {
      const grant = grants.find((candidate) => candidate.id === `grant_${id}`)
      return grant ? [[id, formatGrant(grant)] as const] : []
    }),
  )
}

function toOutcome(match: ApprovalMatch, results: readonly Outcome[]): Outcome {
  if ('error' in match) {
    const { code, message } = match.error
    return { id: match.given, status: 'error', error: { code, message } }
  }
  const { id } = match.item
  return results.find((outcome) => outcome.id === id) ?? { id, status: 'error' }
}

function formatOutcome(
  { id, status, until, trust, look_back: rows = 0, counted, error }: Outcome,
  item: ApprovalItem | undefined,
  opened?: string,
): string {
  if (error) return `failed    ${sanitize(id)}  ${sanitize(error.message)}`
  const trustText = trust ? `  trust ${formatScore(trust.from)} → ${formatScore(trust.to)}` : ''
  const modeText = trust?.promoted ? ', promoted' : trust?.demoted ? ', demoted' : ''
  const deadline = until === undefined ? '' : ` until ${until.slice(11, 19)} UTC`
  const request = item && `${sanitize(item.requester)}: ${sanitize(item.summary)}`
  const subject = (opened ?? request) === undefined ? '' : `  ${opened ?? request}`
  const isUnread = counted === false
  const checkLabel = item && isCheck(item) ? checkLabels[status] : undefined
  const label = isUnread ? 'closed' : (checkLabel ?? words[status])
  const note = isUnread ? '  no trust change' : ''
  const others = rows > 0 ? `  ${rows} more spot checks added` : ''
  return `${`${label}${deadline}`.padEnd(8)}  ${id}${subject}${trustText}${modeText}${note}${others}`
}

const checkLabels: Partial<Record<Outcome['status'], string>> = {
  approved: 'confirmed',
  rejected: 'marked as wrong',
  pending: 'pending',
}

const words: Record<Outcome['status'], string> = {
  approved: 'approved',
  rejected: 'rejected',
  voted: 'approval recorded, 1 more required',
  held: 'held',
  pending: 'pending again',
  error: 'failed',
}
