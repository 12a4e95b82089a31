import * as z from 'zod'
import type { Approval, Mode } from '#approvals'
import { formatRfc3339 } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Entry } from '#ledger'
import { handoffModes, recent } from '../wire/handoffs.ts'

/** What a person is given with a handoff, so that nothing has to be read again (H1, H5). Pure. */

export type HandoffMode = (typeof handoffModes)[number]

/** What an approval keeps of a handoff besides its change and reason. */
export const handoffContent = z.object({
  handoff_mode: z.enum(handoffModes),
  proposal_id: z.string().optional(),
  parent_handoff_id: z.string().optional(),
  packet: z.object({ recent: z.array(recent) }),
})

export const handoffAnswer = z.object({
  resolution: z.string(),
  hand_back: z.boolean(),
  instructions: z.string().nullable(),
})
export type HandoffAnswer = z.output<typeof handoffAnswer>

export type PacketOptions = Pick<
  Config['handoff'],
  'include_reasoning' | 'include_confidence' | 'include_attempted'
>

/** Whose turn it is: in two of the modes the agent stands still until a person has acted. */
export const handoffUrgency = (mode: HandoffMode): Mode =>
  mode === 'escalate' || mode === 'takeover' ? 'escalate' : 'suggest'

/** Our words: those of the agent are shown as the agent's (A13). */
export const handoffReasons: Record<HandoffMode, string> = {
  escalate: 'You are asked because the agent cannot or may not go on by itself.',
  review: 'You are asked because the agent wants its work looked at before it goes on.',
  collaborate: 'You are asked because the agent wants to do this together with a person.',
  delegate: 'You are asked because the agent gives this task to a person.',
  takeover: 'You are asked because the agent stops here, and a person is to take over.',
}

const mostRecent = 20

/** The last things the agent did, oldest first. A call of ours that is recorded by what it did is left out. */
export function listRecentActivity(newestFirst: readonly Entry[]): z.output<typeof recent>[] {
  const isTold = ({ type, data }: Entry) =>
    type !== 'call.started' && !(type === 'call.done' && isOurs(data?.['tool']))
  return newestFirst
    .filter(isTold)
    .slice(0, mostRecent)
    .toReversed()
    .map(({ seq, at, type, subject, outcome, data }) => {
      const action = data?.['action'] ?? data?.['tool']
      return {
        seq,
        at: formatRfc3339(at),
        type,
        ...(typeof action === 'string' && { action }),
        ...(subject !== undefined && { subject }),
        ...(outcome !== undefined && { outcome }),
      }
    })
}

/** The handoff that remains after its content was erased (L8). */
const erasedChange: { readonly attempted_actions: unknown[]; readonly context: unknown } = {
  attempted_actions: [],
  context: null,
}

export function toHandoff({ action, confidence, content, answer }: Approval) {
  const { attempted_actions, context } = (content.change ?? erasedChange) as typeof erasedChange
  const { proposal_id, parent_handoff_id, packet } = handoffContent.parse(content.extra)
  return {
    handoff_mode: action as HandoffMode,
    reason: content.reasoning ?? '',
    confidence,
    attempted_actions,
    context,
    packet,
    parent_handoff_id: parent_handoff_id ?? null,
    proposal_id: proposal_id ?? null,
    answer: handoffAnswer.optional().parse(answer),
  }
}

export type Packet = ReturnType<typeof buildPacket>

/** Structured, with what the configuration lets it carry. */
export function buildPacket(approval: Approval, includes: PacketOptions) {
  const { reason, confidence, attempted_actions, ...handoff } = toHandoff(approval)
  return {
    handoff_id: approval.id,
    agent_id: approval.requester,
    domain: approval.domain,
    handoff_mode: handoff.handoff_mode,
    ...(includes.include_reasoning && { reason }),
    ...(includes.include_confidence && { confidence }),
    ...(includes.include_attempted && { attempted_actions }),
    context: handoff.context,
    proposal_id: handoff.proposal_id,
    parent_handoff_id: handoff.parent_handoff_id,
    recent: handoff.packet.recent,
    created_at: formatRfc3339(approval.createdAt),
  }
}

const longestText = 2000
const shown = (value: unknown) =>
  sanitizeText(typeof value === 'string' ? value : JSON.stringify(value), longestText)

/** The same in words, a line each, in which nothing can hide or imitate a line (A13). */
export function formatForHuman(packet: Packet, reviewUrl: string): string {
  const { reason, confidence, attempted_actions: tried, context, recent } = packet
  const last = recent.at(-1)
  return [
    `${shown(packet.agent_id)} hands over in ${shown(packet.domain)} (${packet.handoff_mode}).`,
    ...(reason === undefined ? [] : [`Why: ${shown(reason)}`]),
    ...(confidence === undefined || confidence === null ? [] : [`Confidence: ${confidence}`]),
    ...(tried && tried.length > 0 ? [`Tried: ${tried.map(shown).join('; ')}`] : []),
    ...(isEmpty(context) ? [] : [`Context: ${shown(context)}`]),
    ...(packet.proposal_id === null ? [] : [`Proposal: ${shown(packet.proposal_id)}`]),
    ...(last
      ? [`Before that: ${recent.length} entries, the last ${last.type} (entry ${last.seq}).`]
      : []),
    `Answer at ${reviewUrl}`,
  ].join('\n')
}

const isEmpty = (context: unknown) =>
  context === null || (typeof context === 'object' && Object.keys(context).length === 0)

const isOurs = (tool: unknown) => typeof tool === 'string' && tool.startsWith('cowork_')
