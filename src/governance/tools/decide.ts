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

/** One item fails alone: nothing is written of it before it is found wrong. */
export async function decideEach<T extends { id: string }>(
  list: readonly string[],
  act: (id: string) => Promise<T>,
): Promise<(T | { id: string; status: 'error'; error: Fault })[]> {
  const outcomes = []
  for (const id of new Set(list))
    try {
      outcomes.push(await act(id))
    } catch (error) {
      // Found wrong only when it was to be recorded: then it was written, and all of it must go.
      if (!(error instanceof CoworkError) || error.code === 'not_recordable') throw error
      const { code, message, hint } = error
      const problem = { code, message, ...(hint !== undefined && { hint }) }
      outcomes.push({ id, status: 'error' as const, error: problem })
    }
  return outcomes
}

/** Its input is what every decision takes, and the fields of all kinds. */
export const decideTool = ({ approvals, answerFields }: Governance) => {
  const kindFields = Object.fromEntries(
    [...answerFields].map(([name, { schema }]) => [name, schema]),
  )
  const answersIn = (input: Readonly<Record<string, unknown>>) =>
    [...answerFields].flatMap(([name, field]) =>
      input[name] === undefined ? [] : { name, field, value: input[name] },
    )
  return defineTool({
    ...forPeople.write,
    name: 'cowork_decide',
    title: 'Decide',
    description:
      'Approve or reject what waits, one or many, each with its own outcome. Proposals are rejected by an override.',
    input: z.object({
      approval_ids: ids,
      decision: z.enum(['approve', 'reject']),
      reason: longText.optional(),
      change: changeInput.optional().describe('What is approved instead of what was asked'),
      override: overrideAnswer.optional(),
      ...kindFields,
      hold: z
        .boolean()
        .default(false)
        .describe('Hold a bulk or high-risk decision back for a moment, so that it can be undone'),
    }),
    output: decisionResults.cowork_decide,
    // An edit, or what is allowed for longer, may be riskier than what was asked.
    approves(input) {
      if (input.decision === 'reject') return []
      const isWider = answersIn(input).some(({ field, value }) => field.isWider?.(value))
      return input.change !== undefined || isWider ? 'unknown' : input.approval_ids
    },
    async transact(tx, input, call) {
      const { approval_ids: list, hold, decision: verdict, reason, change, override } = input
      const isBulk = list.length > 1
      const given = answersIn(input)
      if (isBulk && (change !== undefined || given.some(({ field }) => field.oneByOne)))
        throw new CoworkError('invalid_input', 'Many at once are approved as they are, and once.', {
          hint: oneByOneHint(answerFields),
        })
      const answers = Object.fromEntries(given.map(({ name, value }) => [name, value]))
      const decision = toDecision(
        { decision: verdict, reason, change, isBulk, answers: { override, ...answers } },
        call,
      )
      const outcomes = await decideEach(list, async (id) => {
        checkFields(answerFields, await approvals.find(tx, id), decision)
        const isHeld = hold && (isBulk || (await approvals.riskAfter(tx, id, decision)) === 'high')
        const made = isHeld
          ? await approvals.deferDecision(tx, id, decision, call)
          : await approvals.decide(tx, id, decision, call)
        return toOutcomeResult(id, made)
      })
      const errors = outcomes.filter(({ status }) => status === 'error').length
      return { outcomes, count: outcomes.length, errors }
    },
  })
}

function oneByOneHint(fields: AnswerFields): string {
  const acts = ['Edit', ...[...fields.values()].flatMap(({ oneByOne }) => oneByOne ?? [])]
  return `${acts.slice(0, -1).join(', ')} or ${acts.at(-1)} one by one.`
}

/** A field that says nothing about this kind is a mistake, not to be passed over. */
function checkFields(
  fields: AnswerFields,
  asked: Approval | undefined,
  { more = {} }: Decision,
): void {
  const isStray = (name: string) => {
    const { onlyFor, kind } = fields.get(name) ?? {}
    return onlyFor !== undefined && kind !== asked?.kind
  }
  const stray = Object.keys(more).find(isStray)
  if (!asked || stray === undefined) return
  const owned = [...fields].filter(([, { onlyFor }]) => onlyFor !== undefined)
  const texts = owned.map(
    ([name, { onlyFor }], at) => `\`${name}\` ${at === 0 ? 'is for' : 'for'} ${onlyFor}`,
  )
  throw new CoworkError(
    'invalid_input',
    `\`${stray}\` says nothing about a ${asked.kind.replace('_', ' ')}.`,
    { hint: `${texts.join(', ')}.` },
  )
}

type Asked = {
  readonly decision: 'approve' | 'reject'
  readonly reason?: string | undefined
  readonly change?: unknown
  readonly batch?: string
  readonly isBulk?: boolean
  /** By the names of the fields; nothing is said by one that is absent or false. */
  readonly answers?: Readonly<Record<string, unknown>>
}

export function toDecision(asked: Asked, { caller }: Call): Decision {
  const { answers = {}, isBulk: bulk } = asked
  const more = Object.fromEntries(
    Object.entries({ ...answers, bulk }).filter(
      ([, value]) => value !== undefined && value !== false,
    ),
  )
  return {
    verdict: asked.decision,
    by: toActor(caller),
    channel: detectChannel(caller),
    ...(asked.reason !== undefined && { reason: asked.reason }),
    ...(asked.change !== undefined && { change: parseChange(asked.change) }),
    ...(asked.batch !== undefined && { batch: asked.batch }),
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
    description: 'Take back decisions that are held and not released yet.',
    input: z.object({ approval_ids: ids }),
    output: decisionResults.cowork_undo,
    transact: async (tx, { approval_ids: list }, call) => ({
      outcomes: await decideEach(list, async (id) => {
        await approvals.undo(tx, id, call)
        return { id, status: 'pending' as const }
      }),
    }),
  })

