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
import { isVisibleTo } from '#ledger'
import { buildAuditTrail } from '../audit-trail.ts'

const notOwnProposalError = (agent: string, id: string) =>
  new CoworkError('not_found', `Not found: proposal ${JSON.stringify(id)} of ${agent}.`, {
    hint: 'Use the proposal_id from cowork_propose, or omit it.',
  })

export const logTools = ({ governance: { approvals }, ledger }: GovernanceDeps): Tool[] => [
  defineTool({
    ...forAnyone.write,
    name: 'cowork_log',
    additive: true,
    title: 'Log an action',
    description:
      'Record an action taken outside cowork, after it is done, and who took it. Set proposal_id if it was proposed: that completes its audit trail.',
    core: true,
    input: z.object({
      ...agentFields,
      domain,
      action: z.string().min(1).max(200).describe('For example update_deal'),
      target,
      actor: z.enum(['agent', 'human', 'collaborative']).default('agent'),
      proposal_id: z.string().max(128).optional(),
      phase: z.enum(['execute', 'verify']).default('execute'),
      details: z.unknown().optional().describe('More details, as JSON'),
    }),
    output: proposalResults.cowork_log,
    describeTarget: (input) => ({ domain: input.domain, target: input.target }),
    async transact(tx, { domain, action, target, actor, phase, proposal_id }, { id, caller }) {
      // Otherwise an agent could pass off the approval of another agent as its own.
      if (proposal_id && caller.kind === 'agent') {
        const approval = await approvals.find(tx, proposal_id)
        if (approval && !isOwnRecord(caller, approval.requester, approval.createdAt))
          throw notOwnProposalError(caller.id, proposal_id)
      }
      const actionId = newId()
      tx.append({
        type: 'action.logged',
        actor: toActor(caller),
        domain,
        subject: target,
        ids: { call: id, ...(proposal_id && { proposal: proposal_id }) },
        // The erasable payload of the `call.done` entry holds `details` (L8).
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
      'Show the history of one proposal: propose → approve → execute → verify, with its order checked.',
    input: z.object({ ...agentFields, proposal_id: z.string().min(1).max(128) }),
    output: proposalResults.cowork_audit_trail,
    async read({ proposal_id }, { caller }) {
      const entries = await ledger.find({ proposal: proposal_id, limit: 1000 })
      // The agent that made the proposal sees all of it, including the decisions of people.
      const isOwn = entries.some(
        ({ type, actor, at }) =>
          type === 'proposal.created' &&
          actor.kind === caller.kind &&
          isOwnRecord(caller, actor.id, at),
      )
      const visible = isOwn ? entries : entries.filter((entry) => isVisibleTo(caller, entry))
      const { chain, missing, isInOrder } = buildAuditTrail(visible)
      return {
        proposal_id,
        chain: chain.map((step) => ({ ...step, at: formatRfc3339(step.at) })),
        missing,
        in_order: isInOrder,
        message:
          chain.length === 0
            ? `No entries for proposal ${proposal_id}.`
            : `Proposal ${proposal_id}: ${isInOrder ? 'in order' : 'OUT OF ORDER'}${missing.length > 0 ? `, missing ${missing.join(', ')}` : ', complete'}.`,
      }
    },
  }),
]
