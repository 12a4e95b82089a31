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

const maxBatchSize = 1000
const ratio = z.number().min(0).max(1)

const selectionInput = {
  proposal_ids: z
    .array(approvalId)
    .min(1)
    .max(maxBatchSize)
    .optional()
    .describe('Ids; or use filters'),
  filter_domain: domain.optional().describe('All pending in this domain'),
  expected_count: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Number of matches; nothing is decided if it differs'),
}

const filterInput = z.object({
  ...selectionInput,
  filter_agent_id: agentId.optional().describe('All pending of this agent'),
  filter_min_confidence: ratio.optional().describe('Minimum confidence of the agent'),
  filter_min_trust_score: ratio.optional().describe('Minimum trust of the agent when it asked'),
})

export const bulkApproveTool = ({ approvals }: Governance) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_bulk_approve',
    title: 'Approve many',
    description:
      'Approve many proposals in one call, by id or by filters. Each has its own outcome; a failure does not affect the others.',
    allowsUnverified: true,
    input: filterInput.extend({
      feedback: longText.optional().describe('Note for the agents'),
    }),
    output: decisionResults.cowork_bulk_approve,
    approves: (input) => input.proposal_ids ?? 'unknown',
    async transact(tx, input, call) {
      const ids = await resolveSelection(tx, approvals, input)
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
        message: formatMessage('APPROVED', approved, ids.length),
      }
    },
  })

export const bulkRejectTool = ({ approvals }: Governance) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_bulk_reject',
    title: 'Reject many',
    description:
      'Reject many proposals in one call, by id or by domain, with an override each. A failure does not affect the others.',
    allowsUnverified: true,
    input: z.object({
      ...selectionInput,
      override_type: overrideType,
      severity,
      description: longText.describe('The mistake'),
    }),
    output: decisionResults.cowork_bulk_reject,
    async transact(tx, input, call) {
      const ids = await resolveSelection(tx, approvals, input)
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
        message: formatMessage('REJECTED', outcomes.length, ids.length),
      }
    },
  })

const formatMessage = (done: string, decidedCount: number, totalCount: number) =>
  totalCount === 0
    ? 'No pending proposals match: nothing was decided.'
    : `${done}: ${decidedCount} of ${totalCount}.`

async function decideAll(
  tx: Tx,
  approvals: Governance['approvals'],
  ids: readonly string[],
  call: Call,
  input: Parameters<typeof toDecision>[0],
) {
  const decision = toDecision({ ...input, isBulk: true }, call)
  const results = await decideEach(ids, async (id) => {
    await loadOwnProposal(tx, approvals, id, {})
    return toOutcomeResult(id, await approvals.decide(tx, id, decision, call))
  })
  const outcomes = []
  const errors = []
  for (const result of results)
    if ('error' in result) errors.push({ proposal_id: result.id, ...result.error })
    else
      outcomes.push({
        proposal_id: result.id,
        // This tool never defers decisions.
        status: result.status as 'approved' | 'rejected' | 'voted',
        ...(result.trust && { trust: result.trust }),
      })
  return { outcomes, errors }
}

/** Returns the given ids, or the filter matches, oldest first, if their number is the one that the person saw. */
async function resolveSelection(
  tx: Tx,
  approvals: Governance['approvals'],
  input: z.output<typeof filterInput>,
) {
  const { proposal_ids: ids, expected_count: expected, ...filters } = input
  const query = {
    requester: filters.filter_agent_id,
    domain: filters.filter_domain,
    minConfidence: filters.filter_min_confidence,
    minTrust: filters.filter_min_trust_score,
  }
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  if ((ids !== undefined) === isFiltered)
    throw new CoworkError('invalid_input', 'Exactly one of proposal_ids and filters is required.', {
      hint: 'Set proposal_ids, or filters with expected_count.',
    })
  if (ids) return [...new Set(ids)]
  const matches = await approvals.pendingLike(tx, { kind: 'proposal', ...query }, maxBatchSize + 1)
  const number =
    matches.length > maxBatchSize ? `more than ${maxBatchSize}` : String(matches.length)
  if (expected !== matches.length || matches.length > maxBatchSize)
    throw new CoworkError(
      'count_differs',
      `${number} pending proposals match${expected === undefined ? '' : `, not ${expected}`}. Nothing was decided.`,
      {
        hint:
          matches.length > maxBatchSize
            ? `Narrow the filters: one call decides ${maxBatchSize} at most.`
            : 'Review the matches and set expected_count to their number.',
        details: { matching: matches.length },
      },
    )
  return matches.map(({ id }) => id).toReversed()
}
