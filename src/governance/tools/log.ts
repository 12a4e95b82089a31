import * as z from 'zod'
import { toActor, isOwnRecord } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { forAnyone } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { GovernanceDeps } from './index.ts'
import { domain, target, agentFields } from './shared-schemas.ts'
import { proposalResults } from '../wire/proposals.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { visibleTo } from '#ledger'
import { buildAuditTrail } from '../audit-trail.ts'

const notTheirs = (agent: string, id: string) =>
  new CoworkError('not_found', `${agent} has no proposal ${JSON.stringify(id)}.`, {
    hint: 'Log under the proposal_id that cowork_propose answered you, or without one.',
  })

export const logTools = ({ governance: { approvals }, ledger }: GovernanceDeps): Tool[] => [
  defineTool({
    ...forAnyone.write,
    name: 'cowork_log',
    additive: true,
    title: 'Log an action',
    description:
      'Record an action that was taken outside cowork, after it is done, and who took it. Give proposal_id if it was proposed: that completes its audit trail.',
    core: true,
    input: z.object({
      ...agentFields,
      domain,
      action: z.string().min(1).max(200).describe('Such as update_deal'),
      target,
      actor: z.enum(['agent', 'human', 'collaborative']).default('agent'),
      proposal_id: z.string().max(128).optional(),
      phase: z.enum(['execute', 'verify']).default('execute'),
      details: z.unknown().optional().describe('Anything worth keeping, as JSON'),
    }),
    output: proposalResults.cowork_log,
    describeTarget: (input) => ({ domain: input.domain, target: input.target }),
    async transact(tx, { domain, action, target, actor, phase, proposal_id }, { id, caller }) {
      // Else what another agent was allowed would pass as allowed to this one.
      if (proposal_id && caller.kind === 'agent') {
        const asked = await approvals.find(tx, proposal_id)
        if (asked && !isOwnRecord(caller, asked.requester, asked.createdAt))
          throw notTheirs(caller.id, proposal_id)
      }
      const actionId = newId()
      tx.append({
        type: 'action.logged',
        actor: toActor(caller),
        domain,
        subject: target,
        ids: { call: id, ...(proposal_id && { proposal: proposal_id }) },
        // `details` stay beside the `call.done` of this call, where they can be erased (L8).
        data: { action_id: actionId, action, actor, phase },
      })
      return {
        action_id: actionId,
        domain,
        action,
        actor,
        phase,
        ...(proposal_id && { proposal_id }),
        message: `LOGGED: ${action} on ${target} (${actor}, ${phase}). Action ${actionId}`,
      }
    },
  }),
  defineTool({
    ...forAnyone.read,
    name: 'cowork_audit_trail',
    title: 'Audit trail',
    description:
      'See what happened to one proposal: propose → approve → execute → verify, with its order checked.',
    input: z.object({ ...agentFields, proposal_id: z.string().min(1).max(128) }),
    output: proposalResults.cowork_audit_trail,
    async read({ proposal_id }, { caller }) {
      const found = await ledger.find({ proposal: proposal_id, limit: 1000 })
      // Whose proposal it is sees all of it, the decisions of people too.
      const isTheirs = found.some(
        ({ type, actor, at }) =>
          type === 'proposal.created' &&
          actor.kind === caller.kind &&
          isOwnRecord(caller, actor.id, at),
      )
      const seen = isTheirs ? found : found.filter((entry) => visibleTo(caller, entry))
      const { chain, missing, isInOrder } = buildAuditTrail(seen)
      return {
        proposal_id,
        chain: chain.map((step) => ({ ...step, at: formatRfc3339(step.at) })),
        missing,
        in_order: isInOrder,
        message:
          chain.length === 0
            ? `Nothing is recorded for proposal ${proposal_id}.`
            : `Proposal ${proposal_id}: ${isInOrder ? 'in order' : 'OUT OF ORDER'}${missing.length > 0 ? `, without ${missing.join(', ')}` : ', complete'}.`,
      }
    },
  }),
]
