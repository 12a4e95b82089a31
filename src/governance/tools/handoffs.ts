import * as z from 'zod'
import { requesterFilter } from '#approvals'
import type { DecisionOutcome } from '#approvals'
import { CoworkError } from '#base/errors.ts'
import { forAgents, forAnyone, forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { formatForHuman } from '../handoffs/packet.ts'
import type { GovernanceDeps } from './index.ts'
import { changeInput, parseChange } from './propose.ts'
import {
  approvalId,
  domain,
  overrideType,
  severity,
  agentFields,
  longText,
} from './shared-schemas.ts'
import { handoffModes, handoffResults } from '../wire/handoffs.ts'
import type { TrustMove } from '../wire/trust.ts'

/** Parses a list of attempts from JSON text or values; other text is a single attempt. */
function parseAttempts(input: unknown): unknown[] {
  if (Array.isArray(input)) return input
  if (typeof input !== 'string') return [input]
  try {
    return [JSON.parse(input) as unknown].flat()
  } catch {
    return [input]
  }
}

const toProposalResult = ({ approval, status, details }: DecisionOutcome) => ({
  proposal_id: approval.id,
  status,
  ...(details['trust'] !== undefined && { trust: details['trust'] as TrustMove }),
})

export const handoffTools = ({ governance, ledger, identity }: GovernanceDeps): Tool[] => [
  defineTool({
    ...forAgents.write,
    name: 'cowork_handoff',
    additive: true,
    title: 'Hand over',
    description:
      'Hand a task to a person when you cannot or may not continue: say why, what you tried, what they need to know. Then poll cowork_check_handoff.',
    core: true,
    input: z.object({
      ...agentFields,
      domain,
      reason: longText.min(1).describe('Why you stop'),
      confidence: z.number().min(0).max(1).describe('0 to 1'),
      attempted_actions: changeInput.default([]).describe('List of attempts'),
      context: changeInput.default({}).describe('Facts the person needs'),
      proposal_id: approvalId.optional().describe('Related proposal'),
      parent_handoff_id: approvalId.optional().describe('Handoff you have a question about'),
      handoff_mode: z
        .enum(handoffModes)
        .default('escalate')
        .describe('escalate, takeover: stop until answered'),
    }),
    output: handoffResults.cowork_handoff,
    lean(answer) {
      // The agent wrote the context itself, so the reply omits it (RA15).
      const { context_packet: _, for_human: __, ...rest } = answer
      return rest
    },
    describeTarget: ({ domain: where, proposal_id: target }) => ({
      domain: where,
      ...(target !== undefined && { target }),
    }),
    async transact(tx, input, call) {
      const { handoffs, approvals } = governance
      const lately = await ledger.recentEntries(tx, call.caller, input.domain)
      const handoff = {
        domain: input.domain,
        mode: input.handoff_mode,
        reason: input.reason,
        confidence: input.confidence,
        attempted: parseAttempts(input.attempted_actions),
        context: parseChange(input.context),
        proposal: input.proposal_id,
        parent: input.parent_handoff_id,
      }
      const approval = await handoffs.open(tx, handoff, call, lately)
      const { id } = approval
      const packet = handoffs.buildPacket(approval)
      const url = approvals.reviewUrl(id)
      return {
        handoff_id: id,
        status: 'pending' as const,
        handoff_mode: input.handoff_mode,
        context_packet: packet,
        for_human: formatForHuman(packet, url),
        review_url: url,
        message: `HANDED OVER (${input.handoff_mode}): Handoff ${id}. A person answers at ${url}. Call cowork_check_handoff for the answer.`,
      }
    },
  }),
  defineTool({
    ...forAnyone.write,
    name: 'cowork_check_handoff',
    title: 'Check handoffs',
    core: true,
    description:
      'Read handoffs that people handed back to you, with instructions. Each repeats until you acknowledge it with ack.',
    idempotent: true,
    input: z.object({
      agent_id: agentFields.agent_id,
      domain: domain.optional().describe('Only this domain'),
      ack: z.array(approvalId).max(1000).default([]).describe('Ids of handoffs you have read'),
    }),
    output: handoffResults.cowork_check_handoff,
    lean(answer) {
      const { pending_instructions: _, acknowledged, ...rest } = answer
      return { ...rest, ...(acknowledged.length > 0 && { acknowledged }) }
    },
    async transact(tx, { agent_id, domain: where, ack }, call) {
      const { caller } = call
      if (caller.kind !== 'agent' && ack.length > 0)
        throw new CoworkError('agent_required', 'Only an agent can acknowledge a handoff.', {
          hint: 'Omit ack to list handoffs.',
        })
      const { requester: agent, since } = requesterFilter(caller, agent_id)
      if (agent === undefined)
        throw new CoworkError('invalid_input', 'Missing agent_id.', {
          hint: 'Set agent_id; `cowork agents` lists agents.',
        })
      const acknowledged: string[] = []
      for (const id of new Set(ack))
        if (await governance.handoffs.acknowledge(tx, id, call)) acknowledged.push(id)
      const query = { agent, since, domain: where }
      const { items, count } = await governance.handoffs.listHandedBack(tx, query)
      return { pending_handoffs: items, pending_instructions: items, count, acknowledged }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_resolve_handoff',
    title: 'Resolve a handoff',
    description:
      'Resolve a handoff: say what you did or decided, and whether the agent continues, with which instructions.',
    allowsUnverified: true,
    input: z.object({
      handoff_id: approvalId,
      resolution: longText.min(1).describe('Your action or decision'),
      hand_back: z
        .boolean()
        .optional()
        .describe('Whether the agent continues; default true with instructions'),
      hand_back_to_agent: z.boolean().optional().describe('Alias of hand_back'),
      instructions: longText.optional().describe('Instructions for the agent'),
      decide_proposal: z
        .enum(['approve', 'reject'])
        .optional()
        .describe('Also decide the pending proposal of the handoff'),
      override_type: overrideType.optional(),
      severity,
      description: longText.default('').describe('The mistake, if the proposal is rejected'),
    }),
    output: handoffResults.cowork_resolve_handoff,
    describeTarget: (input) => ({ domain: 'cowork', target: input.handoff_id }),
    // A handoff has the risk of its proposal.
    approves: (input) => (input.decide_proposal === 'approve' ? [input.handoff_id] : []),
    async transact(tx, input, call) {
      const { handoffs, approvals } = governance
      const { handoff_id: id, resolution, instructions, override_type: type } = input
      const shouldHandBack =
        input.hand_back ?? input.hand_back_to_agent ?? instructions !== undefined
      const handoff = shouldHandBack ? await approvals.find(tx, id) : undefined
      const isRevoked =
        handoff !== undefined &&
        (await identity.isRemoved(tx, handoff.requester, handoff.createdAt))
      const verdict = input.decide_proposal
      const override = type && { type, severity: input.severity, description: input.description }
      const { approval, proposal } = await handoffs.resolve(
        tx,
        id,
        {
          resolution,
          handBack: shouldHandBack && !isRevoked,
          instructions,
          ...(verdict && { proposal: { verdict, ...(override && { override }) } }),
        },
        call,
      )
      const { requester } = approval
      return {
        handoff_id: id,
        status: 'resolved' as const,
        agent_id: requester,
        domain: approval.domain,
        resolution,
        hand_back: shouldHandBack && !isRevoked,
        ...(isRevoked && {
          hand_back_refused: {
            code: 'agent_revoked',
            message: `${requester} is revoked and cannot read instructions.`,
            hint: 'Do the task yourself or assign it to another agent; one added later under the same name is a different agent.',
          },
        }),
        instructions: instructions ?? null,
        ...(proposal && { proposal: toProposalResult(proposal) }),
        resolved_by: call.caller.id,
        verified: call.caller.verified,
        message: isRevoked
          ? `RESOLVED, NOT HANDED BACK: ${requester} is revoked. Handoff ${id}`
          : `RESOLVED${shouldHandBack ? ` and handed back to ${requester}` : ''}: Handoff ${id}`,
      }
    },
  }),
]
