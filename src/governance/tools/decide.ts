import * as z from 'zod'
import { detectChannel } from '#approvals'
import type {
  AnswerFields,
  Approval,
  Decision,
  DecisionOutcome as ApprovalOutcome,
} from '#approvals'
import { toActor } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'
import { acknowledgePolicy, overrideAnswer } from '../answers.ts'
import { evidenceNote } from '../gate-proof.ts'
import type { Governance } from '../service.ts'
import { changeInput, parseChange } from './propose.ts'
import {
  agentId,
  approvalId,
  domain as domainName,
  overrideType,
  severity,
  longText,
} from './shared-schemas.ts'
import { decisionResults } from '../wire/decisions.ts'
import type { TrustMove } from '../wire/trust.ts'
import type { DecisionOutcome, Fault } from '../wire/decisions.ts'

const ids = z.array(approvalId).min(1).max(1000).describe('One or more approvals')

/** Applies `act` to each id. A failed item does not affect the others: it fails before it writes. */
export async function decideEach<T extends { id: string }>(
  list: readonly string[],
  act: (id: string) => Promise<T>,
): Promise<(T | { id: string; status: 'error'; error: Fault })[]> {
  const outcomes = []
  for (const id of new Set(list))
    try {
      outcomes.push(await act(id))
    } catch (error) {
      // A not_recordable error comes after the write, so the whole transaction rolls back.
      if (!(error instanceof CoworkError) || error.code === 'not_recordable') throw error
      const { code, message, hint } = error
      const problem = { code, message, ...(hint !== undefined && { hint }) }
      outcomes.push({ id, status: 'error' as const, error: problem })
    }
  return outcomes
}

/** The input combines the fields of every decision with those of all kinds. */
export const decideTool = ({ approvals, answerFields }: Governance) => {
  const kindFields = Object.fromEntries(
    [...answerFields].map(([name, { schema }]) => [name, schema]),
  )
  const listAnswers = (input: Readonly<Record<string, unknown>>) =>
    [...answerFields].flatMap(([name, field]) =>
      input[name] === undefined ? [] : { name, field, value: input[name] },
    )
  return defineTool({
    ...forPeople.write,
    name: 'cowork_decide',
    title: 'Decide',
    description:
      'Approve or reject pending items, one or many, each with its own outcome. Proposals are rejected with an override.',
    input: z.object({
      approval_ids: ids,
      decision: z.enum(['approve', 'reject']),
      reason: longText.optional(),
      change: changeInput.optional().describe('Approved instead of the requested change'),
      override: overrideAnswer.optional(),
      ...kindFields,
      hold: z
        .boolean()
        .default(false)
        .describe('Defer a bulk or high-risk decision so that it can be undone'),
    }),
    output: decisionResults.cowork_decide,
    // An edit or a standing permission may be riskier than the request.
    approves(input) {
      if (input.decision === 'reject') return []
      const isWider = listAnswers(input).some(({ field, value }) => field.isWider?.(value))
      return input.change !== undefined || isWider ? 'unknown' : input.approval_ids
    },
    async transact(tx, input, call) {
      const { approval_ids: list, hold, decision: verdict, reason, change, override } = input
      const isBulk = list.length > 1
      const fieldAnswers = listAnswers(input)
      if (isBulk && (change !== undefined || fieldAnswers.some(({ field }) => field.oneByOne)))
        throw new CoworkError('invalid_input', 'Bulk decisions cannot edit or extend requests.', {
          hint: oneByOneHint(answerFields),
        })
      const answers = Object.fromEntries(fieldAnswers.map(({ name, value }) => [name, value]))
      const decision = toDecision(
        { decision: verdict, reason, change, isBulk, answers: { override, ...answers } },
        call,
      )
      const outcomes = await decideEach(list, async (id) => {
        checkFields(answerFields, await approvals.find(tx, id), decision)
        const isHeld = hold && (isBulk || (await approvals.riskAfter(tx, id, decision)) === 'high')
        const outcome = isHeld
          ? await approvals.deferDecision(tx, id, decision, call)
          : await approvals.decide(tx, id, decision, call)
        return toOutcomeResult(id, outcome)
      })
      const errors = outcomes.filter(({ status }) => status === 'error').length
      return { outcomes, count: outcomes.length, errors }
    },
  })
}

function oneByOneHint(fields: AnswerFields): string {
  const actions = ['Edit', ...[...fields.values()].flatMap(({ oneByOne }) => oneByOne ?? [])]
  return `${actions.slice(0, -1).join(', ')} or ${actions.at(-1)} one by one.`
}

/** Refuses a field that does not apply to the kind of the approval. */
function checkFields(
  fields: AnswerFields,
  approval: Approval | undefined,
  { more = {} }: Decision,
): void {
  const isStray = (name: string) => {
    const { onlyFor, kind } = fields.get(name) ?? {}
    return onlyFor !== undefined && kind !== approval?.kind
  }
  const stray = Object.keys(more).find(isStray)
  if (!approval || stray === undefined) return
  const owned = [...fields].filter(([, { onlyFor }]) => onlyFor !== undefined)
  const texts = owned.map(
    ([name, { onlyFor }], at) => `\`${name}\` ${at === 0 ? 'is for' : 'for'} ${onlyFor}`,
  )
  throw new CoworkError(
    'invalid_input',
    `\`${stray}\` does not apply to a ${approval.kind.replace('_', ' ')}.`,
    { hint: `${texts.join(', ')}.` },
  )
}

