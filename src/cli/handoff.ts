import { agentNamed } from './agent-named.ts'
import { findApproval, readItems } from './approvals.ts'
import type { Item } from './approvals.ts'
import type { OverrideType, Severity } from './choices.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { usage } from './exit.ts'
import { statusName } from './inbox/detail.ts'
import { span } from './inbox/lines.ts'
import { table } from './output.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'
import { answeredText, answerHandoff } from './resolve-handoff.ts'
import { shortIds } from './prefix.ts'

export type HandoffFlags = {
  readonly all?: boolean
  readonly agent?: string
  readonly domain?: string
  readonly lines: number
}

/** What agents gave to people: those nobody has answered, or all. */
export async function listHandoffs(context: Context, flags: HandoffFlags): Promise<void> {
  const client = createClient(context)
  const { all = false, domain, lines } = flags
  const agent = flags.agent === undefined ? undefined : await agentNamed(client, flags.agent)
  const wanted = { status: all ? 'all' : 'pending', kind: 'handoff', agent, domain } as const
  const { items, next } = await readItems(client, wanted, lines)
  context.out.data({ handoffs: items, next }, () =>
    items.length > 0 ? tableOf(items, all) : ['Nothing is handed over to you.'],
  )
  if (next !== null) context.out.note('There are more: -n shows them.')
}

function tableOf(items: readonly Item[], hasStatus: boolean): string[] {
  const short = shortIds(items.map(({ id }) => id))
  const now = Date.now()
  return table(
    ['ID', ...(hasStatus ? ['STATUS'] : []), 'AS', 'AGENT', 'DOMAIN', 'AGE', 'WHY'],
    items.map((item) => [
      short(item.id),
      ...(hasStatus ? [statusName(item)] : []),
      item.action,
      plain(item.requester),
      plain(item.domain),
      span(now - Date.parse(item.created_at)),
      plain(item.summary),
    ]),
  )
}

export type ResolveFlags = {
  readonly resolution: string
  readonly handBack?: boolean
  readonly instructions?: string
  readonly approve?: boolean
  readonly reject?: boolean
  readonly type?: OverrideType
  readonly severity?: Severity
  readonly reason?: string
}

/** Answers one, and decides the proposal it is about in the same act where that is asked for (H2, H6). */
export async function resolveHandoff(
  context: Context,
  given: string,
  flags: ResolveFlags,
): Promise<void> {
  const { resolution, handBack, instructions, approve, reject, type, severity, reason } = flags
  if (approve && reject)
    throw usage('--approve and --reject decide the same proposal.', 'Use one of them.')
  if (reject && type === undefined)
    throw usage(
      'Rejecting a proposal changes trust, so it says what was wrong (--type).',
      'It is agent_wrong, missing_context, edge_case, human_preference or policy_change.',
    )
  if (!reject && (type ?? severity ?? reason) !== undefined)
    throw usage('--type, --severity and --reason say why a proposal is rejected.', 'Add --reject.')
  requirePersonHere(context, 'Answering a handoff')
  const client = createClient(context)
  const { id } = await findApproval(client, given, 'handoff')
  const answered = await answerHandoff(client, {
    handoff_id: id,
    resolution,
    ...(handBack && { hand_back: true }),
    ...(instructions !== undefined && { instructions }),
    ...(approve && { decide_proposal: 'approve' }),
    ...(reject && { decide_proposal: 'reject', override_type: type }),
    ...(severity !== undefined && { severity }),
    ...(reason !== undefined && { description: reason }),
  })
  context.out.data(answered, () => [answeredText(answered)])
  if (answered.hand_back_refused) context.out.note(answered.hand_back_refused.hint)
}
