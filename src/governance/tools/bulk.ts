import * as z from 'zod'
import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'
import type { Governance } from '../service.ts'
import { toDecision, decideEach, loadOwnProposal, toOutcomeResult } from './decide.ts'
import { agentId, approvalId, domain, overrideType, severity, longText } from './shared-schemas.ts'
import { decisionResults } from '../wire/decisions.ts'

const most = 1000
const share = z.number().min(0).max(1)

const which = {
  proposal_ids: z.array(approvalId).min(1).max(most).optional().describe('These; or by filters'),
  filter_domain: domain.optional().describe('All that wait in this domain'),
  expected_count: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('How many the filters match: where it differs, nothing is decided'),
}

const filterInput = z.object({
  ...which,
  filter_agent_id: agentId.optional().describe('All that wait of this agent'),
  filter_min_confidence: share.optional().describe('Those whose agent is at least so sure'),
  filter_min_trust_score: share
    .optional()
    .describe('Those whose agent was trusted at least so far when it asked'),
})

export const bulkApproveTool = ({ approvals }: Governance) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_bulk_approve',
    title: 'Approve many',
    description:
      'Approve many proposals in one act, by id or by filters. Each has its own outcome, and one that fails leaves the others.',
    allowsUnverified: true,
    input: filterInput.extend({
      feedback: longText.optional().describe('What the agents should know'),
    }),
    output: decisionResults.cowork_bulk_approve,
    approves: (input) => input.proposal_ids ?? 'unknown',
    async transact(tx, input, call) {
      const ids = await chosen(tx, approvals, input)
      const batch = newId()
      const { outcomes, errors } = await decideAll(tx, approvals, ids, call, {
        decision: 'approve',
        reason: input.feedback,
        batch,
      })
      const approved = outcomes.filter(({ status }) => status === 'approved').length
      return {
        batch_id: batch,
        count: ids.length,
        approved,
        voted: outcomes.length - approved,
        outcomes,
        errors,
        verified: call.caller.verified,
        message: messageOf('APPROVED', approved, ids.length),
      }
    },
  })

export const bulkRejectTool = ({ approvals }: Governance) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_bulk_reject',
    title: 'Reject many',
    description:
      'Reject many proposals in one act, by id or by domain: an override for each. One that fails leaves the others.',
    allowsUnverified: true,
    input: z.object({
      ...which,
      override_type: overrideType,
      severity,
      description: longText.describe('What was wrong'),
    }),
    output: decisionResults.cowork_bulk_reject,
    async transact(tx, input, call) {
      const ids = await chosen(tx, approvals, input)
      const batch = newId()
      const { override_type: type, severity: grade, description } = input
      const { outcomes, errors } = await decideAll(tx, approvals, ids, call, {
        decision: 'reject',
        reason: description,
        answers: { override: { type, severity: grade, description } },
        batch,
      })
      return {
        batch_id: batch,
        count: ids.length,
        rejected: outcomes.length,
        outcomes,
        errors,
        verified: call.caller.verified,
        message: messageOf('REJECTED', outcomes.length, ids.length),
      }
    },
  })

const messageOf = (done: string, some: number, all: number) =>
  all === 0 ? 'Nothing waits that matches: nothing was decided.' : `${done}: ${some} of ${all}.`

async function decideAll(
  tx: Tx,
  approvals: Governance['approvals'],
  ids: readonly string[],
  call: Call,
  asked: Parameters<typeof toDecision>[0],
) {
  const decision = toDecision({ ...asked, isBulk: true }, call)
  const made = await decideEach(ids, async (id) => {
    await loadOwnProposal(tx, approvals, id, {})
    return toOutcomeResult(id, await approvals.decide(tx, id, decision, call))
  })
  const outcomes = []
  const errors = []
  for (const one of made)
    if ('error' in one) errors.push({ proposal_id: one.id, ...one.error })
    else
      outcomes.push({
        proposal_id: one.id,
        // Nothing is held here.
        status: one.status as 'approved' | 'rejected' | 'voted',
        ...(one.trust && { trust: one.trust }),
      })
  return { outcomes, errors }
}

/** By ids as they are given; by filters the oldest first, if they are as many as the person saw. */
async function chosen(
  tx: Tx,
  approvals: Governance['approvals'],
  asked: z.output<typeof filterInput>,
) {
  const { proposal_ids: ids, expected_count: expected, ...filters } = asked
  const by = {
    requester: filters.filter_agent_id,
    domain: filters.filter_domain,
    minConfidence: filters.filter_min_confidence,
    minTrust: filters.filter_min_trust_score,
  }
  const isFiltered = Object.values(by).some((value) => value !== undefined)
  if ((ids !== undefined) === isFiltered)
    throw new CoworkError('invalid_input', 'Say which: proposal_ids, or filters.', {
      hint: 'Give one of the two, and expected_count with filters.',
    })
  if (ids) return [...new Set(ids)]
  const found = await approvals.pendingLike(tx, { kind: 'proposal', ...by }, most + 1)
  const number = found.length > most ? `more than ${most}` : String(found.length)
  if (expected !== found.length || found.length > most)
    throw new CoworkError(
      'count_differs',
      `${number} waiting proposals match${expected === undefined ? '' : `, not ${expected}`}. Nothing was decided.`,
      {
        hint:
          found.length > most
            ? `Narrow the filters: one call decides ${most} at most.`
            : 'Look at them again, and give their number as expected_count.',
        details: { matching: found.length },
      },
    )
  return found.map(({ id }) => id).toReversed()
}