const changeOf = ({ from, to }: { from: number; to: number }) =>
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
      feedback: longText.optional().describe('What the agent should know'),
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
        trust_change: trust ? changeOf(trust) : 0,
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
      'Correct an agent: reject its proposal, or say afterwards that something it did was wrong. It loses trust by type and severity.',
    allowsUnverified: true,
    input: z.object({
      agent_id: agentId,
      domain: domainName,
      action_description: longText.describe('What the agent did or wanted'),
      override_type: overrideType,
      severity,
      description: longText.describe('What was wrong, or what you did instead'),
      proposal_id: approvalId.optional(),
    }),
    output: decisionResults.cowork_override,
    describeTarget: (input) => ({ domain: input.domain, target: input.agent_id }),
    async transact(tx, input, call) {
      const given = {
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
          { decision: 'reject', reason: input.description, answers: { override: given } },
          call,
        )
        const { details } = await approvals.decide(tx, proposal.id, decision, call)
        return answerOf(recordedOf(details))
      }
      if (proposal && proposal.status !== 'approved')
        throw new CoworkError(
          'already_decided',
          `not found or already decided: ${proposal.status}`,
          {
            hint: 'Leave proposal_id out to correct the agent without it.',
          },
        )
      if (proposal) {
        // Locks the pair, so that of two at once the second sees the first.
        await scores.load(tx, { agent, domain })
        const known = await store.overrideOf(tx, proposal.id)
        if (known && (known.isVerified || !call.caller.verified)) throw overriddenAlready(known)
      }
      const pair = { agent, domain }
      const risk = proposal?.risk ?? (await spotChecks.lastRisk(tx, pair)) ?? 'normal'
      const judged = { risk, ...(proposal && { kind: kindOf(proposal.action) }) }
      const about = {
        action: input.action_description,
        by,
        ...(id && { approval: id }),
        // What a person corrects without naming a proposal was not asked about.
        isAlone: !proposal || proposal.channel === 'trust',
      }
      const found = await scores.override(tx, pair, judged, given, about)
      const { id: override, streak, told: written } = found
      const check = id === undefined ? undefined : await store.checkOn(tx, id)
      // An agent in open mode must not take its own check away (A3).
      if (check?.read_at === null && call.caller.verified)
        await approvals.withdrawDecidedElsewhere(tx, check.approval, call)
      const rows = found.needsLookBack ? await spotChecks.lookBack(tx, pair, risk, id) : 0
      tx.append({
        type: 'override.recorded',
        actor: by,
        domain,
        subject: proposal?.target ?? agent,
        ids: { call: call.id, ...(id && { proposal: id, approval: id }) },
        data: {
          requester: agent,
          override: { type: given.type, severity: given.severity },
          ...(rows > 0 && { look_back: rows }),
          ...written,
        },
      })
      return answerOf({ ...written.trust, id: override, streak })

      function answerOf({ id: override, from: before, to: after, demoted, streak }: Recorded) {
        return {
          override_id: override,
          ...(id !== undefined && { proposal_id: id }),
          agent_id: agent,
          domain,
          trust_level: after,
          trust_change: changeOf({ from: before, to: after }),
          demoted: demoted ?? false,
          consecutive_overrides: streak,
          verified: call.caller.verified,
          message: `OVERRIDDEN: ${given.type}/${given.severity}. Trust ${before.toFixed(2)} → ${after.toFixed(2)}${demoted ? ', DEMOTED' : ''}`,
        }
      }
    },
  })

const overriddenAlready = ({ by, at }: { by: string; at: number }) =>
  new CoworkError(
    'already_decided',
    `not found or already decided: overridden by ${by} at ${formatRfc3339(at)}`,
    { hint: 'Leave proposal_id out to correct the agent for something else.' },
  )

type Recorded = TrustMove & { readonly id: string; readonly streak: number }

function recordedOf(told: ApprovalOutcome['details']): Recorded {
  const { id, consecutive } = told['override'] as { id: string; consecutive: number }
  return { ...(told['trust'] as TrustMove), id, streak: consecutive }
}

/** The proposal itself says whose it is and where (B1). */
export async function loadOwnProposal(
  tx: Tx,
  approvals: Governance['approvals'],
  id: string,
  { agent_id: agent, domain }: { agent_id?: string | undefined; domain?: string | undefined },
) {
  const found = await approvals.find(tx, id)
  if (found?.kind !== 'proposal')
    throw new CoworkError('already_decided', 'not found or already decided', {
      hint: 'Give the proposal_id that cowork_propose answered; `cowork inbox` lists what waits.',
    })
  if (agent !== undefined && agent !== found.requester)
    throw mismatch('agent_id', agent, found.requester)
  if (domain !== undefined && domain !== found.domain)
    throw mismatch('domain', domain, found.domain)
  return found
}

const mismatch = (name: string, given: string, found: string) =>
  new CoworkError(
    'proposal_mismatch',
    `The proposal has the ${name} ${JSON.stringify(found)}, not ${JSON.stringify(given)}.`,
    { hint: `Leave ${name} out: it is taken from the proposal.` },
  )
