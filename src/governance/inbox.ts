import { requesterFilter, isVisibleTo, spotCheck } from '#approvals'
import type {
  Approval,
  ApprovalBrief,
  ApprovalKinds,
  Approvals,
  Status,
  ApprovalReason,
} from '#approvals'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { isRecord } from '#base/json.ts'
import type { EntryLookup } from '#ledger'
import { checkContent } from './answers.ts'
import { evidenceNote } from './gate-proof.ts'
import type { GateProof } from './gate-proof.ts'
import type { Handoffs } from './handoffs/handoffs.ts'
import type { ReadReceipts } from './read-receipts.ts'
import type { PolicyConflicts } from './edit-validator.ts'
import { currentReasonText } from './rules/mode-decision.ts'
import type { Rules } from './rules/mode-decision.ts'
import { resolveMode } from './rules/mode.ts'
import { toTrustKey } from './kinds.ts'
import { pointsFor } from './trust-service.ts'
import type { GovernanceStore } from './store.ts'
import type { Undo } from './autonomous-calls.ts'
import { computeEvidenceLevel } from './rules/standing.ts'
import { formatConsequences } from './rules/standing-text.ts'
import {
  applyApproval,
  closedGate,
  creditWeight,
  applyDecay,
  isAgentFault,
  initialTrust,
  applyOverride,
  overrideTypes,
  severities,
} from './rules/trust.ts'
import type { Trust } from './rules/trust.ts'

type Deps = {
  readonly db: Db
  readonly store: GovernanceStore
  readonly approvals: Approvals
  readonly kinds: Pick<ApprovalKinds, 'find'>
  readonly handoffs: Pick<Handoffs, 'detail'>
  readonly conflicts: Pick<PolicyConflicts, 'find'>
  readonly looks: ReadReceipts
  readonly lookup: Pick<EntryLookup, 'call' | 'proposal'>
  readonly gateProof: GateProof
  readonly undo?: Pick<Undo, 'find'> | undefined
  readonly rules: Rules
  readonly now: Clock
}

export type InboxQuery = {
  readonly status: 'pending' | 'decided' | 'all'
  readonly kind?: string | undefined
  readonly agent?: string | undefined
  readonly domain?: string | undefined
  readonly q?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly after?: string | undefined
  readonly limit: number
}

const statusFilters: Record<InboxQuery['status'], readonly Status[] | undefined> = {
  pending: ['pending'],
  decided: ['approved', 'rejected', 'expired', 'withdrawn', 'consumed'],
  all: undefined,
}
const monthMs = 30 * 24 * 60 * 60 * 1000
const maxHistory = 10

export type Inbox = ReturnType<typeof createInbox>

