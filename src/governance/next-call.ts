import type { Approval } from '#approvals'
import { toSafeJson } from '#base/sanitize.ts'

const callText = (tool: string, args: Readonly<Record<string, unknown>>): string =>
  `${tool} ${toSafeJson(args) ?? '{}'}`

/** Returns the call that polls for a decision, with the id that the agent knows. */
export const checkCall = ({ id, kind }: Pick<Approval, 'id' | 'kind'>): string =>
  callText('cowork_check_approval', {
    [kind === 'proposal' ? 'proposal_id' : 'approval_id']: id,
    wait_seconds: 25,
  })

/** Returns the call that logs the action of a proposal. */
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
  `${by} edited the arguments. The call ${tense} with ${toSafeJson(change)}`
