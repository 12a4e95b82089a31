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

/** A list, however it came: what is no JSON is one attempt in words. */
function attemptsOf(given: unknown): unknown[] {
  if (Array.isArray(given)) return given
  if (typeof given !== 'string') return [given]
  try {
    return [JSON.parse(given) as unknown].flat()
  } catch {
    return [given]
  }
}

const shownOf = ({ approval, status, details }: DecisionOutcome) => ({
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
      'Give a task to a person when you cannot or may not go on: say why, what you tried, what they need to know. Then poll cowork_check_handoff.',
    core: true,
    input: z.object({
      ...agentFields,
      domain,
      reason: longText.min(1).describe('Why you stop'),
      confidence: z.number().min(0).max(1).describe('0 to 1'),
      attempted_actions: changeInput.default([]).describe('What you tried: a list'),
      context: changeInput.default({}).describe('What the person needs to know'),
      proposal_id: approvalId.optional().describe('Proposal it is about'),
      parent_handoff_id: approvalId.optional().describe('Handoff you ask back about'),
      handoff_mode: z
        .enum(handoffModes)
        .default('escalate')
        .describe('escalate, takeover: stop until answered'),
    }),
    output: handoffResults.cowork_handoff,
    lean(answer) {
      // The agent wrote the context: it has no need to read it again (RA15).
      const { context_packet: _, for_human: __, ...rest } = answer
      return rest
    },
    describeTarget: ({ domain: where, proposal_id: target }) => ({
      domain: where,
      ...(target !== undefined && { target }),
    }),
    async transact(tx, input, call) {
      const { handoffs, approvals } = governance
      const lately = await ledger.lately(tx, call.caller, input.domain)
      const handoff = {
        domain: input.domain,
        mode: input.handoff_mode,
        reason: input.reason,
        confidence: input.confidence,
        attempted: attemptsOf(input.attempted_actions),
        context: parseChange(input.context),
        proposal: input.proposal_id,
        parent: input.parent_handoff_id,
      }
      const approval = await handoffs.open(tx, handoff, call, lately)
      const { id } = approval
      const given = handoffs.packetOf(approval)
      const url = approvals.reviewUrl(id)
      return {
        handoff_id: id,
        status: 'pending' as const,
        handoff_mode: input.handoff_mode,
        context_packet: given,
        for_human: formatForHuman(given, url),
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
      'Read what people handed back to you, with their instructions. They come again until you acknowledge them with ack.',
    idempotent: true,
    input: z.object({
      agent_id: agentFields.agent_id,
      domain: domain.optional().describe('Only this domain'),
      ack: z.array(approvalId).max(1000).default([]).describe('Ids of those you have read'),
    }),
    output: handoffResults.cowork_check_handoff,
    lean(answer) {
      const { pending_instructions: _, acknowledged, ...rest } = answer
      return { ...rest, ...(acknowledged.length > 0 && { acknowledged }) }
    },
    async transact(tx, { agent_id, domain: where, ack }, call) {
      const { caller } = call
      if (caller.kind !== 'agent' && ack.length > 0)
        throw new CoworkError('agent_required', 'Only the agent itself acknowledges a handoff.', {
          hint: 'Leave ack out to look.',
        })
      const { requester: agent, since } = requesterFilter(caller, agent_id)
      if (agent === undefined)
        throw new CoworkError('invalid_input', 'Say which agent: agent_id is missing.', {
          hint: '`cowork agents` lists them.',
        })
      const acknowledged: string[] = []
      for (const id of new Set(ack))
        if (await governance.handoffs.acknowledge(tx, id, call)) acknowledged.push(id)
      const asked = { agent, since, domain: where }
      const { items, count } = await governance.handoffs.handedBack(tx, asked)
      return { pending_handoffs: items, pending_instructions: items, count, acknowledged }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_resolve_handoff',
    title: 'Resolve a handoff',
    description:
      'Answer what an agent handed over: what you did or decided, and whether the agent goes on, with which instructions.',
    allowsUnverified: true,
    input: z.object({
      handoff_id: approvalId,
      resolution: longText.min(1).describe('What you did or decided'),
      hand_back: z
        .boolean()
        .optional()
        .describe('Whether the agent goes on; yes where instructions are given'),
      hand_back_to_agent: z.boolean().optional().describe('Another name of hand_back'),
      instructions: longText.optional().describe('What the agent is to do'),
      decide_proposal: z
        .enum(['approve', 'reject'])
        .optional()
        .describe('Decide the pending proposal that the handoff names, in the same act'),
      override_type: overrideType.optional(),
      severity,
      description: longText.default('').describe('What was wrong, where the proposal is rejected'),
    }),
    output: handoffResults.cowork_resolve_handoff,
    describeTarget: (input) => ({ domain: 'cowork', target: input.handoff_id }),
    // A handoff is as risky as the proposal it is about.
    approves: (input) => (input.decide_proposal === 'approve' ? [input.handoff_id] : []),
    async transact(tx, input, call) {
      const { handoffs, approvals } = governance
      const { handoff_id: id, resolution, instructions, override_type: type } = input
      const isWanted = input.hand_back ?? input.hand_back_to_agent ?? instructions !== undefined
      const asked = isWanted ? await approvals.find(tx, id) : undefined
      const isGone =
        asked !== undefined && (await identity.hasGone(tx, asked.requester, asked.createdAt))
      const verdict = input.decide_proposal
      const override = type && { type, severity: input.severity, description: input.description }
      const { approval, proposal } = await handoffs.resolve(
        tx,
        id,
        {
          resolution,
          handBack: isWanted && !isGone,
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
        hand_back: isWanted && !isGone,
        ...(isGone && {
          hand_back_refused: {
            code: 'agent_revoked',
            message: `${requester} is revoked and would never read it.`,
            hint: 'Do it yourself, or give it to another agent; whom `cowork agents add` lets in under that name is another, too.',
          },
        }),
        instructions: instructions ?? null,
        ...(proposal && { proposal: shownOf(proposal) }),
        resolved_by: call.caller.id,
        verified: call.caller.verified,
        message: isGone
          ? `RESOLVED, NOT HANDED BACK: ${requester} is revoked. Handoff ${id}`
          : `RESOLVED${isWanted ? ` and handed back to ${requester}` : ''}: Handoff ${id}`,
      }
    },
  }),
]