/** The inbox as people read it; an agent sees its own requests (C2, L10). */
export function createInbox(deps: Deps) {
  const { db, store, approvals, kinds, handoffs, conflicts, looks, lookup, gateProof, rules, now } =
    deps

  /** The current trust: pending requests show one value everywhere. */
  async function trustNow({ requester, domain }: ApprovalBrief) {
    const at = now()
    return applyDecay(
      rules.trust,
      (await store.trust(db, requester, domain)) ?? initialTrust(rules.trust, at),
      at,
    )
  }

  const levelNow = async (approval: ApprovalBrief): Promise<number | null> =>
    approval.status === 'pending' && approval.trustLevel !== null
      ? (await trustNow(approval)).score
      : approval.trustLevel

  async function findConflict(approval: ApprovalBrief) {
    const conflict = await conflicts.find(db, approval, () => approvals.get(approval.id))
    return conflict && { policy_conflict: conflict }
  }

  async function toItem(approval: ApprovalBrief) {
    const { deferred } = approval
    const given = approval.requiredApprovals > 1 ? await approvals.votes(approval.id) : []
    const { id, kind, status } = approval
    return {
      id,
      kind,
      status,
      ...toRequest(approval),
      trust_level: await levelNow(approval),
      confidence: approval.confidence,
      created_at: formatRfc3339(approval.createdAt),
      expires_at: approval.expiresAt === null ? null : formatRfc3339(approval.expiresAt),
      approvers: { needed: approval.requiredApprovals, given },
      group: approval.group,
      ...(deferred && {
        held: {
          decision: deferred.decision.verdict,
          by: deferred.decision.by.id,
          until: formatRfc3339(deferred.until),
        },
      }),
      ...(await findConflict(approval)),
      ...(approval.decidedAt !== null && { decided_at: formatRfc3339(approval.decidedAt) }),
      ...(approval.decidedBy !== null && { decided_by: approval.decidedBy }),
      ...(approval.channel !== null && { channel: approval.channel }),
      ...(approval.reason !== null && { reason: approval.reason }),
      ...(approval.channel === 'trust' && { auto: true as const }),
      ...(await findLookBack(approval)),
    }
  }

  async function findLookBack({ kind, id }: ApprovalBrief): Promise<{ look_back?: string }> {
    const check = kind === spotCheck ? await store.findCheckByApproval(db, id) : undefined
    return check?.look_back ? { look_back: check.look_back } : {}
  }

  /** Returns the details of a check: the action, its ledger entries and the effect of each answer (T14). */
  async function buildCheck(approval: Approval, trust: Trust, at: number) {
    const { call, proposal } = checkContent.parse(approval.content.extra)
    const entries =
      proposal !== undefined
        ? await lookup.proposal(db, proposal)
        : call !== undefined
          ? await lookup.call(db, call)
          : []
    const done = entries.find(({ type }) => type === 'call.done')
    const undo = done && (await deps.undo?.find(db, done))
    const { look_back } = await findLookBack(approval)
    const standing = applyDecay(rules.trust, trust, at).standings[approval.risk]
    const isLookBack = look_back !== undefined
    return {
      ...(call !== undefined && { call }),
      ...(proposal !== undefined && { proposal }),
      record: entries.map((entry) => ({
        seq: entry.seq,
        at: formatRfc3339(entry.at),
        type: entry.type,
        ...(entry.outcome !== undefined && { outcome: entry.outcome }),
      })),
      ...(undo && { undo }),
      consequences: formatConsequences(rules.trust.standing, standing, { isLookBack, weight: 1 }),
      faults: overrideTypes.filter(isAgentFault).flatMap((type) =>
        severities.map((severity) => {
          const weight = creditWeight({ type, severity })
          const { wrong } = formatConsequences(rules.trust.standing, standing, {
            isLookBack,
            weight,
          })
          return { type, severity, text: wrong }
        }),
      ),
    }
  }

  return {
    /** Lists pending requests in brief, the oldest and most urgent first (G4). */
    async listPending(
      caller: Caller,
      asked: { agent?: string | undefined; domain?: string | undefined; limit: number },
    ) {
      const found = await approvals.listBriefs({
        statuses: ['pending'],
        ...requesterFilter(caller, asked.agent),
        domain: asked.domain,
        limit: 1000,
      })
      // `handoffs.listPending` lists handoffs with their details.
      const others = found.filter(({ kind }) => kind !== 'handoff')
      const items = others.slice(-asked.limit).toReversed()
      return {
        count: found.length,
        items: items.map((approval) => ({
          id: approval.id,
          kind: approval.kind,
          ...toRequest(approval),
          created_at: formatRfc3339(approval.createdAt),
          expires_at: approval.expiresAt === null ? null : formatRfc3339(approval.expiresAt),
        })),
      }
    },

    async list(caller: Caller, query: InboxQuery) {
      const { status, kind, agent, domain, q, ids, after, limit } = query
      const found = await approvals.listBriefs({
        statuses: ids ? undefined : statusFilters[status],
        kind,
        ...requesterFilter(caller, agent),
        domain,
        text: q,
        ids,
        before: after,
        limit: limit + 1,
      })
      const page = found.slice(0, limit)
      return {
        items: await Promise.all(page.map(toItem)),
        next: found.length > limit ? (page.at(-1)?.id ?? null) : null,
        counts: caller.kind === 'agent' ? {} : await approvals.countPending(),
      }
    },

    async detail(caller: Caller, id: string) {
      const approval = await approvals.get(id)
      if (!approval || !isVisibleTo(caller, approval)) return undefined
      if (caller.kind === 'human') looks.note(caller.id, id)
      const pair = toTrustKey(approval)
      const at = now()
      const [trust, points, past] = await Promise.all([
        store.trust(db, pair.agent, pair.domain),
        store.points(db, pair.agent, pair.domain, at - monthMs),
        approvals.listDecidedOnTarget(approval, maxHistory),
      ])
      const before = past.filter((one) => isVisibleTo(caller, one))
      const { content } = approval
      return {
        ...(await toItem(approval)),
        why: {
          ...reasonFor(caller, await currentReason(approval)),
          policy_version: approval.policyVersion,
        },
        change: content.change,
        before: lastApproved(before, content.change),
        ...(approval.approved !== undefined && {
          approved_change: approval.approved,
          collaborative: true,
        }),
        ...(approval.kind === spotCheck && {
          check: await buildCheck(approval, trust ?? initialTrust(rules.trust, at), at),
        }),
        ...(approval.kind === 'handoff' && { handoff: await handoffs.detail(approval) }),
        // The state of the disk is for people only: an agent must not learn it from a request.
        ...(approval.kind === 'grant' && caller.kind !== 'agent' && { grant: content.extra }),
        reasoning: content.reasoning ?? null,
        field: content.field ?? null,
        digest: approval.digest,
        session: approval.session,
        client: content.client ?? null,
        effect: previewEffect(approval, trust ?? initialTrust(rules.trust, at), at),
        history: await Promise.all(
          before.map(async (one) => ({
            id: one.id,
            at: formatRfc3339(one.decidedAt ?? one.createdAt),
            status: one.status,
            decided_by: one.decidedBy,
            summary: one.summary,
            reason: one.reason,
            trust_change: (await store.overrideOf(db, one.id))?.change ?? null,
          })),
        ),
        trust_points: pointsFor(caller, points).map((point) => ({
          at: formatRfc3339(point.at),
          score: point.score,
          cause: point.cause,
        })),
      }
    },
  }

  /** Returns why a person decides, with the current trust; after the decision, as recorded. */
  async function currentReason(approval: Approval) {
    const { why } = approval.content
    if (approval.status !== 'pending' || approval.trustLevel === null)
      return { ...why, trust_level: approval.trustLevel }
    const trust = await trustNow(approval)
    const proof = await gateProof(db, toTrustKey(approval), approval.risk, approval.action)
    const closed = closedGate(rules.trust, trust, approval.risk, proof)
    const { gated } = resolveMode(rules.mode, {
      score: trust.score,
      gateOpen: closed === undefined,
      highRisk: why.high_risk_fields.length > 0,
    })
    const text = currentReasonText(why, { score: trust.score, closed, gated })
    const level = computeEvidenceLevel(closed?.toGo ?? 0)
    return { ...why, text, evidence_level: level, gated, trust_level: trust.score }
  }

  /** Previews the effect of each decision on trust (C2). */
  function previewEffect(approval: Approval, trust: Trust, at: number) {
    const moves = kinds.find(approval.kind)?.movesTrust
    if (!moves) return { approve: null, overrides: [] }
    const from = applyDecay(rules.trust, trust, at).score
    const to = applyApproval(rules.trust, trust, approval.risk, at).to
    return {
      approve: moves === 'override' ? null : { from, to },
      overrides: overrideTypes.flatMap((type) =>
        severities.map((severity) => ({
          type,
          severity,
          to: applyOverride(rules.trust, trust, approval.risk, { type, severity }, at).to,
        })),
      ),
    }
  }
}

function toRequest(approval: ApprovalBrief) {
  const { requester, domain, action, target, summary, mode, risk } = approval
  return { requester, domain, action, target, summary, mode, risk }
}

/** The reason for a closed gate is for people: an agent would learn when its checks are read (T14). */
function reasonFor<W extends ApprovalReason>({ kind }: Caller, why: W): W {
  if (kind !== 'agent') return why
  const { closed_by: _, ...more } = why.more ?? {}
  const text = why.gated ? `A person decides first: ${evidenceNote}.` : why.text
  return { ...why, text, more }
}

/** Returns the values last approved on the same target, for the fields of the change. */
function lastApproved(history: readonly Approval[], change: unknown): Record<string, unknown> {
  const before: Record<string, unknown> = {}
  if (!isRecord(change)) return before
  for (const past of history) {
    if (past.status !== 'approved' && past.status !== 'consumed') continue
    const values = past.approved ?? past.content.change
    if (!isRecord(values)) continue
    for (const name of Object.keys(change))
      if (Object.hasOwn(values, name) && !Object.hasOwn(before, name)) before[name] = values[name]
  }
  return before
}