type DecisionInput = {
  readonly decision: 'approve' | 'reject'
  readonly reason?: string | undefined
  readonly change?: unknown
  readonly batch?: string
  readonly isBulk?: boolean
  /** By field name; absent and false values are omitted. */
  readonly answers?: Readonly<Record<string, unknown>>
}

export function toDecision(input: DecisionInput, { caller }: Call): Decision {
  const { answers = {}, isBulk: bulk } = input
  const more = Object.fromEntries(
    Object.entries({ ...answers, bulk }).filter(
      ([, value]) => value !== undefined && value !== false,
    ),
  )
  return {
    verdict: input.decision,
    by: toActor(caller),
    channel: detectChannel(caller),
    ...(input.reason !== undefined && { reason: input.reason }),
    ...(input.change !== undefined && { change: parseChange(input.change) }),
    ...(input.batch !== undefined && { batch: input.batch }),
    ...(Object.keys(more).length > 0 && { more }),
  }
}

export const toOutcomeResult = (id: string, { status, details, until }: ApprovalOutcome) => ({
  id,
  status,
  ...(until !== undefined && { until: formatRfc3339(until) }),
  ...(details['trust'] !== undefined && { trust: details['trust'] as TrustMove }),
  ...(details['look_back'] !== undefined && { look_back: details['look_back'] as number }),
  ...(details['counted'] !== undefined && { counted: details['counted'] as boolean }),
  ...(details['also'] !== undefined && { also: details['also'] as DecisionOutcome['also'] }),
})

export const undoTool = ({ approvals }: Governance) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_undo',
    title: 'Undo',
    description: 'Undo decisions while they are in the undo window.',
    input: z.object({ approval_ids: ids }),
    output: decisionResults.cowork_undo,
    transact: async (tx, { approval_ids: list }, call) => ({
      outcomes: await decideEach(list, async (id) => {
        await approvals.undo(tx, id, call)
        return { id, status: 'pending' as const }
      }),
    }),
  })

const scoreChange = ({ from, to }: { from: number; to: number }) =>
  Math.round((to - from) * 10_000) / 10_000

export const approveTool = ({ approvals }: Governance) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_approve',
    title: 'Approve',
    description: 'Approve a proposal. The agent gains trust in that domain.',
    allowsUnverified: true,
    input: z.object({
      proposal_id: approvalId,
      feedback: longText.optional().describe('Note for the agent'),
      agent_id: agentId.optional().describe('Taken from the proposal; checked if given'),
      domain: domainName.optional().describe('Taken from the proposal; checked if given'),
      acknowledge_policy: acknowledgePolicy,
    }),
    output: decisionResults.cowork_approve,
    describeTarget: (input) => ({ domain: 'cowork', target: input.proposal_id }),
    approves: (input) => [input.proposal_id],
    async transact(tx, input, call) {
      const { proposal_id: id, feedback } = input
      await loadOwnProposal(tx, approvals, id, input)
      const decision = toDecision(
        {
          decision: 'approve',
          reason: feedback,
          answers: { acknowledge_policy: input.acknowledge_policy },
        },
        call,
      )
      const { approval, status, details } = await approvals.decide(tx, id, decision, call)
      const { requester, domain, trustLevel } = approval
      const trust = details['trust'] as TrustMove | undefined
      const level = trust?.to ?? trustLevel ?? 0
      return {
        proposal_id: id,
        status: status === 'voted' ? ('voted' as const) : ('approved' as const),
        agent_id: requester,
        domain,
        trust_level: level,
        trust_change: trust ? scoreChange(trust) : 0,
        promoted: trust?.promoted ?? false,
        verified: call.caller.verified,
        decided_by: call.caller.id,
        ...(!call.caller.verified && { evidence_note: evidenceNote }),
        message:
          status === 'voted'
            ? `COUNTED: ${String(details['votes'])} of ${String(details['needed'])} approvals. Proposal ${id}`
            : `APPROVED: Proposal ${id}. Trust ${level.toFixed(2)}${trust?.promoted ? ', PROMOTED' : ''}`,
      }
    },
  })

