import type { Approval } from '#approvals'
import { toSafeJson } from '#base/sanitize.ts'

const callText = (tool: string, args: Readonly<Record<string, unknown>>): string =>
  `${tool} ${toSafeJson(args) ?? '{}'}`

/** The call that waits for a decision, by the name under which the agent knows its request. */
export const checkCall = ({ id, kind }: Pick<Approval, 'id' | 'kind'>): string =>
  callText('cowork_check_approval', {
    [kind === 'proposal' ? 'proposal_id' : 'approval_id']: id,
    wait_seconds: 25,
  })

/** The call that records what the agent did under its proposal. */
export const logCall = ({ id, domain, action, target, approved }: Approval): string =>
  callText('cowork_log', {
    domain,
    action,
    target,
    ...(approved !== undefined && { actor: 'collaborative' }),
    proposal_id: id,
  })

/** Describes a person's edit of the arguments (B3). */
export const editSentence = (by: string, change: unknown, tense: 'runs' | 'ran' = 'ran'): string =>
  `${by} changed the arguments first. It ${tense} with ${toSafeJson(change)}`
