import type { ToolResults } from '#wire'
import { score } from './inbox/detail.ts'
import { plain } from './plain.ts'

/** What became of a handoff and, where it was decided in the same act, of its proposal (H2, H6). */
export function answeredText({
  agent_id,
  hand_back,
  hand_back_refused,
  proposal,
}: ToolResults['cowork_resolve_handoff']): string {
  const trust = proposal?.trust
  const moved = trust ? `, trust ${score(trust.from)} → ${score(trust.to)}` : ''
  const decided = proposal ? ` Its proposal is ${proposal.status}${moved}.` : ''
  if (hand_back_refused)
    return plain(`Answered, not handed back: ${hand_back_refused.message}${decided}`)
  return plain(`Answered${hand_back ? ` and handed back to ${agent_id}` : ''}.${decided}`)
}