export const overrideTool = ({ approvals, scores, store, spotChecks, kindOf }: Governance) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_override',
    title: 'Override',
    description:
      'Correct an agent: reject its proposal, or mark a past action as wrong. It loses trust by type and severity.',
    allowsUnverified: true,
    input: z.object({
      agent_id: agentId,
      domain: domainName,
      action_description: longText.describe('Action of the agent, done or proposed'),
      override_type: overrideType,
      severity,
      description: longText.describe('The mistake, or what you did instead'),
      proposal_id: approvalId.optional(),
    }),
    output: decisionResults.cowork_override,
    describeTarget: (input) => ({ domain: input.domain, target: input.agent_id }),
    async transact(tx, input, call) {
      const overrideInput = {
        type: input.override_type,
        severity: input.severity,
        description: input.description,
      }
      const { agent_id: agent, domain, proposal_id: id } = input
      const proposal =
        id === undefined ? undefined : await loadOwnProposal(tx, approvals, id, input)
      const by = toActor(call.caller)
      if (proposal?.status === 'pending') {
        const decision = toDecision(
          { decision: 'reject', reason: input.description, answers: { override: overrideInput } },
          call,
        )
        const { details } = await approvals.decide(tx, proposal.id, decision, call)
        return toResult(toRecordedOverride(details))
      }
      if (proposal && proposal.status !== 'approved')
        throw new CoworkError(
          'already_decided',
          `not found or already decided: ${proposal.status}`,
          {
            hint: 'Omit proposal_id to correct the agent without it.',
          },
        )
      if (proposal) {
        // Locks the trust record, so that concurrent overrides see each other.
        await scores.load(tx, { agent, domain })
        const earlier = await store.overrideOf(tx, proposal.id)
        if (earlier && (earlier.isVerified || !call.caller.verified))
          throw alreadyOverriddenError(earlier)
      }
      const pair = { agent, domain }
      const risk = proposal?.risk ?? (await spotChecks.lastRisk(tx, pair)) ?? 'normal'
      const judged = { risk, ...(proposal && { kind: kindOf(proposal.action) }) }
      const about = {
        action: input.action_description,
        by,
        ...(id && { approval: id }),
        // An override without a proposal corrects an action that needed no approval.
        isAlone: !proposal || proposal.channel === 'trust',
      }
      const result = await scores.override(tx, pair, judged, overrideInput, about)
      const { id: override, streak, update: written } = result
      const check = id === undefined ? undefined : await store.findCheck(tx, id)
      // With authentication off, an agent must not remove its own check (A3).
      if (check?.read_at === null && call.caller.verified)
        await approvals.withdrawDecidedElsewhere(tx, check.approval, call)
      const rows = result.needsLookBack ? await spotChecks.lookBack(tx, pair, risk, id) : 0
      tx.append({
        type: 'override.recorded',
        actor: by,
        domain,
        subject: proposal?.target ?? agent,
        ids: { call: call.id, ...(id && { proposal: id, approval: id }) },
        data: {
          requester: agent,
          override: { type: overrideInput.type, severity: overrideInput.severity },
          ...(rows > 0 && { look_back: rows }),
          ...written,
        },
      })
      return toResult({ ...written.trust, id: override, streak })

      function toResult({
        id: override,
        from: before,
        to: after,
        demoted,
        streak,
      }: RecordedOverride) {
        return {
          override_id: override,
          ...(id !== undefined && { proposal_id: id }),
          agent_id: agent,
          domain,
          trust_level: after,
          trust_change: scoreChange({ from: before, to: after }),
          demoted: demoted ?? false,
          consecutive_overrides: streak,
          verified: call.caller.verified,
          message: `OVERRIDDEN: ${overrideInput.type}/${overrideInput.severity}. Trust ${before.toFixed(2)} → ${after.toFixed(2)}${demoted ? ', DEMOTED' : ''}`,
        }
      }
    },
  })

const alreadyOverriddenError = ({ by, at }: { by: string; at: number }) =>
  new CoworkError(
    'already_decided',
    `not found or already decided: overridden by ${by} at ${formatRfc3339(at)}`,
    { hint: 'Omit proposal_id to correct another action.' },
  )

type RecordedOverride = TrustMove & { readonly id: string; readonly streak: number }

function toRecordedOverride(details: ApprovalOutcome['details']): RecordedOverride {
  const { id, consecutive } = details['override'] as { id: string; consecutive: number }
  return { ...(details['trust'] as TrustMove), id, streak: consecutive }
}

/** Loads a proposal and compares the given agent and domain with it (B1). */
export async function loadOwnProposal(
  tx: Tx,
  approvals: Governance['approvals'],
  id: string,
  { agent_id: agent, domain }: { agent_id?: string | undefined; domain?: string | undefined },
) {
  const approval = await approvals.find(tx, id)
  if (approval?.kind !== 'proposal')
    throw new CoworkError('already_decided', 'not found or already decided', {
      hint: 'Use the proposal_id from cowork_propose; `cowork inbox` lists pending items.',
    })
  if (agent !== undefined && agent !== approval.requester)
    throw mismatchError('agent_id', agent, approval.requester)
  if (domain !== undefined && domain !== approval.domain)
    throw mismatchError('domain', domain, approval.domain)
  return approval
}

const mismatchError = (name: string, actual: string, expected: string) =>
  new CoworkError(
    'proposal_mismatch',
    `${name} ${JSON.stringify(actual)} does not match the proposal, which has ${JSON.stringify(expected)}.`,
    { hint: `Omit ${name}: it is taken from the proposal.` },
  )
