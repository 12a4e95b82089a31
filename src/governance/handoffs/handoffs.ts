import { requesterFilter, detectChannel, computeDigest, toSingleLine } from '#approvals'
import type { Approval, ApprovalKind, Approvals, Decision } from '#approvals'
import { toActor, isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db, Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Call } from '#base/tool.ts'
import type { Entry } from '#ledger'
import { handoffAnswer, handoffContent, toHandoff, buildPacket } from './packet.ts'
import { listRecentActivity, handoffUrgency, handoffReasons } from './packet.ts'
import type { HandoffAnswer, HandoffMode } from './packet.ts'
import type { HandoffStore } from './store.ts'
import { plainWhy } from '../rules/mode-decision.ts'
import type { Rules } from '../rules/mode-decision.ts'
import type { Override } from '../trust-service.ts'
import type { GovernanceStore } from '../store.ts'
import { applyDecay } from '../rules/trust.ts'
import { isPendingLimitReached, maxPendingRequests, pendingLimitHint } from '../volume-cap.ts'

type Handoff = {
  readonly domain: string
  readonly mode: HandoffMode
  readonly reason: string
  readonly confidence: number
  readonly attempted: readonly unknown[]
  readonly context: unknown
  readonly proposal?: string | undefined
  readonly parent?: string | undefined
}

type Resolution = {
  readonly resolution: string
  readonly handBack: boolean
  readonly instructions?: string | undefined
  /** Decides the pending proposal of the handoff in the same transaction (H6). */
  readonly proposal?: Pick<Decision, 'verdict'> & { readonly override?: Override }
}

type Deps = {
  readonly db: Db
  readonly store: HandoffStore
  readonly trust: Pick<GovernanceStore, 'trust' | 'waiting'>
  readonly approvals: Approvals
  readonly policyVersion: () => string
  readonly rules: Rules
  readonly settings: Config['handoff']
  readonly now: Clock
}

/** A handoff is an approval that people resolve. It cannot be rejected and never expires (P7). */
export const handoffKind = (store: HandoffStore, now: Clock): ApprovalKind => ({
  kind: 'handoff',
  content: handoffContent,
  openedEntryType: 'handoff.created',
  decidedEntryType: 'handoff.resolved',
  check(_, decision) {
    if (decision.verdict === 'approve' && parseAnswer(decision)) return
    throw new CoworkError('answer_needed', 'A handoff cannot be approved or rejected.', {
      hint: 'Resolve it with cowork_resolve_handoff or in the console.',
    })
  },
  answer: parseAnswer,
  async onDecided(tx, { id }, decision) {
    const isBack = parseAnswer(decision)?.hand_back ?? false
    await store.recordAnswer(tx, id, isBack ? now() : null)
    return { hand_back: isBack }
  },
  async onClosedUndecided(tx, { id }) {
    await store.recordAnswer(tx, id, null)
  },
})

const parseAnswer = ({ more }: Decision) => handoffAnswer.optional().parse(more?.['answer'])

/** Answers in one reply; the agent gets more after it has acknowledged some. */
const maxListed = 100

export type Handoffs = ReturnType<typeof createHandoffs>

