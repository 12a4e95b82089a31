import * as z from 'zod'
import type { Approval, Mode } from '#approvals'
import { formatRfc3339 } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Entry } from '#ledger'
import { handoffModes, recent } from '../wire/handoffs.ts'

/** Builds what a person reads with a handoff, so that nothing has to be read again (H1, H5). Pure. */

export type HandoffMode = (typeof handoffModes)[number]

/** The parts of a handoff that its approval stores besides change and reason. */
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

/** In two of the modes the agent stops until a person has acted. */
export const handoffUrgency = (mode: HandoffMode): Mode =>
  mode === 'escalate' || mode === 'takeover' ? 'escalate' : 'suggest'

/** Texts of cowork: texts of the agent are shown as the agent's (A13). */
export const handoffReasons: Record<HandoffMode, string> = {
  escalate: 'You are asked because the agent cannot or may not continue.',
  review: 'You are asked because the agent wants its work reviewed before it continues.',
  collaborate: 'You are asked because the agent wants to do the task together with a person.',
  delegate: 'You are asked because the agent delegates the task to a person.',
  takeover: 'You are asked because the agent stops and a person takes over.',
}

const maxRecent = 20

/** Lists the last actions of the agent, oldest first. A call of a cowork tool is left out: its effect has an entry. */
export function listRecentActivity(newestFirst: readonly Entry[]): z.output<typeof recent>[] {
  const isRelevant = ({ type, data }: Entry) =>
    type !== 'call.started' && !(type === 'call.done' && isCoworkTool(data?.['tool']))
  return newestFirst
    .filter(isRelevant)
    .slice(0, maxRecent)
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

/** The content of a handoff after erasure (L8). */
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

/** Returns the packet with the parts that the configuration enables. */
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

const maxTextLength = 2000
const sanitizeValue = (value: unknown) =>
  sanitizeText(typeof value === 'string' ? value : JSON.stringify(value), maxTextLength)

/** Formats the packet as text, one fact per line, so that no value can hide or imitate a line (A13). */
export function formatForHuman(packet: Packet, reviewUrl: string): string {
  const { reason, confidence, attempted_actions: attempts, context, recent } = packet
  const last = recent.at(-1)
  return [
    `${sanitizeValue(packet.agent_id)} hands over in ${sanitizeValue(packet.domain)} (${packet.handoff_mode}).`,
    ...(reason === undefined ? [] : [`Why: ${sanitizeValue(reason)}`]),
    ...(confidence === undefined || confidence === null ? [] : [`Confidence: ${confidence}`]),
    ...(attempts && attempts.length > 0
      ? [`Tried: ${attempts.map(sanitizeValue).join('; ')}`]
      : []),
    ...(isEmpty(context) ? [] : [`Context: ${sanitizeValue(context)}`]),
    ...(packet.proposal_id === null ? [] : [`Proposal: ${sanitizeValue(packet.proposal_id)}`]),
    ...(last
      ? [`Before that: ${recent.length} entries, the last ${last.type} (entry ${last.seq}).`]
      : []),
    `Answer at ${reviewUrl}`,
  ].join('\n')
}

const isEmpty = (context: unknown) =>
  context === null || (typeof context === 'object' && Object.keys(context).length === 0)

const isCoworkTool = (tool: unknown) => typeof tool === 'string' && tool.startsWith('cowork_')
