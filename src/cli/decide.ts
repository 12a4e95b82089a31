import { allowanceOf } from './allowance.ts'
import { findApprovals, isCheck } from './approvals.ts'
import type { Found, Item } from './approvals.ts'
import type { OverrideType, Severity } from './choices.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { errorOf } from './daemon.ts'
import { exitCode, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { grantChoiceOf } from './grant-choice.ts'
import { grantedText, liveGrants } from './grants.ts'
import { confirmEach } from './confirm-checks.ts'
import { changesTrust } from './inbox/acts.ts'
import { score } from './inbox/detail.ts'
import { jsonArgument } from './json-argument.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'

export type Outcome = {
  id: string
  status: 'approved' | 'rejected' | 'voted' | 'held' | 'pending' | 'error'
  until?: string
  trust?: { from: number; to: number; promoted?: true; demoted?: true }
  /** Other actions that came to the inbox because this one was wrong. */
  look_back?: number
  /** False of a check that was closed unread: it counts for nothing. */
  counted?: boolean
  /** Other requests that it answers. */
  also?: { id: string; summary: string }[]
  error?: { code: string; message: string; hint?: string }
}

export type ApproveFlags = {
  readonly feedback?: string
  readonly allow?: string
  readonly change?: string
  readonly policy?: string
  readonly acknowledgePolicy?: string
  readonly skip?: boolean
  readonly now?: boolean
}

export async function approve(
  context: Context,
  given: readonly string[],
  { feedback, allow, change, policy, acknowledgePolicy, skip = false, now = false }: ApproveFlags,
): Promise<ExitCode> {
  const single = {
    '--allow': allow,
    '--change': change,
    '--policy': policy,
    '--acknowledge-policy': acknowledgePolicy,
  }
  const alone = Object.entries(single).find(([, value]) => value !== undefined)
  if (alone && given.length > 1)
    throw usage(`${alone[0]} is for one approval at a time.`, 'Approve the others by themselves.')
  const decision = {
    decision: 'approve',
    hold: !now,
    ...(feedback !== undefined && { reason: feedback }),
    ...(change !== undefined && { change: jsonArgument('--change', change) }),
    ...(policy !== undefined && { policy_id: policy }),
    ...(acknowledgePolicy !== undefined && { acknowledge_policy: acknowledgePolicy }),
    ...(skip && { skip }),
  }
  return decideEach(context, 'Approving', given, async (client, items) => {
    if (skip && !items.every(isCheck))
      throw usage(
        '--skip is for checks of what an agent did alone.',
        'Approve the others by themselves.',
      )
    // Of a check that nobody has looked at nothing is confirmed (T14).
    const checks = skip ? [] : items.filter((item) => isCheck(item) && item.status === 'pending')
    const confirmed = await confirmEach(client, checks)
    const left = checks.filter(({ id }) => !confirmed.has(id))
    const decided = items.filter((item) => !left.includes(item))
    const { outcomes } =
      decided.length > 0
        ? await client.call<{ outcomes: Outcome[] }>('cowork_decide', {
            approval_ids: idsOf(decided),
            ...decision,
            ...(allow !== undefined && allowing(allow, decided)),
          })
        : { outcomes: [] }
    return {
      outcomes: [...outcomes, ...left.map(({ id }) => ({ id, status: 'pending' as const }))],
    }
  })
}

/** The same flag says how long for a call, and how much for a request for access (Y8, GR3). */
function allowing(text: string, items: readonly Item[]) {
  return items.some(isGrant)
    ? { grant: grantChoiceOf(text, Date.now()) }
    : { allow: allowanceOf(text, Date.now()) }
}

const isGrant = ({ kind }: Item) => kind === 'grant'

export type RejectFlags = {
  readonly type?: OverrideType
  readonly severity?: Severity
  readonly reason?: string
  readonly never?: boolean
  readonly now?: boolean
}

export async function reject(
  context: Context,
  given: readonly string[],
  { type, severity, reason, never = false, now = false }: RejectFlags,
): Promise<ExitCode> {
  if (severity !== undefined && type === undefined)
    throw usage('--severity says how serious something is, and --type what.', 'Add --type.')
  const override = type && {
    type,
    ...(severity !== undefined && { severity }),
    ...(reason !== undefined && { description: reason }),
  }
  return decideEach(context, 'Rejecting', given, (client, items) => {
    if (!override && items.some(changesTrust))
      throw usage(
        'Rejecting a proposal or a check changes trust, so it says what was wrong (--type).',
        'It is agent_wrong, missing_context, edge_case, human_preference or policy_change.',
      )
    if (never && !items.every(isGrant))
      throw usage('--never is for requests for access.', 'Reject the others by themselves.')
    return client.call('cowork_decide', {
      approval_ids: idsOf(items),
      decision: 'reject',
      hold: !now,
      ...(reason !== undefined && { reason }),
      ...(override && { override }),
      ...(never && { grant: { choice: 'deny_always' } }),
    })
  })
}

/** Takes back decisions that are held and not released yet. */
export const undo = (context: Context, given: readonly string[]): Promise<ExitCode> =>
  decideEach(context, 'Undoing', given, (client, items) =>
    client.call('cowork_undo', { approval_ids: idsOf(items) }),
  )

const idsOf = (items: readonly Item[]) => items.map(({ id }) => id)

/** One outcome for each that was named; a single one that fails is simply an error (K3). */
async function decideEach(
  context: Context,
  what: string,
  given: readonly string[],
  act: (client: Client, items: readonly Item[]) => Promise<{ outcomes: Outcome[] }>,
): Promise<ExitCode> {
  requirePersonHere(context, what)
  const client = createClient(context)
  const found = await findApprovals(client, given)
  const items = found.flatMap((one) => ('item' in one ? [one.item] : []))
  const [first] = found
  if (found.length === 1 && first && 'error' in first) throw first.error
  const made = items.length > 0 ? (await act(client, items)).outcomes : []
  const outcomes = found.map((one): Outcome => outcomeOf(one, made))
  const [only] = outcomes
  if (outcomes.length === 1 && only?.error)
    throw errorOf({ ...only.error, hint: hintFor(only.error, items[0]) })
  const errors = outcomes.filter(({ status }) => status === 'error').length
  const opened = await openedBy(client, outcomes, items)
  context.out.data({ outcomes, count: outcomes.length, errors }, () =>
    outcomes.flatMap((outcome) => {
      const item = items.find(({ id }) => id === outcome.id)
      const also = (outcome.also ?? []).map(
        ({ id, summary }) => `and with it ${plain(id)}  ${plain(summary)}`,
      )
      return [outcomeLine(outcome, item, opened.get(outcome.id)), ...also]
    }),
  )
  for (const { id } of outcomes.filter((one) => one.status === 'approved' && opened.has(one.id)))
    context.out.note(`\`cowork grants revoke ${id}\` takes it back.`)
  if (outcomes.some(({ status }) => status === 'held'))
    context.out.note('Until then `cowork undo <id>` takes it back.')
  return errors > 0 ? exitCode.failed : exitCode.ok
}

/** The daemon names a field of the tool; people have a flag. */
function hintFor({ code, hint }: NonNullable<Outcome['error']>, item: Item | undefined): string {
  const version = item?.policy_conflict?.version
  return code === 'policy_conflict' && version !== undefined
    ? `Reject it, or approve it anyway with --acknowledge-policy ${version}.`
    : (hint ?? '`cowork inbox` lists what waits.')
}

/** What requests for access came to, in words: more or less than was asked for. */
async function openedBy(
  client: Client,
  outcomes: readonly Outcome[],
  items: readonly Item[],
): Promise<ReadonlyMap<string, string>> {
  const decided = items
    .filter(isGrant)
    .filter(({ id }) => outcomes.some((one) => one.id === id && isMade(one)))
  const grants = decided.length > 0 ? await liveGrants(client) : []
  return new Map(
    decided.flatMap(({ id }) => {
      const made = grants.find((grant) => grant.id === `grant_${id}`)
      return made ? [[id, grantedText(made)] as const] : []
    }),
  )
}

const isMade = ({ status }: Outcome) => status === 'approved' || status === 'rejected'

function outcomeOf(found: Found, made: readonly Outcome[]): Outcome {
  if ('error' in found) {
    const { code, message } = found.error
    return { id: found.given, status: 'error', error: { code, message } }
  }
  const { id } = found.item
  return made.find((outcome) => outcome.id === id) ?? { id, status: 'error' }
}

export function outcomeLine(
  { id, status, until, trust, look_back: rows = 0, counted, error }: Outcome,
  item: Item | undefined,
  opened?: string,
): string {
  if (error) return `failed    ${plain(id)}  ${plain(error.message)}`
  const from = trust ? `  trust ${score(trust.from)} → ${score(trust.to)}` : ''
  const more = trust?.promoted ? ', promoted' : trust?.demoted ? ', demoted' : ''
  const held = until === undefined ? '' : ` until ${until.slice(11, 19)} UTC`
  const asked = item && `${plain(item.requester)}: ${plain(item.summary)}`
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