/** Work that an agent gives to a person and gets back with instructions (H1–H6). */
export function createHandoffs(deps: Deps) {
  const { db, store, approvals, rules, settings, now } = deps
  const timeoutMs = settings.timeout_seconds * 1000

  /** `lately` is the activity of the agent in the domain, newest first (H5). */
  async function open(
    tx: Tx,
    handoff: Handoff,
    call: Call,
    lately: readonly Entry[],
  ): Promise<Approval> {
    const { domain, mode, reason, confidence, attempted, context } = handoff
    const agent = call.caller.id
    const parent =
      handoff.parent === undefined
        ? undefined
        : (await findOwn(tx, handoff.parent, call.caller))?.row
    if (handoff.parent !== undefined && !parent) throw unknownHandoffError(handoff.parent)
    const proposal =
      handoff.proposal === undefined
        ? undefined
        : await findOwnProposal(tx, handoff.proposal, call.caller)
    if (await isPendingLimitReached(deps.trust, tx, 'handoff', call.caller))
      throw new CoworkError(
        'too_many_requests',
        `${maxPendingRequests} of your handoffs are pending already.`,
        { hint: pendingLimitHint },
      )
    const trust = await deps.trust.trust(tx, agent, domain)
    const id = newId()
    const thread = parent?.thread ?? id
    const target = proposal?.id ?? ''
    const change = { attempted_actions: attempted, context }
    await store.add(tx, {
      id,
      thread,
      agent,
      domain,
      remind_at: now() + timeoutMs,
      reminded: 0,
      back_at: null,
    })
    return approvals.open(tx, call.caller, call.id, {
      id,
      kind: 'handoff',
      domain,
      action: mode,
      target,
      summary: toSingleLine(reason),
      mode: handoffUrgency(mode),
      risk: proposal?.risk ?? 'normal',
      digest: computeDigest({ agent, action: mode, target, content: change }),
      policyVersion: deps.policyVersion(),
      trustLevel: trust ? applyDecay(rules.trust, trust, now()).score : null,
      confidence,
      group: thread,
      content: {
        change,
        reasoning: reason,
        why: plainWhy(rules.mode, handoffReasons[mode]),
        extra: {
          handoff_mode: mode,
          ...(parent && { parent_handoff_id: parent.id }),
          ...(proposal && { proposal_id: proposal.id }),
          packet: { recent: listRecentActivity(lately) },
        },
      },
    })
  }

  async function resolve(tx: Tx, id: string, input: Resolution, call: Call) {
    const approval = await approvals.find(tx, id)
    if (approval?.kind !== 'handoff') throw unknownHandoffError(id)
    const { resolution, handBack, instructions, proposal } = input
    const named = toHandoff(approval).proposal_id
    if (proposal && named === null)
      throw new CoworkError('invalid_input', 'This handoff has no proposal to decide.', {
        hint: 'Omit decide_proposal.',
      })
    const by = toActor(call.caller)
    const common = { by, channel: detectChannel(call.caller), reason: resolution }
    const answer: HandoffAnswer = {
      resolution,
      hand_back: handBack,
      instructions: instructions ?? null,
    }
    const decision: Decision = { ...common, verdict: 'approve', more: { answer } }
    const resolved = await approvals.decide(tx, id, decision, call)
    if (!proposal || named === null) return { approval: resolved.approval, proposal: undefined }
    const { verdict, override } = proposal
    const second = { ...common, verdict, ...(override && { more: { override } }) }
    const decided = await approvals.decide(tx, named, second, call).catch((error: unknown) => {
      throw error instanceof CoworkError ? proposalError(error, named) : error
    })
    return { approval: resolved.approval, proposal: decided }
  }

  /** Returns true when the agent has acknowledged the handoff, now or before; false for a handoff of another agent. */
  async function acknowledge(tx: Tx, id: string, call: Call, proposal?: string): Promise<boolean> {
    const own = await findOwn(tx, id, call.caller)
    if (!own) return false
    const { row, approval } = own
    if (!(await store.markAcknowledged(tx, id))) return approval.status === 'consumed'
    await approvals.consume(tx, id)
    tx.append({
      type: 'handoff.acknowledged',
      actor: toActor(call.caller),
      domain: row.domain,
      ids: { handoff: id, approval: id, call: call.id, ...(proposal && { proposal }) },
      data: { requester: row.agent },
    })
    return true
  }

  /** A proposal that follows from a handoff acknowledges it: the agent has read the answer (H3). */
  async function acknowledgeByProposal(
    tx: Tx,
    id: string,
    proposal: string,
    call: Call,
  ): Promise<void> {
    if (!(await findOwn(tx, id, call.caller))) throw unknownHandoffError(id)
    await acknowledge(tx, id, call, proposal)
  }

  async function findOwn(tx: Tx, id: string, caller: Caller) {
    const row = await store.find(tx, id)
    const approval = await approvals.find(tx, id)
    const isTheirs = row && approval && isOwnRecord(caller, row.agent, approval.createdAt)
    return isTheirs ? { row, approval } : undefined
  }

  async function findOwnProposal(tx: Tx, id: string, caller: Caller): Promise<Approval> {
    const found = await approvals.find(tx, id)
    if (found?.kind === 'proposal' && isOwnRecord(caller, found.requester, found.createdAt))
      return found
    throw new CoworkError(
      'not_found',
      `Not found: your proposal ${JSON.stringify(id.slice(0, 100))}.`,
      {
        hint: 'Use the proposal_id from cowork_propose, or omit it.',
      },
    )
  }

  /** Returns each answer until it is acknowledged, so that a crash loses nothing (H3). */
  async function listHandedBack(
    reader: Reader,
    query: { agent: string; since?: number | undefined; domain: string | undefined },
  ) {
    const { ids, count } = await store.handedBack(reader, query, maxListed)
    const items = []
    for (const id of ids) {
      const approval = await approvals.find(reader, id)
      if (!approval) continue
      const { answer, reason } = toHandoff(approval)
      items.push({
        handoff_id: id,
        domain: approval.domain,
        resolution: answer?.resolution ?? '',
        resolved_at: formatRfc3339(approval.decidedAt ?? 0),
        hand_back: answer?.hand_back ?? false,
        instructions: answer?.instructions ?? null,
        original_reason: reason,
      })
    }
    return { items, count }
  }

  const isOverdue = ({ status, createdAt }: Approval) =>
    status === 'pending' && now() - createdAt >= timeoutMs

  /** Lists pending handoffs, oldest first (G4). */
  async function listPending(
    caller: Caller,
    {
      agent,
      domain,
      limit,
    }: { agent?: string | undefined; domain?: string | undefined; limit: number },
  ) {
    const found = await approvals.list({
      statuses: ['pending'],
      kind: 'handoff',
      ...requesterFilter(caller, agent),
      domain,
      limit: 1000,
    })
    return found
      .slice(-limit)
      .toReversed()
      .map((approval) => ({
        handoff_id: approval.id,
        agent_id: approval.requester,
        domain: approval.domain,
        reason: toHandoff(approval).reason,
        handoff_mode: toHandoff(approval).handoff_mode,
        context_packet: buildPacket(approval, settings),
        created_at: formatRfc3339(approval.createdAt),
        overdue: isOverdue(approval),
      }))
  }

  /** Returns the inbox details of a handoff, with its whole thread (H6). */
  async function detail(approval: Approval) {
    const { answer: _, ...handoff } = toHandoff(approval)
    const row = await store.find(db, approval.id)
    const ids = row ? await store.thread(db, row.thread, maxListed) : [approval.id]
    const found = await approvals.list({ ids, limit: ids.length })
    const thread = found.toSorted((a, b) => a.createdAt - b.createdAt)
    return {
      ...handoff,
      overdue: isOverdue(approval),
      reminded: row?.reminded ?? 0,
      thread: thread.map((item) => {
        const { reason, answer } = toHandoff(item)
        return {
          handoff_id: item.id,
          reason,
          at: formatRfc3339(item.createdAt),
          ...(answer && {
            resolution: answer.resolution,
            hand_back: answer.hand_back,
            ...(answer.instructions !== null && { instructions: answer.instructions }),
          }),
        }
      }),
    }
  }

  return {
    open,
    resolve,
    acknowledge,
    acknowledgeByProposal,
    listHandedBack,
    listPending,
    detail,
    buildPacket: (approval: Approval) => buildPacket(approval, settings),
  }
}

/** Both are decided or neither, so the error names the proposal. */
const proposalError = ({ code, message, hint, details }: CoworkError, id: string) =>
  new CoworkError(code, `Proposal ${id}: ${message}`, {
    details,
    hint:
      code === 'already_decided'
        ? 'Resolve the handoff without decide_proposal.'
        : (hint ?? 'Decide the proposal separately.'),
  })

const unknownHandoffError = (id: string) =>
  new CoworkError('not_found', `Not found: handoff ${JSON.stringify(id.slice(0, 100))}.`, {
    hint: 'Use the handoff_id from cowork_handoff; cowork_status lists pending handoffs.',
  })
